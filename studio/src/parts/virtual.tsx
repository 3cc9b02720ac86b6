// A list of any length: only the rows in sight exist. Rows have one height; pages of them are read as they come into sight.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

const pageSize = 100, rowHeight = 56, overscan = 6;

export interface Rows<T> { total: number; at: (i: number) => T | undefined; see: (from: number, to: number) => void; version: number }

/** Keeps the pages that were read. read(offset, limit) gives a page and the total. */
export function useRows<T>(read: (offset: number, limit: number) => Promise<{ items: T[]; total: number }>, inputs: unknown[]) {
  const total = useSignal<number | null>(null), version = useSignal(0), error = useSignal<Error | null>(null);
  const pages = useRef(new Map<number, T[]>()), asked = useRef(new Set<number>()), turn = useRef(0), reading = useRef(read);
  const inSight = useRef<[number, number]>([0, 20]);
  reading.current = read;
  const load = async (page: number) => {
    if (asked.current.has(page)) return;
    asked.current.add(page);
    const mine = turn.current;
    try {
      const got = await reading.current(page * pageSize, pageSize);
      if (mine !== turn.current) return;
      pages.current.set(page, got.items);
      total.value = got.total;
      error.value = null;
      version.value++;
    } catch (e) {
      if (mine === turn.current) error.value = e as Error;
    }
  };
  const see = (from: number, to: number) => {
    inSight.current = [from, to];
    for (let p = Math.floor(from / pageSize); p <= Math.floor(Math.max(from, to - 1) / pageSize); p++) void load(p);
  };
  /** What is shown stays until the new rows are there. */
  const reload = () => {
    turn.current++;
    asked.current = new Set();
    const [from, to] = inSight.current;
    const kept = new Set<number>();
    for (let p = Math.floor(from / pageSize); p <= Math.floor(to / pageSize); p++) kept.add(p);
    for (const p of [...pages.current.keys()]) if (!kept.has(p)) pages.current.delete(p);
    see(from, to);
  };
  useEffect(() => {
    turn.current++;
    asked.current = new Set();
    pages.current = new Map();
    total.value = null;
    see(0, 20);
  }, inputs);
  const at = (i: number): T | undefined => pages.current.get(Math.floor(i / pageSize))?.[i % pageSize];
  return { total, version, error, at, see, reload };
}

interface VirtualProps<T> {
  rows: { total: number; at: (i: number) => T | undefined; see: (from: number, to: number) => void };
  row: (item: T | undefined, i: number) => ComponentChildren; label: string; current?: number; onKeyDown?: (e: KeyboardEvent) => void;
}

export function Virtual<T>({ rows, row, label, current, onKeyDown }: VirtualProps<T>) {
  const box = useRef<HTMLDivElement>(null), top = useSignal(0), height = useSignal(600);
  useLayoutEffect(() => {
    const fit = () => {
      const at = box.current?.getBoundingClientRect().top ?? 0;
      const bottom = matchMedia('(max-width: 52rem)').matches ? 76 : 24;
      height.value = Math.max(240, innerHeight - Math.max(at, 120) - bottom);
      if (box.current) box.current.style.maxHeight = `${height.value}px`;
    };
    fit();
    addEventListener('resize', fit);
    return () => removeEventListener('resize', fit);
  }, []);
  const from = Math.max(0, Math.floor(top.value / rowHeight) - overscan);
  const to = Math.min(rows.total, Math.ceil((top.value + height.value) / rowHeight) + overscan);
  useEffect(() => {
    const t = setTimeout(() => rows.see(from, to), 40);
    return () => clearTimeout(t);
  }, [from, to, rows.total]);
  useEffect(() => {
    if (current === undefined || current < 0 || !box.current) return;
    const y = current * rowHeight;
    if (y < box.current.scrollTop) box.current.scrollTop = y;
    if (y + rowHeight > box.current.scrollTop + height.value) box.current.scrollTop = y + rowHeight - height.value;
  }, [current]);
  const shown = [];
  for (let i = from; i < to; i++) shown.push(<Placed key={i} y={i * rowHeight}>{row(rows.at(i), i)}</Placed>);
  return (
    <div class="scroll" ref={box} tabIndex={0} role="listbox" aria-label={label} aria-multiselectable="true"
      aria-activedescendant={current !== undefined && current >= 0 ? `row-${current}` : undefined}
      onScroll={(e) => (top.value = e.currentTarget.scrollTop)} onKeyDown={onKeyDown}>
      <Tall px={rows.total * rowHeight}>{shown}</Tall>
    </div>
  );
}

function Tall({ px, children }: { px: number; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current) box.current.style.height = `${px}px`;
  }, [px]);
  return <div class="virtual" ref={box} role="presentation">{children}</div>;
}

function Placed({ y, children }: { y: number; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current) box.current.style.transform = `translateY(${y}px)`;
  }, [y]);
  return <div ref={box} role="presentation">{children}</div>;
}
