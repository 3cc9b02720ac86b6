// What was done in the background, and what it cost.
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { number, t, took, word } from '../../i18n/index.ts';
import { Ago, Chip, Empty, Failed, Select } from '../../parts/basics.tsx';
import { useLoaded } from '../../state/use.ts';

interface Row { space: string; kind: string; status: string; details: string; tokens_in: number; tokens_out: number; took_ms: number; created: string }
const kinds = ['', 'distil', 'consolidate', 'gate', 'rewrite', 'summary', 'profile', 'dedup', 'compact', 'reindex', 'prune'];

export function Log() {
  const [kind, setKind] = useState('');
  const { data, error, reload } = useLoaded(() => call<{ items: Row[] }>('GET', `/v1/log?limit=100${kind && `&kind=${kind}`}`), [kind], /^job\./);
  return (
    <section class="card" aria-label={t('tab log')}>
      <header><h2>{t('tab log')}</h2><div><Select label={t('filters')} value={kind} onChange={setKind} options={kinds.map((k) => [k, k ? word('job', k) : t('show all')])} /></div></header>
      {error.value && <Failed error={error.value} retry={reload} />}
      {data.value && !data.value.items.length && <Empty title={t('no log')} />}
      {data.value && data.value.items.length > 0 && (
        <div class="table-box">
          <table>
            <thead><tr><th scope="col">{t('when')}</th><th scope="col">{t('work')}</th><th scope="col">{t('outcome')}</th><th scope="col">{t('tokens')}</th><th scope="col">{t('took')}</th><th scope="col">{t('numbers')}</th></tr></thead>
            <tbody>
              {data.value.items.map((r, i) => (
                <tr key={i}>
                  <td class="small quiet"><Ago at={r.created} /></td><td>{word('job', r.kind)}{r.space && <span class="tiny quiet"> {r.space}</span>}</td>
                  <td><Chip look={r.status === 'failed' ? 'bad' : r.status === 'done' || r.status === 'success' ? 'good' : ''}>{r.status}</Chip></td>
                  <td class="number">{number(r.tokens_in + r.tokens_out)}</td><td class="number">{took(r.took_ms * 1000)}</td><td class="tiny quiet wrap">{r.details.replace(/[{}"]/g, '').replaceAll(',', ', ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
