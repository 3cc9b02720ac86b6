// Hooks: data that stays true, text that is typed, keys.
import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Problem, space } from '../api/client.ts';
import { onChange } from '../api/events.ts';

export interface Loaded<T> { data: Signal<T | null>; error: Signal<Problem | null>; isLoading: Signal<boolean>; reload: () => void }

/** Reads again when an input or the space changes, and when something of these kinds has changed on the server. */
export function useLoaded<T>(read: () => Promise<T>, inputs: unknown[], kinds: RegExp = /^$/): Loaded<T> {
  const data = useSignal<T | null>(null), error = useSignal<Problem | null>(null), isLoading = useSignal(true);
  const turn = useRef(0), timer = useRef(0), reading = useRef(read);
  reading.current = read;
  const run = async () => {
    const mine = ++turn.current;
    isLoading.value = true;
    try {
      const got = await reading.current();
      if (mine !== turn.current) return;
      data.value = got;
      error.value = null;
    } catch (e) {
      if (mine === turn.current) error.value = e instanceof Problem ? e : new Problem(0, '', String(e));
    } finally {
      if (mine === turn.current) isLoading.value = false;
    }
  };
  const reload = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(run, 120) as unknown as number;
  };
  useEffect(() => {
    void run();
    return () => void (++turn.current, clearTimeout(timer.current));
  }, [...inputs, space.value]);
  useEffect(() => onChange(kinds, reload), []);
  return { data, error, isLoading, reload };
}

/** A value that follows another one when it has been quiet for so long. */
export function useSettled<T>(value: T, ms = 300): T {
  const settled = useSignal(value);
  useEffect(() => {
    const t = setTimeout(() => (settled.value = value), ms);
    return () => clearTimeout(t);
  }, [value]);
  return settled.value;
}

const isTyping = (e: KeyboardEvent) => e.target instanceof HTMLElement && !!e.target.closest('input, textarea, select, [contenteditable]');

export const isUnderDialog = () => !!document.querySelector('[aria-modal="true"]');
const isUnderDrawer = () => !!document.querySelector('.drawer');
/** Enter on a button is the button's. */
const isPressing = (e: KeyboardEvent) => e.key === 'Enter' && e.target instanceof HTMLElement && !!e.target.closest('button, a, summary');
const isAnothers = (e: KeyboardEvent) => isUnderDialog() || isPressing(e) || (e.key !== 'Escape' && (isTyping(e) || isUnderDrawer()));

/** Keys of a page, not while something is typed or a drawer is open; e.key names them. */
export function useKeys(keys: Record<string, (e: KeyboardEvent) => void>) {
  const now = useRef(keys);
  now.current = keys;
  useLayoutEffect(() => {
    const listen = (e: KeyboardEvent) => {
      if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || isAnothers(e)) return;
      const run = now.current[e.key];
      if (run) {
        e.preventDefault();
        run(e);
      }
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

/** j and k go through the rows of a list of buttons, which Enter opens by itself. */
export function useRowKeys() {
  const step = (by: number) => {
    const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')], at = rows.indexOf(document.activeElement as HTMLElement);
    rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.focus();
  };
  useKeys({ j: () => step(1), k: () => step(-1) });
}
