// The members of a memory, each edited in place.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Memory } from '../../api/types.ts';
import { dateOf, hasBegun, number, percent, startOf, t, time, word } from '../../i18n/index.ts';
import { Button, Field, Select } from '../../parts/basics.tsx';
import { InPlace } from '../../parts/in-place.tsx';
import { may } from '../../state/session.ts';
import { types } from './add.tsx';
import { isClosed } from './row.tsx';

type Change = (members: Partial<Memory>) => Promise<boolean>;

export function MemoryFields({ memory: m, change, edits }: { memory: Memory; change: Change; edits: { current: boolean } }) {
  const isFixed = isClosed(m) || !may('write'), importance = useSignal(m.importance), nameOf = (member: string) => `${m.id}:${member}`;
  useEffect(() => void (importance.value = m.importance), [m.importance]);
  return (
    <div class="stack">
      <InPlace name={nameOf('content')} isLong isFixed={isFixed} edits={edits} value={m.content} label={t('content')} hint={t('enter keeps')} keep={(content) => change({ content })} />
      <Field label={`${t('importance')}: ${percent(importance.value)}`}>
        <input type="range" min="0" max="1" step="0.05" disabled={isFixed} value={importance.value}
          onInput={(e) => (importance.value = Number(e.currentTarget.value))} onChange={() => change({ importance: importance.value })} />
      </Field>
      <div class="columns two">
        <InPlace name={nameOf('key')} isFixed={isFixed} value={m.key} label={t('key')} keep={(key) => change({ key: key || (null as unknown as string) })} />
        <Field label={t('type')}><Select label={t('type')} isFixed={isFixed} value={m.type} onChange={(type) => change({ type })} options={types.map((x) => [x, word('type', x)])} /></Field>
        <InPlace name={nameOf('category')} isFixed={isFixed} value={m.category} label={t('category')} keep={(category) => change({ category: category || (null as unknown as string) })} />
        <InPlace name={nameOf('tags')} isFixed={isFixed} value={m.tags.join(', ')} label={t('tags')} keep={(all) => change({ tags: all.split(',').map((x) => x.trim()).filter(Boolean) })} />
        <InPlace name={nameOf('expires')} isFixed={isFixed} kind="date" value={m.expires ? dateOf(m.expires) : ''} label={t('expires')} wrongIn={(date) => (date && hasBegun(date) ? t('expires passed') : '')} keep={(expires) => change({ expires: expires ? startOf(expires) : null })} />
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
