// What the server is made of, what it is doing, and how it is set.
import { call, Problem } from '../../api/client.ts';
import type { Finding } from '../../api/types.ts';
import { t } from '../../i18n/index.ts';
import { found } from '../../i18n/said.ts';
import { Button, Chip, Empty, Failed, Head, Segments, type ChipLook } from '../../parts/basics.tsx';
import { chosen, refine } from '../../state/route.ts';
import { isOperator, mayAsk } from '../../state/session.ts';
import { useLoaded } from '../../state/use.ts';
import { Jobs } from './jobs.tsx';
import { Log } from './log.tsx';
import { Qdrant } from './qdrant.tsx';
import { Settings } from './settings.tsx';

interface EngineParts {
  words: { available: boolean };
  embedding: { source: string | null; model: string | null; available: boolean; reason: string };
  vectors: { rows: number; waiting: number; available: boolean };
  qdrant: { enabled: boolean; available: boolean; error: string };
  rerank: { enabled: boolean; model: string | null; available: boolean; reason: string };
}

const tabs = ['work', 'log', 'settings', 'doctor'] as const;

export function Engine() {
  const tab = chosen('tab', tabs);
  const options: [string, string][] = [['work', t('tab work')], ['log', t('tab log')], ...(isOperator.value ? [['settings', t('tab settings')], ['doctor', t('tab doctor')]] as [string, string][] : [])];
  return (
    <>
      <Head title={t('page engine')} about={t('engine about')}>
        <Segments label={t('page engine')} value={tab} onChange={(x) => refine({ tab: x === 'work' ? undefined : x })} options={options} />
      </Head>
      {tab === 'work' && <>{mayAsk() && <Chips />}<Jobs />{isOperator.value && <Qdrant />}</>}
      {tab === 'log' && <Log />}
      {!isOperator.value && (tab === 'settings' || tab === 'doctor') && <Empty title={t('for operators')}><p>{t('for operators about')}</p></Empty>}
      {isOperator.value && tab === 'settings' && <Settings />}
      {isOperator.value && tab === 'doctor' && <Doctor />}
    </>
  );
}

function Part({ name, look, state, more }: { name: string; look: ChipLook; state: string; more?: string | null }) {
  return <div class="card figure stack close"><span class="label">{name}</span><div><Chip look={look}>{state}</Chip></div>{more && (more.length > 60 ? <details class="tiny quiet"><summary>{t('why')}</summary><span class="wrap">{more}</span></details> : <span class="tiny quiet wrap">{more}</span>)}</div>;
}

function Chips() {
  const { data, error } = useLoaded(() => call<EngineParts>('GET', '/v1/engine'), [], /^(settings|job)\./);
  const s = data.value;
  if (error.value) return error.value.status === 403 || error.value.status === 401 ? null : <Failed error={error.value} />;
  if (!s) return null;
  const on = (ok: boolean) => (ok ? t('ready') : t('off'));
  return (
    <div class="figures">
      <Part name={t('words index')} look={s.words.available ? 'good' : 'bad'} state={s.words.available ? t('ready') : t('failing')} more="SQLite FTS5" />
      <Part name={t('embedding')} look={s.embedding.available ? 'good' : ''} state={s.embedding.model ?? on(s.embedding.available)} more={s.embedding.available ? s.embedding.source : found(s.embedding.reason)} />
      <Part name={t('vectors')} look={s.vectors.available ? 'good' : ''} state={t('n vectors', { n: s.vectors.rows })} more={s.vectors.waiting ? t('n waiting', { n: s.vectors.waiting }) : null} />
      <Part name="Qdrant" look={!s.qdrant.enabled ? '' : s.qdrant.available ? 'good' : 'bad'} state={s.qdrant.enabled ? (s.qdrant.available ? t('ready') : t('failing')) : t('off')} more={found(s.qdrant.error)} />
      <Part name={t('rerank')} look={s.rerank.available ? 'good' : ''} state={s.rerank.model ?? on(s.rerank.available)} more={s.rerank.enabled ? found(s.rerank.reason) : null} />
    </div>
  );
}

function Doctor() {
  const { data, error, isLoading, reload } = useLoaded(() => call<{ ok: boolean; findings: Finding[] }>('GET', '/v1/doctor'), []);
  const look: Record<Finding['level'], ChipLook> = { ok: 'good', warn: 'warn', bad: 'bad' };
  return (
    <section class="card" aria-label={t('tab doctor')}>
      <header><h2>{t('tab doctor')}</h2><Button small icon="refresh" disabled={isLoading.value} onClick={reload}>{t('check again')}</Button></header>
      <div class="stack pad">
        {isLoading.value && <p class="quiet">{t('checking')}</p>}
        {error.value && <Failed error={error.value as Problem} />}
        <ul class="stack">
          {data.value?.findings.map((f) => (
            <li key={f.what + f.detail} class="row"><Chip look={look[f.level]}>{t(`level ${f.level}`)}</Chip><span class="grow"><strong>{found(f.what)}</strong> <span class="wrap">{found(f.detail)}</span>{f.advice && <span class="small quiet wrap"> {found(f.advice)}</span>}</span></li>
          ))}
        </ul>
      </div>
    </section>
  );
}
