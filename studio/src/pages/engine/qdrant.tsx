// A second place for vectors: whether it answers, what it finds, and what is too many there.
import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { call } from '../../api/client.ts';
import { number, t } from '../../i18n/index.ts';
import { found } from '../../i18n/said.ts';
import { Button, Chip, Score, Search, tryTo } from '../../parts/basics.tsx';
import { Confirm } from '../../parts/layers.tsx';
import { settings } from '../../state/session.ts';

interface State { qdrant: { enabled: boolean; available: boolean; latency_ms: number | null; waiting: number; error: string; note: string } }
interface Hit { id: string; score: number; payload: Record<string, unknown> | null }

async function test(): Promise<ComponentChildren> {
  const { qdrant: q } = await call<State>('GET', '/v1/engine');
  if (!q.enabled) return <><Chip>{t('off')}</Chip> {t('qdrant off')}</>;
  if (!q.available) return <><Chip look="bad">{t('failing')}</Chip> {found(q.error)}</>;
  return <><Chip look="good">{t('ready')}</Chip> {t('qdrant answers', { ms: number(Math.round(q.latency_ms ?? 0)) })} {q.waiting > 0 && t('n waiting', { n: q.waiting })} {found(q.note)}</>;
}

async function search(query: string): Promise<ComponentChildren> {
  const { results } = await call<{ results: Hit[] }>('POST', '/v1/engine/qdrant/search', { query, limit: 5 });
  if (!results.length) return t('nothing matches');
  return <ul class="stack close">{results.map((h) => <li key={h.id} class="row tight"><Score value={h.score} /><span class="wrap">{String(h.payload?.content ?? h.id)}</span></li>)}</ul>;
}

async function cleanUp(): Promise<ComponentChildren> {
  return t('qdrant erased', { n: (await call<{ erased: number }>('POST', '/v1/engine/qdrant/cleanup')).erased });
}

export function Qdrant() {
  const [query, setQuery] = useState(''), [answer, setAnswer] = useState<ComponentChildren>(null), [asks, setAsks] = useState(false);
  const ask = (what: () => Promise<ComponentChildren>) => tryTo(async () => setAnswer(await what()));
  const days = settings.value.find((s) => s.name === 'retention_days')?.value;
  return (
    <section class="card" aria-label="Qdrant">
      <header><h2>Qdrant</h2><span class="small quiet">{t('qdrant about')}</span></header>
      <div class="stack pad">
        <div class="row">
          <Button small onClick={() => ask(test)}>{t('test')}</Button>
          <Button small look="danger" onClick={() => setAsks(true)}>{t('clean up there')}</Button>
          <Search value={query} onInput={setQuery} label={t('search there')} onEnter={() => void ask(() => search(query))} />
        </div>
        {answer !== null && <div class="small wrap" role="status">{answer}</div>}
      </div>
      {asks && <Confirm title={t('clean up there')} text={days ? t('qdrant ask', { n: Number(days) }) : t('qdrant ask default')} action={t('clean up there')} close={() => setAsks(false)} run={() => ask(cleanUp)} />}
    </section>
  );
}
