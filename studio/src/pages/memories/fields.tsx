// The members of a memory, each kept when it is left or with Enter, and taken back with Escape.
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Memory } from '../../api/types.ts';
import { hasBegun, number, percent, t, time, word } from '../../i18n/index.ts';
import { Button, Field, Select } from '../../parts/basics.tsx';
import { may } from '../../state/session.ts';
import { types } from './add.tsx';
import { isClosed } from './row.tsx';

type Change = (members: Partial<Memory>) => Promise<boolean>;

interface InPlaceProps { value: string; label: string; hint?: string; keep: (value: string) => void; isLong?: boolean; kind?: string; isFixed?: boolean; edits?: { current: boolean }; wrongIn?: (value: string) => string }

function InPlace({ value, label, hint, keep, isLong, kind = 'text', isFixed, edits, wrongIn }: InPlaceProps) {
  const text = useSignal(value), wrong = useSignal(''), box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    if (!edits?.current) return;
    edits.current = false;
    box.current?.focus();
  }, []);
  const done = () => {
    wrong.value = text.value === value ? '' : wrongIn?.(text.value) ?? '';
    if (text.value !== value && !wrong.value) keep(text.value);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      (e.currentTarget as HTMLElement).blur();
    }
    if (e.key === 'Escape' && text.value !== value) {
      e.preventDefault();
      e.stopPropagation();
      text.value = value;
      wrong.value = '';
    }
  };
  const shared = { class: 'input', dir: 'auto' as const, disabled: isFixed, 'aria-label': label, 'aria-invalid': wrong.value !== '', onBlur: done, onKeyDown };
  return (
    <Field label={label} wrong={wrong.value} {...(hint && !isFixed ? { hint } : {})}>
      {isLong
        ? <textarea {...shared} rows={4} ref={box} value={text.value} onInput={(e) => (text.value = e.currentTarget.value)} />
        : <input {...shared} type={kind} value={text.value} onInput={(e) => (text.value = e.currentTarget.value)} />}
    </Field>
  );
}

export function MemoryFields({ memory: m, change, edits }: { memory: Memory; change: Change; edits: { current: boolean } }) {
  const isFixed = isClosed(m) || !may('write'), importance = useSignal(m.importance);
  return (
    <div class="stack">
      <InPlace isLong isFixed={isFixed} edits={edits} value={m.content} label={t('content')} hint={t('enter keeps')} keep={(content) => change({ content })} />
      <Field label={`${t('importance')}: ${percent(importance.value)}`}>
        <input type="range" min="0" max="1" step="0.05" disabled={isFixed} value={importance.value}
          onInput={(e) => (importance.value = Number(e.currentTarget.value))} onChange={() => change({ importance: importance.value })} />
      </Field>
      <div class="columns two">
        <InPlace isFixed={isFixed} value={m.key} label={t('key')} keep={(key) => change({ key: key || (null as unknown as string) })} />
        <Field label={t('type')}><Select label={t('type')} isFixed={isFixed} value={m.type} onChange={(type) => change({ type })} options={types.map((x) => [x, word('type', x)])} /></Field>
        <InPlace isFixed={isFixed} value={m.category} label={t('category')} keep={(category) => change({ category: category || (null as unknown as string) })} />
        <InPlace isFixed={isFixed} value={m.tags.join(', ')} label={t('tags')} keep={(all) => change({ tags: all.split(',').map((x) => x.trim()).filter(Boolean) })} />
        <InPlace isFixed={isFixed} kind="date" value={m.expires?.slice(0, 10) ?? ''} label={t('expires')} wrongIn={(date) => (date && hasBegun(date) ? t('expires passed') : '')} keep={(expires) => change({ expires: expires || null })} />
        {m.expires && !isFixed && <div class="row"><Button small look="plain" icon="close" onClick={() => change({ expires: null })}>{t('never expires')}</Button></div>}
      </div>
      <dl class="pairs">
        <dt>{t('facet layer')}</dt><dd>{word('layer', m.layer)}</dd>
        <dt>{t('facet origin')}</dt><dd>{word('origin', m.origin)}</dd>
        <dt>{t('space')}</dt><dd>{m.space}</dd>
        <dt>{t('session')}</dt><dd class="wrap">{m.session || '–'}</dd>
        <dt>{t('created')}</dt><dd>{time(m.created)}</dd>
        <dt>{t('true from')}</dt><dd>{m.valid_from ? time(m.valid_from) : '–'}</dd>
        {m.valid_to && <><dt>{t('true until')}</dt><dd>{time(m.valid_to)}</dd></>}
        <dt>{t('recalled')}</dt><dd>{t('n times', { n: m.uses })}{m.uses > 0 && m.last_used ? `, ${time(m.last_used)}` : ''}</dd>
        <dt>id</dt><dd class="mono wrap">{m.id}</dd>
        {Object.keys(m.metadata ?? {}).length > 0 && <><dt>{t('metadata')}</dt><dd class="mono wrap">{JSON.stringify(m.metadata)}</dd></>}
      </dl>
      <span class="hidden-text">{number(m.uses)}</span>
    </div>
  );
}
