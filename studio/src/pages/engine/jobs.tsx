// Long work: begin, watch, cancel.
import { useSignal } from '@preact/signals';
import { call } from '../../api/client.ts';
import type { Job, Page } from '../../api/types.ts';
import { t, took, word } from '../../i18n/index.ts';
import { said } from '../../i18n/said.ts';
import { Ago, Button, Check, Chip, Empty, Failed, Progress, tryTo, type ChipLook } from '../../parts/basics.tsx';
import { Numbers } from '../../parts/numbers.tsx';
import { isOperator, may } from '../../state/session.ts';
import { useLoaded } from '../../state/use.ts';
import { AskJob, isAsked } from './ask.tsx';

/** Those with a dry run have a tick for it; the others ask first. */
const kinds: { kind: string; isDry: boolean; isOperators: boolean }[] = [
  { kind: 'consolidate', isDry: true, isOperators: false }, { kind: 'compact', isDry: true, isOperators: false }, { kind: 'distil', isDry: false, isOperators: false },
  { kind: 'reindex', isDry: false, isOperators: true }, { kind: 'prune', isDry: false, isOperators: true },
];
const looks: Record<string, ChipLook> = { running: 'accent', queued: '', done: 'good', failed: 'bad', cancelled: 'warn' };

export function Jobs() {
  const dry = useSignal<Record<string, boolean>>({ consolidate: true, compact: true }), asked = useSignal<string | null>(null);
  const { data, error, reload } = useLoaded(() => call<Page<Job>>('GET', '/v1/jobs'), [], /^job\./);
  const begin = (kind: string, isDry?: boolean) => tryTo(async () => {
    await call('POST', '/v1/jobs', { kind, ...(isDry === undefined ? {} : { dry_run: isDry }) });
    reload();
  });
  const jobs = data.value?.items ?? [];
  return (
    <section class="card" aria-label={t('jobs')}>
      <header><h2>{t('jobs')}</h2></header>
      <div class="stack pad">
        <div class="columns">
          {may('write') && kinds.filter((k) => !k.isOperators || isOperator.value).map((k) => (
            <div key={k.kind} class="row tight">
              <Button small onClick={() => (k.isDry ? void begin(k.kind, dry.value[k.kind]!) : (asked.value = k.kind))}>{word('job', k.kind)}{k.isDry ? '' : '…'}</Button>
              <span class="tiny quiet grow">{t(`job about ${k.kind}` as 'job about prune')}</span>
              {k.isDry && <Check checked={dry.value[k.kind]!} onChange={(on) => (dry.value = { ...dry.value, [k.kind]: on })}>{t('dry run')}</Check>}
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
                {may('write') && (j.state === 'running' || j.state === 'queued') && <Button small look="danger" onClick={() => tryTo(() => call('DELETE', `/v1/jobs/${j.id}`))}>{t('cancel')}</Button>}
                {may('write') && (j.state === 'failed' || j.state === 'cancelled') && <Button small icon="refresh" onClick={() => (isAsked(j.kind) ? (asked.value = j.kind) : void begin(j.kind, j.dry_run))}>{t('again')}</Button>}
              </div>
              {j.state === 'running' && <Progress done={j.done} total={j.total} label={word('job', j.kind)} />}
              {j.error && <p class="small wrap">{said(j.error)}</p>}
              <Numbers of={j.result} />
            </li>
          ))}
        </ul>
      </div>
      {asked.value && <AskJob kind={asked.value} close={() => (asked.value = null)} run={((kind) => () => begin(kind))(asked.value)} />}
    </section>
  );
}
