// What could go: duplicates, what was never used, what ends soon, what is held back.
import { useState } from 'preact/hooks';
import { address, call } from '../../api/client.ts';
import type { Held, Job, Page } from '../../api/types.ts';
import { t, word } from '../../i18n/index.ts';
import { said } from '../../i18n/said.ts';
import { Ago, Button, Chip, Empty, Failed, Head, Segments, tryTo } from '../../parts/basics.tsx';
import { Confirm } from '../../parts/layers.tsx';
import { Numbers } from '../../parts/numbers.tsx';
import { toast } from '../../parts/toasts.tsx';
import { chosen, refine } from '../../state/route.ts';
import { eachSpace, may, named } from '../../state/session.ts';
import { useLoaded } from '../../state/use.ts';
import { Duplicates } from './duplicates.tsx';
import { Expiring, Unused } from './few.tsx';

const tabs = ['duplicates', 'unused', 'expiring', 'held', 'compact'] as const;

export function Cleanup() {
  const tab = chosen('tab', tabs);
  return (
    <>
      <Head title={t('page cleanup')} about={t('cleanup about')} />
      <div class="row"><Segments label={t('page cleanup')} value={tab} onChange={(x) => refine({ tab: x === 'duplicates' ? undefined : x })} options={tabs.map((x) => [x, t(`tab ${x}`)])} /></div>
      {tab === 'duplicates' && <Duplicates />}
      {tab === 'unused' && <Unused />}
      {tab === 'expiring' && <Expiring />}
      {tab === 'held' && <HeldBack />}
      {tab === 'compact' && <Compact />}
    </>
  );
}

function HeldBack() {
  const [state, setState] = useState('held');
  const { data, error, reload } = useLoaded(async () => (await Promise.all(eachSpace().map((one) => call<{ held: Held[] }>('GET', address('/v1/review', { state, space: one, limit: 500 }))))).flatMap((r) => r.held), [state], /^review\./);
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
        {data.value && !data.value.length && <Empty title={t('nothing held')} />}
        {data.value?.map((h) => (
          <div key={h.id} class="stack close">
            <pre class="block wrap" dir="auto">{h.text}</pre>
            <div class="row">
              <Chip>{word('kind', h.kind)}</Chip><span class="tiny quiet grow">{said(h.why)}</span>
              {may('write') && <>{state === 'held' ? <Button small icon="check" onClick={() => decide(h, 'allow')}>{t('allow')}</Button> : <Button small onClick={() => decide(h, 'hold')}>{t('hold')}</Button>}
              <Button small look="danger" icon="trash" onClick={() => decide(h, 'forget')}>{t('forget')}</Button></>}
            </div>
          </div>
        ))}
      </div>
    </section>
  );
}

function Compact() {
  const { data, reload } = useLoaded(() => call<Page<Job>>('GET', '/v1/jobs'), [], /^job\./), [asks, setAsks] = useState(false);
  const run = (isDry: boolean) => tryTo(async () => {
    await call('POST', address('/v1/jobs', { space: named() }), { kind: 'compact', dry_run: isDry });
    reload();
  });
  const last = data.value?.items.find((j) => j.kind === 'compact');
  return (
    <section class="card pad stack" aria-label={t('compact')}>
      <p>{t('compact about')}</p>
      {may('write') && <div class="row"><Button onClick={() => run(true)}>{t('dry run')}</Button><Button look="main" onClick={() => setAsks(true)}>{t('compact')}</Button></div>}
      {last && (
        <div class="stack close" role="status">
          <div class="row"><Chip look={last.state === 'done' ? 'good' : ''}>{word('state', last.state)}</Chip>{last.dry_run && <Chip>{t('dry run')}</Chip>}<span class="small quiet"><Ago at={last.created} /></span></div>
          {last.error && <p class="small wrap">{said(last.error)}</p>}
          <Numbers of={last.result} />
        </div>
      )}
      {asks && <Confirm title={t('compact')} text={t('compact ask')} action={t('compact')} isHarmless close={() => setAsks(false)} run={() => run(false)} />}
    </section>
  );
}
