// What was done in the background, and what it cost.
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { number, t, took, word } from '../../i18n/index.ts';
import { said } from '../../i18n/said.ts';
import { Ago, Chip, Empty, Failed, Select, type ChipLook } from '../../parts/basics.tsx';
import { labelOf } from '../../parts/numbers.tsx';
import { useLoaded } from '../../state/use.ts';

interface Row { space: string; kind: string; status: string; details: string; tokens_in: number; tokens_out: number; took_ms: number; created: string }
const kinds = ['', 'distil', 'consolidate', 'gate', 'rewrite', 'summary', 'profile', 'dedup', 'compact', 'reindex', 'prune'];

const looks: Record<string, ChipLook> = { failed: 'bad', error: 'bad', dead: 'bad', done: 'good', success: 'good' };

/** Numbers under their names; a reason as it is. */
function detailsOf(details: string): string {
  let all: unknown;
  try {
    all = JSON.parse(details);
  } catch {
    return said(details);
  }
  if (!all || typeof all !== 'object') return said(details);
  return Object.entries(all).filter(([, v]) => v !== null && v !== '' && v !== false).map(([name, v]) => `${labelOf(name)}: ${typeof v === 'object' ? JSON.stringify(v) : said(String(v))}`).join(', ');
}

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
            <thead><tr><th scope="col">{t('when')}</th><th scope="col">{t('work')}</th><th scope="col">{t('outcome')}</th><th scope="col" class="wide-only">{t('tokens')}</th><th scope="col" class="wide-only">{t('took')}</th><th scope="col" class="wide-only">{t('numbers')}</th></tr></thead>
            <tbody>
              {data.value.items.map((r, i) => (
                <>
                  <tr key={i}>
                    <td class="small quiet short"><Ago at={r.created} /></td><td class="short">{word('job', r.kind)}{r.space && <span class="tiny quiet"> {r.space}</span>}</td>
                    <td class="short"><Chip look={looks[r.status] ?? ''}>{word('state', r.status)}</Chip></td>
                    <td class="number short wide-only">{number(r.tokens_in + r.tokens_out)}</td><td class="number short wide-only">{took(r.took_ms * 1000)}</td><td class="small quiet wrap wide-only">{detailsOf(r.details)}</td>
                  </tr>
                  <tr key={`${i} more`} class="narrow-only"><td colSpan={3} class="small quiet wrap">{[detailsOf(r.details), took(r.took_ms * 1000)].filter(Boolean).join(' · ')}</td></tr>
                </>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
