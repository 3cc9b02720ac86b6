// A text that is edited where it stands: kept when it is left or with Enter, taken back with Escape. What is half typed outlives a reload and a change by somebody else.
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../i18n/index.ts';
import { draft } from '../state/looks.ts';
import { Field } from './basics.tsx';

/** name: of its draft. isBare: without its label above it. wrongIn: why this text cannot be kept, or ''. */
interface InPlaceProps {
  name: string; value: string; label: string; keep: (value: string) => Promise<boolean>; hint?: string; isLong?: boolean; isBare?: boolean; kind?: string;
  isFixed?: boolean; edits?: { current: boolean }; wrongIn?: (value: string) => string;
}

/** base: the value that was edited. Where another one is in force by now, only Enter replaces that. */
export function InPlace({ name, value, label, keep, hint, isLong, isBare, kind = 'text', isFixed, edits, wrongIn }: InPlaceProps) {
  const kept = draft(`edit:${name}`), [begun] = useState(() => JSON.parse(kept.get() || '[]') as [string?, string?]);
  const base = useSignal(begun[0] ?? value), text = useSignal(begun[1] ?? value), wrong = useSignal(''), isSure = useRef(false);
  const box = useRef<HTMLTextAreaElement & HTMLInputElement>(null);
  const set = (to: string, from: string) => {
    text.value = to;
    base.value = from;
    kept.set(to === from ? '' : JSON.stringify([from, to]));
  };
  const takeBack = () => {
    set(value, value);
    wrong.value = '';
  };
  const isChanged = () => text.value !== base.value;
  useLayoutEffect(() => {
    if (!edits?.current) return;
    edits.current = false;
    box.current?.focus();
  }, []);
  useLayoutEffect(() => {
    if (!isChanged() || text.value === value) takeBack();
    else if (base.value !== value) wrong.value = t('changed meanwhile', { what: value });
  }, [value]);
  const save = async () => {
    const to = text.value, from = base.value;
    set(to, to);
    if (!(await keep(to)) && !isChanged()) set(to, from);
  };
  const done = () => {
    const sure = isSure.current;
    isSure.current = false;
    if (!isChanged()) return;
    wrong.value = wrongIn?.(text.value) || (base.value !== value && !sure ? t('changed meanwhile', { what: value }) : '');
    if (!wrong.value) void save();
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      isSure.current = true;
      (e.currentTarget as HTMLElement).blur();
    }
    if (e.key === 'Escape' && isChanged()) {
      e.preventDefault();
      e.stopPropagation();
      takeBack();
    }
  };
  const shared = {
    class: isBare ? 'input grow' : 'input', dir: 'auto' as const, disabled: !!isFixed, 'aria-label': label, 'aria-invalid': wrong.value !== '', value: isFixed ? value : text.value, ref: box,
    onInput: (e: { currentTarget: { value: string } }) => set(e.currentTarget.value, base.value), onBlur: done, onKeyDown,
  };
  const input = isLong ? <textarea {...shared} rows={4} /> : <input {...shared} type={kind} />;
  if (isBare) return <div class="grow stack close">{input}{wrong.value && <span class="tiny wrong" role="alert">{wrong.value}</span>}</div>;
  return <Field label={label} wrong={wrong.value} {...(hint && !isFixed ? { hint } : {})}>{input}</Field>;
}
