// What could go: duplicates, what was never used, what ends soon, what is held back.
import { useState } from 'preact/hooks';
import { address, call, get, space } from '../../api/client.ts';
import type { Held, Job, Memory, MemoryPage, Page } from '../../api/types.ts';
import { day, t, word } from '../../i18n/index.ts';
import { Ago, Button, Chip, Empty, Failed, Head, Segments, tryTo } from '../../parts/basics.tsx';
import { toastUndo, toast } from '../../parts/toasts.tsx';
import { go, refine, route } from '../../state/route.ts';
import { useLoaded } from '../../state/use.ts';
import { forgetOne } from '../memories/bulk.tsx';
import { Duplicates } from './duplicates.tsx';

const tabs = ['duplicates', 'unused', 'expiring', 'held', 'compact'] as const;

export function Cleanup() {
  const tab = route.value.query.tab ?? 'duplicates';
  return (
    <>
      <Head title={t('page cleanup')} about={t('cleanup about')} />
      <div class="row"><Segments label={t('page cleanup')} value={tab} onChange={(x) => refine({ tab: x === 'duplicates' ? undefined : x })} options={tabs.map((x) => [x, t(`tab ${x}`)])} /></div>
      {tab === 'duplicates' && <Duplicates />}
      {tab === 'unused' && <Few what={{ sort: 'uses', order: 'asc' }} keep={(m) => m.uses === 0} empty={t('no unused')} />}
      {tab === 'expiring' && <Few what={{ expiring: 30, sort: 'created' }} keep={() => true} empty={t('no expiring')} />}
      {tab === 'held' && <HeldBack />}
      {tab === 'compact' && <Compact />}
    </>
  );
}

function Few({ what, keep, empty }: { what: Record<string, string | number>; keep: (m: Memory) => boolean; empty: string }) {
  const { data, error, reload } = useLoaded(() => get<MemoryPage>('/v1/memories', { ...what, limit: 100 }), [JSON.stringify(what)], /^memory\./);
  const all = (data.value?.memories ?? []).filter(keep);
  const forgetAll = () => tryTo(async () => {
    const body = { ids: all.map((m) => m.id), action: 'delete', undo: true };
    const res = await call<{ changed: number; undo?: string }>('POST', address('/v1/memories/bulk', { space: space.value === '*' ? '' : space.value }), body);
    toastUndo(t('forgotten', { n: res.changed }), res.undo);
  });
  if (error.value) return <Failed error={error.value} retry={reload} />;
  if (data.value && !all.length) return <Empty title={empty} />;
  return (
    <section class="card" aria-label={t('memories')}>
      <header><span class="small quiet">{t('n memories', { n: all.length })}</span><Button small look="danger" icon="trash" disabled={!all.length} onClick={forgetAll}>{t('forget these')}</Button></header>
      <ul>
        {all.map((m) => (
          <li key={m.id} class="item plain-item">
            <button type="button" class="facet grow" onClick={() => go('memories', { id: m.id })}><span class="cut">{m.content}</span></button>
            <span class="tiny quiet">{m.expires ? `${t('expires')} ${day(m.expires)}` : <Ago at={m.created} />}</span>
            <Button small look="plain" icon="trash" label={t('forget')} onClick={() => void forgetOne(m)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function HeldBack() {
  const [state, setState] = useState('held');
  const { data, error, reload } = useLoaded(() => get<{ held: Held[]; total: number }>('/v1/review', { state, space: space.value === '*' ? '' : space.value }), [state], /^review\./);
  const decide = (h: Held, decision: string) => tryTo(async () => {
    await call('POST', address(`/v1/review/${encodeURIComponent(h.id)}`, { space: h.space ?? '' }), { decision });
    toast({ text: t(`decided ${decision}` as 'decided allow') });
    reload();
  });
  return (
    <section class="card" aria-label={t('tab held')}>
      <header><span class="small quiet grow">{t('held about')}</span><Segments label={t('filters')} value={state} onChange={setState} options={[['held', t('tab held')], ['allowed', t('allowed')]]} /></header>
      <div class="stack pad">
        {error.value && <Failed error={error.value} retry={reload} />}
        {data.value && !data.value.held.length && <Empty title={t('nothing held')} />}
        {data.value?.held.map((h) => (
          <div key={h.id} class="stack close">
            <pre class="block wrap">{h.text}</pre>
            <div class="row">
              <Chip>{word('kind', h.kind)}</Chip><span class="tiny quiet grow">{h.reason}</span>
              {state === 'held' ? <Button small icon="check" onClick={() => decide(h, 'allow')}>{t('allow')}</Button> : <Button small onClick={() => decide(h, 'hold')}>{t('hold')}</Button>}
              <Button small look="danger" icon="trash" onClick={() => decide(h, 'forget')}>{t('forget')}</Button>
            </div>
          </div>
        ))}
      </div>
    </section>
  );
}

function Compact() {
  const { data, reload } = useLoaded(() => call<Page<Job>>('GET', '/v1/jobs'), [], /^job\./);
  const run = (isDry: boolean) => tryTo(async () => {
    await call('POST', '/v1/jobs', { kind: 'compact', dry_run: isDry });
    reload();
  });
  const last = data.value?.items.find((j) => j.kind === 'compact');
  return (
    <section class="card pad stack" aria-label={t('compact')}>
      <p>{t('compact about')}</p>
      <div class="row"><Button onClick={() => run(true)}>{t('dry run')}</Button><Button look="main" onClick={() => run(false)}>{t('compact')}</Button></div>
      {last && <div class="row" role="status"><Chip look={last.state === 'done' ? 'good' : ''}>{word('state', last.state)}</Chip><span class="small mono wrap">{JSON.stringify(last.result ?? {})}</span></div>}
    </section>
  );
}
