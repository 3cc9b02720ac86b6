// The memories that a chat would get by another strategy, with the scores by words and by meaning.
import { useEffect, useState } from 'preact/hooks';
import { address, call, space, type Problem } from '../../api/client.ts';
import { decimal, t, took, word } from '../../i18n/index.ts';
import { Chip, Failed, Score, Segments } from '../../parts/basics.tsx';
import { spaceOfChats } from '../../parts/talk.tsx';
import { said } from '../../i18n/said.ts';

interface Line { id: string; text: string; score: number; tokens: number; signals: Record<string, number> }
interface Found { results: Line[]; took_us: number; vectors?: string; steps: { strategy: string; store: string; reranked: boolean; fallback: string } }

const strategies = ['hybrid', 'semantic', 'recent'] as const;

export function Strategies({ query }: { query: string }) {
  const [strategy, setStrategy] = useState<string>('hybrid'), [found, setFound] = useState<Found | null>(null), [error, setError] = useState<Problem | null>(null);
  useEffect(() => {
    let mine = true;
    call<Found>('POST', address('/v1/memories/search', { space: spaceOfChats() }), { query, strategy, kind: 'memory', explain: true }).then((p) => mine && (setFound(p), setError(null)), (e) => mine && setError(e as Problem));
    return () => void (mine = false);
  }, [query, strategy, space.value]);
  const r = found?.steps;
  const signal = (m: Line, name: string) => (m.signals[name] ? decimal(m.signals[name]) : '–');
  const tier = (m: Line) => [m.signals.share && t('by words'), m.signals.dense && t('by meaning')].filter(Boolean).join(' + ') || '–';
  return (
    <section class="card" aria-label={t('strategies')}>
      <header><h2>{t('strategies')}</h2><Segments label={t('strategies')} value={strategy} onChange={setStrategy} options={strategies.map((s) => [s, t(`strategy ${s}`)])} /></header>
      <div class="stack pad">
        {error && <Failed error={error} />}
        {r && (
          <div class="row tiny quiet">
            <Chip look="accent">{t(`strategy ${r.strategy as typeof strategies[number]}`)}</Chip><span>{t('n tokens', { n: found.results.reduce((n, m) => n + m.tokens, 0) })}</span><span>{took(found.took_us)}</span>
            <span>{t('vectors')}: {word('store', r.store)}{found.vectors ? ` · ${found.vectors}` : ''}</span>{r.reranked && <Chip>{t('rerank')}</Chip>}
            {r.fallback && <span class="wrap">{said(r.fallback)}</span>}
          </div>
        )}
        {found && !found.results.length && <p class="quiet">{t('no memory matches')}</p>}
        {found && found.results.length > 0 && (
          <div class="table-box">
            <table>
              <thead><tr><th scope="col">{t('score')}</th><th scope="col">{t('memory')}</th><th scope="col">{t('tier')}</th><th scope="col">{t('by words')}</th><th scope="col">{t('by meaning')}</th><th scope="col">{t('tokens')}</th></tr></thead>
              <tbody>
                {found.results.map((m) => (
                  <tr key={m.id}>
                    <td><Score value={m.score} /></td><td class="wrap" dir="auto">{m.text}</td><td><Chip>{tier(m)}</Chip></td>
                    <td class="number">{signal(m, 'share')}</td><td class="number">{signal(m, 'dense')}</td><td class="number">{m.tokens}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </div>
    </section>
  );
}
