// A second place for vectors: whether it answers, what it finds, and what is too many there.
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { t } from '../../i18n/index.ts';
import { Button, Search, tryTo } from '../../parts/basics.tsx';

// Of the state of all parts, its own.
const shown = (answer: unknown) => (answer as { qdrant?: unknown }).qdrant ?? answer;

export function Qdrant() {
  const [query, setQuery] = useState(''), [answer, setAnswer] = useState<unknown>(null);
  const ask = (method: string, what: string, body?: unknown) => tryTo(async () => setAnswer(shown(await call(method, `/v1/engine${what}`, body))));
  return (
    <section class="card" aria-label="Qdrant">
      <header><h2>Qdrant</h2><span class="small quiet">{t('qdrant about')}</span></header>
      <div class="stack pad">
        <div class="row">
          <Button small onClick={() => ask('GET', '')}>{t('test')}</Button>
          <Button small look="danger" onClick={() => ask('POST', '/qdrant/cleanup')}>{t('page cleanup')}</Button>
          <Search value={query} onInput={setQuery} label={t('search there')} onEnter={() => void ask('POST', '/qdrant/search', { query, limit: 5 })} />
        </div>
        {answer !== null && <pre class="block wrap" role="status" tabIndex={0}>{JSON.stringify(answer, null, 1)}</pre>}
      </div>
    </section>
  );
}
