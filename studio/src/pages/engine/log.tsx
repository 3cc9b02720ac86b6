// What was done in the background, and what it cost.
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { number, t, took, word } from '../../i18n/index.ts';
import { Ago, Chip, Empty, Failed, Select } from '../../parts/basics.tsx';
import { useLoaded } from '../../state/use.ts';

interface Row { agent_id: string; task_type: string; status: string; details: string; model: string | null; input_tokens: number; output_tokens: number; duration_ms: number; created_at: string }
const kinds = ['', 'distil', 'consolidate', 'gate', 'rewrite', 'summary', 'profile', 'dedup', 'compact', 'reindex', 'prune'];

export function Log() {
  const [kind, setKind] = useState('');
  const { data, error, reload } = useLoaded(() => call<{ log: Row[] }>('GET', `/memory/log?limit=100${kind && `&task_type=${kind}`}`), [kind], /^job\./);
  return (
    <section class="card" aria-label={t('tab log')}>
      <header><h2>{t('tab log')}</h2><div><Select label={t('filters')} value={kind} onChange={setKind} options={kinds.map((k) => [k, k ? word('job', k) : t('show all')])} /></div></header>
      {error.value && <Failed error={error.value} retry={reload} />}
      {data.value && !data.value.log.length && <Empty title={t('no log')} />}
      {data.value && data.value.log.length > 0 && (
        <div class="table-box">
          <table>
            <thead><tr><th scope="col">{t('when')}</th><th scope="col">{t('work')}</th><th scope="col">{t('outcome')}</th><th scope="col">{t('tokens')}</th><th scope="col">{t('took')}</th><th scope="col">{t('numbers')}</th></tr></thead>
            <tbody>
              {data.value.log.map((r, i) => (
                <tr key={i}>
                  <td class="small quiet"><Ago at={r.created_at} /></td><td>{word('job', r.task_type)}{r.agent_id && <span class="tiny quiet"> {r.agent_id}</span>}</td>
                  <td><Chip look={r.status === 'failed' ? 'bad' : r.status === 'done' || r.status === 'success' ? 'good' : ''}>{r.status}</Chip></td>
                  <td class="number">{number(r.input_tokens + r.output_tokens)}</td><td class="number">{took(r.duration_ms * 1000)}</td><td class="tiny quiet wrap">{r.details.replace(/[{}"]/g, '').replaceAll(',', ', ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
