// The memories that a chat would get by another strategy, with the scores by words and by meaning.
import { useEffect, useState } from 'preact/hooks';
import { call, space, type Problem } from '../../api/client.ts';
import { number, t } from '../../i18n/index.ts';
import { Chip, Failed, Score, Segments } from '../../parts/basics.tsx';

interface Line { id: string; content: string; score: number; tokens: number; tier: string; vecScore: number | null; ftsScore: number | null }
interface Resolution { embeddingSource: string | null; embeddingModel: string | null; vectorStore: string; strategyUsed: string; rerankApplied: boolean; fallbackReason: string | null }
interface Preview { memories: Line[]; resolution: Resolution; totalTokensUsed: number; budgetMaxTokens: number }

const strategies = ['hybrid', 'semantic', 'exact'] as const;

export function Strategies({ query, budget }: { query: string; budget: string }) {
  const [strategy, setStrategy] = useState<string>('hybrid'), [preview, setPreview] = useState<Preview | null>(null), [error, setError] = useState<Problem | null>(null);
  useEffect(() => {
    let mine = true;
    const body = { query, strategy, ...(budget && { maxTokens: Number(budget) }), ...(space.value && space.value !== '*' && { apiKeyId: space.value }) };
    call<Preview>('POST', '/api/memory/retrieve-preview', body).then((p) => mine && (setPreview(p), setError(null)), (e) => mine && setError(e as Problem));
    return () => void (mine = false);
  }, [query, strategy, budget, space.value]);
  const r = preview?.resolution;
  return (
    <section class="card" aria-label={t('strategies')}>
      <header><h2>{t('strategies')}</h2><Segments label={t('strategies')} value={strategy} onChange={setStrategy} options={strategies.map((s) => [s, t(`strategy ${s}`)])} /></header>
      <div class="stack pad">
        {error && <Failed error={error} />}
        {r && (
          <div class="row tiny quiet">
            <Chip look="accent">{r.strategyUsed}</Chip><span>{t('n tokens', { n: preview.totalTokensUsed })} / {number(preview.budgetMaxTokens)}</span>
            <span>{t('vectors')}: {r.vectorStore}{r.embeddingModel ? ` · ${r.embeddingModel}` : ''}</span>{r.rerankApplied && <Chip>{t('rerank')}</Chip>}
            {r.fallbackReason && <span class="wrap">{r.fallbackReason}</span>}
          </div>
        )}
        {preview && !preview.memories.length && <p class="quiet">{t('nothing matches')}</p>}
        {preview && preview.memories.length > 0 && (
          <div class="table-box">
            <table>
              <thead><tr><th scope="col">{t('score')}</th><th scope="col">{t('memory')}</th><th scope="col">{t('tier')}</th><th scope="col">{t('by words')}</th><th scope="col">{t('by meaning')}</th><th scope="col">{t('tokens')}</th></tr></thead>
              <tbody>
                {preview.memories.map((m) => (
                  <tr key={m.id}>
                    <td><Score value={m.score} /></td><td class="wrap">{m.content}</td><td><Chip>{m.tier}</Chip></td>
                    <td class="number">{m.ftsScore?.toFixed(2) ?? '–'}</td><td class="number">{m.vecScore?.toFixed(2) ?? '–'}</td><td class="number">{m.tokens}</td>
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
