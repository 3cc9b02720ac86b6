// A second place for vectors: whether it answers, what it finds, and what is too many there.
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { t } from '../../i18n/index.ts';
import { Button, Search, tryTo } from '../../parts/basics.tsx';

export function Qdrant() {
  const [query, setQuery] = useState(''), [answer, setAnswer] = useState<unknown>(null);
  const ask = (method: string, what: string, body?: unknown) => tryTo(async () => setAnswer(await call(method, `/api/settings/qdrant/${what}`, body)));
  return (
    <section class="card" aria-label="Qdrant">
      <header><h2>Qdrant</h2><span class="small quiet">{t('qdrant about')}</span></header>
      <div class="stack pad">
        <div class="row">
          <Button small onClick={() => ask('GET', 'health')}>{t('test')}</Button>
          <Button small look="danger" onClick={() => ask('POST', 'cleanup')}>{t('page cleanup')}</Button>
          <Search value={query} onInput={setQuery} label={t('search there')} onEnter={() => void ask('POST', 'search', { query, topK: 5 })} />
        </div>
        {answer !== null && <pre class="block wrap" role="status" tabIndex={0}>{JSON.stringify(answer, null, 1)}</pre>}
      </div>
    </section>
  );
}
