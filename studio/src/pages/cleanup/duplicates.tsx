// Memories that say nearly the same, side by side: the person decides which stays.
import { get } from '../../api/client.ts';
import type { Memory, MemoryPage } from '../../api/types.ts';
import { day, percent, t, word } from '../../i18n/index.ts';
import { Button, Empty, Failed, Loading } from '../../parts/basics.tsx';
import { may } from '../../state/session.ts';
import { useLoaded } from '../../state/use.ts';
import { forgetOne } from '../memories/bulk.tsx';

const wordsOf = (text: string) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

/** Of the newest thousand, pairs that share most of their words. By an index of words, so that it stays quick. */
export function alike(all: Memory[]): [Memory, Memory, number][] {
  const sets = all.map((m) => wordsOf(m.content)), byWord = new Map<string, number[]>(), pairs: [Memory, Memory, number][] = [];
  sets.forEach((set, i) => {
    const shared = new Map<number, number>();
    for (const w of set) {
      const at = byWord.get(w) ?? [];
      if (at.length < 60) for (const k of at) shared.set(k, (shared.get(k) ?? 0) + 1);
      byWord.set(w, [...at, i]);
    }
    for (const [k, n] of shared) {
      const likeness = n / (set.size + sets[k]!.size - n);
      if (likeness >= 0.6) pairs.push([all[k]!, all[i]!, likeness]);
    }
  });
  return pairs.sort((a, b) => b[2] - a[2]).slice(0, 50);
}

async function newest(): Promise<Memory[]> {
  const first = await get<MemoryPage>('/v1/memories', { limit: 500 });
  const second = first.next ? await get<MemoryPage>('/v1/memories', { limit: 500, cursor: first.next }) : null;
  return [...first.memories, ...(second?.memories ?? [])];
}

export function Duplicates() {
  const { data, error, reload } = useLoaded(newest, [], /^memory\./);
  if (error.value) return <Failed error={error.value} retry={reload} />;
  if (!data.value) return <Loading />;
  const pairs = alike(data.value);
  if (!pairs.length) return <Empty title={t('no duplicates')}><p>{t('no duplicates about')}</p></Empty>;
  return (
    <ul class="stack">
      {pairs.map(([a, b, likeness]) => (
        <li key={a.id + b.id} class="card pad stack close">
          <span class="tiny quiet">{t('alike', { share: percent(likeness) })}</span>
          <div class="columns two">{[a, b].map((m) => <Side key={m.id} memory={m} />)}</div>
        </li>
      ))}
    </ul>
  );
}

function Side({ memory: m }: { memory: Memory }) {
  return (
    <div class="row tight">
      <div class="grow stack close"><span class="wrap" dir="auto">{m.content}</span><span class="tiny quiet">{day(m.created)} · {word('origin', m.origin)} · {t('importance of', { share: percent(m.importance) })}</span></div>
      {may('write') && <Button small look="danger" icon="trash" onClick={() => void forgetOne(m)}>{t('forget')}</Button>}
    </div>
  );
}
