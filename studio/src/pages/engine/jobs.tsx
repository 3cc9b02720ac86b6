// Long work: begin, watch, cancel.
import { useSignal } from '@preact/signals';
import { call } from '../../api/client.ts';
import type { Job, Page } from '../../api/types.ts';
import { t, took, word } from '../../i18n/index.ts';
import { Ago, Button, Check, Chip, Empty, Failed, Progress, tryTo, type ChipLook } from '../../parts/basics.tsx';
import { isOperator } from '../../state/session.ts';
import { useLoaded } from '../../state/use.ts';

const kinds: { kind: string; isDry: boolean; isOperators: boolean }[] = [
  { kind: 'consolidate', isDry: true, isOperators: false }, { kind: 'compact', isDry: true, isOperators: false }, { kind: 'distil', isDry: false, isOperators: false },
  { kind: 'reindex', isDry: false, isOperators: true }, { kind: 'prune', isDry: false, isOperators: true },
];
const looks: Record<string, ChipLook> = { running: 'accent', queued: '', done: 'good', failed: 'bad', cancelled: 'warn' };

export function Jobs() {
  const isDry = useSignal(true);
  const { data, error, reload } = useLoaded(() => call<Page<Job>>('GET', '/v1/jobs'), [], /^job\./);
  const begin = (kind: string, dry: boolean) => tryTo(async () => {
    await call('POST', '/v1/jobs', { kind, ...(dry ? { dry_run: isDry.value } : {}) });
    reload();
  });
  const jobs = data.value?.items ?? [];
  return (
    <section class="card" aria-label={t('jobs')}>
      <header><h2>{t('jobs')}</h2><Check checked={isDry.value} onChange={(on) => (isDry.value = on)}>{t('dry run')}</Check></header>
      <div class="stack pad">
        <div class="columns">
          {kinds.filter((k) => !k.isOperators || isOperator.value).map((k) => (
            <div key={k.kind} class="row tight">
              <Button small onClick={() => begin(k.kind, k.isDry)}>{word('job', k.kind)}</Button>
              <span class="tiny quiet">{t(`job about ${k.kind}` as 'job about prune')}</span>
            </div>
          ))}
        </div>
        {error.value && <Failed error={error.value} retry={reload} />}
        {data.value && !jobs.length && <Empty title={t('no jobs')} />}
        <ul class="stack">
          {jobs.map((j) => (
            <li key={j.id} class="stack close">
              <div class="row">
                <Chip look={looks[j.state] ?? ''}>{word('state', j.state)}</Chip>
                <strong>{word('job', j.kind)}</strong>
                {j.dry_run && <Chip>{t('dry run')}</Chip>}
                <span class="small quiet"><Ago at={j.created} />{j.ended && j.took_ms !== null ? ` · ${took(j.took_ms * 1000)}` : ''}</span>
                <span class="grow" />
                {(j.state === 'running' || j.state === 'queued') && <Button small look="danger" onClick={() => tryTo(() => call('DELETE', `/v1/jobs/${j.id}`))}>{t('cancel')}</Button>}
                {(j.state === 'failed' || j.state === 'cancelled') && <Button small icon="refresh" onClick={() => begin(j.kind, j.dry_run)}>{t('again')}</Button>}
              </div>
              {j.state === 'running' && <Progress done={j.done} total={j.total} label={word('job', j.kind)} />}
              {j.error && <p class="small wrap">{j.error}</p>}
              {j.result !== null && <Result result={j.result} />}
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

/** Numbers as they are named; lists of changes as text. */
function Result({ result }: { result: unknown }) {
  const flat: [string, string][] = [];
  const walk = (value: unknown, name: string) => {
    if (Array.isArray(value)) value.slice(0, 20).forEach((v, i) => walk(v, `${name} ${i + 1}`));
    else if (value && typeof value === 'object') for (const [k, v] of Object.entries(value)) walk(v, name ? `${name} ${k}` : k);
    else if (value !== null && value !== '') flat.push([name.replaceAll('_', ' '), String(value)]);
  };
  walk(result, '');
  return <dl class="pairs">{flat.slice(0, 60).map(([name, value]) => <><dt key={name}>{name}</dt><dd class="wrap number">{value}</dd></>)}</dl>;
}
