// Facts with a key, each value as long as it was true.
import { get } from '../../api/client.ts';
import type { Memory, MemoryPage } from '../../api/types.ts';
import { day, t } from '../../i18n/index.ts';
import { Empty } from '../../parts/basics.tsx';
import { go } from '../../state/route.ts';
import { useLoaded } from '../../state/use.ts';

interface Value { memory: Memory; from: number; to: number }
interface LaneOf { key: string; values: Value[] }

const mark = (m: Memory) => new Date(m.valid_from ?? m.created).getTime();

function lanesOf(memories: Memory[]): LaneOf[] {
  const byKey = new Map<string, Memory[]>();
  for (const m of memories) if (m.key) byKey.set(m.key, [...(byKey.get(m.key) ?? []), m]);
  const lanes = [...byKey].map(([key, all]) => ({
    key, values: all.map((memory) => ({ memory, from: mark(memory), to: memory.valid_to ? new Date(memory.valid_to).getTime() : Date.now() })).sort((a, b) => a.from - b.from),
  }));
  return lanes.sort((a, b) => b.values.length - a.values.length || b.values.at(-1)!.from - a.values.at(-1)!.from).slice(0, 24);
}

const nameOf = (key: string) => key.replace(/^[a-z]+:/, '').replace(/[_:]/g, ' ');

export function Lanes() {
  const { data } = useLoaded(() => get<MemoryPage>('/v1/memories', { layer: 'fact', closed: true, limit: 500 }), [], /^memory\./);
  const lanes = lanesOf(data.value?.memories ?? []);
  if (!data.value) return null;
  const least = Math.min(...lanes.flatMap((l) => l.values.map((v) => v.from))), span = Math.max(1, Date.now() - least);
  return (
    <section class="card" aria-label={t('lanes')}>
      <header><h2>{t('lanes')}</h2><span class="small quiet">{t('lanes about')}</span></header>
      <div class="pad">
        {!lanes.length && <Empty title={t('no lanes')}><p>{t('no lanes about')}</p></Empty>}
        {lanes.map((lane) => (
          <div key={lane.key} class="lane">
            <span class="small cut" title={lane.key}>{nameOf(lane.key)}</span>
            <div class="lane-values">
              {lane.values.map((v) => (
                <button key={v.memory.id} type="button" class={`lane-value${v.memory.valid_to ? ' past' : ''}`} title={`${v.memory.content}: ${day(new Date(v.from).toISOString())} – ${v.memory.valid_to ? day(v.memory.valid_to) : t('today')}`}
                  ref={(b) => { if (b) { b.style.left = `${(100 * (v.from - least)) / span}%`; b.style.width = `${Math.max(1.5, (100 * (v.to - v.from)) / span)}%`; } }}
                  onClick={() => go('memories', { id: v.memory.id, closed: v.memory.valid_to ? 'too' : undefined })}>
                  <span class="cut" dir="auto">{v.memory.content}</span>
                </button>
              ))}
            </div>
          </div>
        ))}
      </div>
    </section>
  );
}
