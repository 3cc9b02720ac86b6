// How memory grew, what it gave, how fast; and how facts followed one another.
import { useMemo } from 'preact/hooks';
import { get } from '../../api/client.ts';
import type { Series } from '../../api/types.ts';
import { number, t, took, word } from '../../i18n/index.ts';
import { Failed, Figure, Head, Segments } from '../../parts/basics.tsx';
import { Plot, type Line } from '../../parts/plot.tsx';
import { chosen, refine } from '../../state/route.ts';
import { chatsGiven, isSilent, stats } from '../../state/session.ts';
import { useLoaded } from '../../state/use.ts';
import { Lanes } from './lanes.tsx';

const metrics = ['memories_added', 'tokens_injected', 'recalls', 'recall_latency', 'core_tokens', 'messages'] as const;
type All = Record<(typeof metrics)[number], Series>;

async function readAll(by: string, days: number): Promise<All> {
  const from = new Date(Date.now() - days * 864e5).toISOString();
  const all = await Promise.all(metrics.map((metric) => get<Series>('/v1/stats/series', { metric, by, ...(by === 'day' ? { from } : {}) })));
  return Object.fromEntries(all.map((s) => [s.metric, s])) as All;
}

function parts(s: Series, group: string, isBars = true): Line[] {
  const names = [...new Set(s.items.flatMap((i) => Object.keys(i.parts ?? {})))].sort();
  return names.map((name) => ({ name: word(group, name), isBars, values: s.items.map((i) => i.parts?.[name] ?? 0) }));
}

export function Timeline() {
  const span = chosen('span', ['30', '90', 'year']), by = span === 'year' ? 'month' : 'day';
  const { data, error, reload } = useLoaded(() => readAll(by, span === 'year' ? 365 : Number(span)), [span], /^(memory|receipt|turn)\./);
  const s = data.value, at = useMemo(() => s?.memories_added.items.map((i) => i.at) ?? [], [s]);
  const lines = useMemo(() => s && ({
    added: parts(s.memories_added, 'type'), tokens: [{ name: t('tokens'), isBars: true, values: s.tokens_injected.items.map((i) => i.total) }],
    latency: [{ name: t('half'), values: s.recall_latency.items.map((i) => i.p50_us ?? null) }, { name: t('p95'), values: s.recall_latency.items.map((i) => i.p95_us ?? null) }],
    silent: [
      { name: t('with memory'), isBars: true, values: s.recalls.items.map((i) => chatsGiven(i.parts ?? {})) },
      { name: t('without'), isBars: true, colour: 'line-strong', values: s.recalls.items.map((i) => Object.entries(i.parts ?? {}).reduce((n, [d, v]) => n + (isSilent(d) ? v : 0), 0)) },
    ],
    core: parts(s.core_tokens, 'core'),
  }), [s]);
  const today = stats.value, isMonths = by === 'month';
  return (
    <>
      <Head title={t('page timeline')} about={t('timeline about')}>
        <Segments label={t('span')} value={span} onChange={(x) => refine({ span: x === '30' ? undefined : x })} options={[['30', t('30 days')], ['90', t('90 days')], ['year', t('12 months')]]} />
      </Head>
      {error.value && <Failed error={error.value} retry={reload} />}
      {today && (
        <div class="figures">
          <Figure value={number(today.memories.open)} label={t('memories')} />
          <Figure value={number(today.messages)} label={t('messages')} />
          <Figure value={number(today.all.tokens_injected)} label={t('tokens given')} />
          <Figure value={number(today.all.recalls)} label={t('recalls')} />
          <Figure value={took(today.all.recall_p50_us)} label={t('half of recalls')} />
        </div>
      )}
      {s && lines && (
        <div class="columns two">
          <div class="card pad"><Plot isMonths={isMonths} title={t('plot memories')} at={at} lines={lines.added} isStacked /></div>
          <div class="card pad"><Plot isMonths={isMonths} title={t('plot tokens')} at={at} lines={lines.tokens} /></div>
          <div class="card pad"><Plot isMonths={isMonths} title={t('plot silence')} at={at} lines={lines.silent} isStacked /></div>
          <div class="card pad"><Plot isMonths={isMonths} title={t('plot latency')} at={at} lines={lines.latency} format={took} /></div>
          {lines.core.some((l) => l.values.some((v) => v)) && <div class="card pad"><Plot isMonths={isMonths} title={t('plot core')} at={at} lines={lines.core} isStacked /></div>}
        </div>
      )}
      <Lanes />
    </>
  );
}
