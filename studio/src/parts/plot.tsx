// A plot over time, in the colours of the theme. Beside each plot its numbers are a table for those who cannot see it.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { language, number, t } from '../i18n/index.ts';
import { colour, theme } from '../state/looks.ts';

export interface Line { name: string; values: (number | null)[]; colour?: string; isBars?: boolean }

const palette = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];

interface PlotProps { title: string; at: string[]; lines: Line[]; format?: (n: number) => string; isStacked?: boolean; isMonths?: boolean; height?: number }

/** What is counted has no halves. */
const wholes = [1, 2, 5].flatMap((n) => [...Array(9).keys()].map((e) => n * 10 ** e)).sort((a, b) => a - b);

function dateOf(seconds: number, isMonths: boolean): string {
  return new Date(seconds * 1000).toLocaleDateString(language.value, isMonths ? { month: 'short', year: 'numeric', timeZone: 'UTC' } : { day: 'numeric', month: 'short', timeZone: 'UTC' });
}

export function Plot({ title, at, lines, format = number, isStacked = false, isMonths = false, height = 180 }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!box.current || !at.length) return;
    const x = at.map((a) => new Date(a).getTime() / 1000);
    const sums = new Array<number>(x.length).fill(0);
    const rows = lines.map((l) => l.values.map((v, i) => {
      const y = isStacked ? (sums[i]! += v ?? 0) : v;
      return l.isBars && !v ? null : y; // a bar of nothing would be drawn as a line
    }));
    const order = isStacked ? rows.map((_, i) => rows.length - 1 - i) : rows.map((_, i) => i);
    const muted = colour('muted'), faint = colour('line');
    const axis = { stroke: muted, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint, width: 1 }, font: '11px system-ui' };
    const bars = uPlot.paths.bars!({ size: [0.7, 40], align: 0 });
    const plot = new uPlot({
      width: box.current.clientWidth, height, cursor: { y: false, points: { show: false } }, legend: { show: false },
      scales: { x: { time: true }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
      axes: [{ ...axis, space: 70, values: (_u, all) => all.map((v) => dateOf(v, isMonths)) }, { ...axis, size: 60, ...(format === number ? { incrs: wholes } : {}), values: (_u, all) => all.map((v) => format(v)) }],
      series: [{}, ...order.map((i) => {
        const c = colour(lines[i]!.colour ?? palette[i % palette.length]!);
        return { label: lines[i]!.name, stroke: c, width: 2, ...(lines[i]!.isBars ? { fill: c, paths: bars, points: { show: false } } : { points: { show: x.length < 40, size: 4 } }) };
      })],
    }, [x, ...order.map((i) => rows[i]!)] as uPlot.AlignedData, box.current);
    const fit = new ResizeObserver(() => box.current && plot.setSize({ width: box.current.clientWidth, height }));
    fit.observe(box.current);
    return () => {
      fit.disconnect();
      plot.destroy();
    };
  }, [at, lines, isMonths, theme.value, language.value]);
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const again = () => (theme.value = theme.value);
    dark.addEventListener('change', again);
    return () => dark.removeEventListener('change', again);
  }, []);
  const shown = lines.filter((l) => l.values.some((v) => v));
  return (
    <figure class="plot stack close">
      <figcaption class="row spread"><h3>{title}</h3>{shown.length > 1 && <Legend lines={lines} />}</figcaption>
      <div ref={box} aria-hidden="true" />
      <details>
        <summary class="tiny quiet">{t('as a table')}</summary>
        <div class="table-box">
          <table>
            <thead><tr><th scope="col">{t('day')}</th>{lines.map((l) => <th key={l.name} scope="col">{l.name}</th>)}</tr></thead>
            <tbody>{at.map((a, i) => (lines.some((l) => l.values[i]) ? <tr key={a}><td>{dateOf(new Date(a).getTime() / 1000, isMonths)}</td>{lines.map((l) => <td key={l.name} class="number">{l.values[i] == null ? '–' : format(l.values[i]!)}</td>)}</tr> : null))}</tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

function Dot({ name }: { name: string }) {
  const dot = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (dot.current) dot.current.style.background = `var(--${name})`;
  }, [name]);
  return <span class="state-dot" ref={dot} aria-hidden="true" />;
}

function Legend({ lines }: { lines: Line[] }) {
  return <div class="row tiny quiet">{lines.map((l, i) => (l.values.some((v) => v) ? <span key={l.name} class="row tight"><Dot name={l.colour ?? palette[i % palette.length]!} />{l.name}</span> : null))}</div>;
}
