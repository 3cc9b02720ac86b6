// Many at once: what is selected, or all that the filter matches.
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { address, call, space, type Query } from '../../api/client.ts';
import type { Memory } from '../../api/types.ts';
import { t } from '../../i18n/index.ts';
import { Button, Field, tryTo } from '../../parts/basics.tsx';
import { Confirm, Dialog } from '../../parts/layers.tsx';
import { toastUndo } from '../../parts/toasts.tsx';
import { may } from '../../state/session.ts';
import { useKeys } from '../../state/use.ts';

interface Erased { erased: number; undo?: string | null }
interface BulkResult { selected: number; changed: number; remaining: number; next: string | null; undo?: string | null }

/** A text in so few words that it fits into news. */
export const brief = (text: string) => (text.length > 48 ? `${text.slice(0, 47).trimEnd()}…` : text);

/** A memory or a message; where: its space, if it is not the caller's own. */
export async function forgetText(id: string, text: string, where: Query = {}) {
  await tryTo(async () => {
    const res = await call<Erased>('DELETE', address(`/v1/memories/${encodeURIComponent(id)}`, { ...where, undo: true }));
    toastUndo(t('forgot this', { what: brief(text) }), res.undo, [id]);
  });
}

export const forgetOne = (m: Memory) => forgetText(m.id, m.content);

/** Changes many at once; the server keeps what it takes to undo it. */
export async function bulk(body: Record<string, unknown>): Promise<BulkResult> {
  return call<BulkResult>('POST', address('/v1/memories/bulk', { space: space.value === '*' ? '' : space.value }), { ...body, undo: true });
}

interface BulkProps { picked: Signal<Set<string>>; total: number; filter: Query; isBest: boolean; children: ComponentChildren }

/** In the place of the line above the list, so that selecting moves no row. */
export function Bulk({ picked, total, filter, isBest, children }: BulkProps) {
  const [isAll, setAll] = useState(false), [tags, setTags] = useState<string | null>(null), [asks, setAsks] = useState(false);
  const n = isAll ? total : picked.value.size;
  useKeys(n && may('write') ? { Delete: () => forget() } : {});
  if (!n) return <div class="selection">{children}</div>;
  const what = () => (isAll ? { filter: Object.fromEntries(Object.entries(filter).filter(([, v]) => v !== undefined && v !== '')) } : { ids: [...picked.value].slice(0, 1000) });
  const clear = () => {
    picked.value = new Set();
    setAll(false);
  };
  const run = (body: Record<string, unknown>, said: (n: number) => string) => tryTo(async () => {
    const about = isAll ? ['*'] : [...picked.value], res = await bulk({ ...what(), ...body });
    clear();
    toastUndo(said(res.changed) + (res.remaining ? ` ${t('n remain', { n: res.remaining })}` : ''), res.undo, about);
  });
  const forget = () => (isAll ? setAsks(true) : void erase());
  const erase = () => run({ action: 'delete' }, (n) => t('forgotten', { n }));
  const canAll = !isBest && !isAll && total > picked.value.size;
  return (
    <div class="selection on" role="region" aria-label={t('selection')}>
      <strong class="number cut">{t('n selected', { n })}</strong>
      {canAll && <Button small look="plain" onClick={() => setAll(true)}>{t('select all n', { n: total })}</Button>}
      <span class="grow" />
      {may('write') && <><Button small icon="check" aria-label={t('set tags')} onClick={() => setTags('')}><span class="wide-only">{t('set tags')}</span></Button>
      <Button small look="danger" icon="trash" aria-label={t('forget')} onClick={forget}><span class="wide-only">{t('forget')}</span></Button></>}
      <Button small look="plain" icon="close" label={t('select none')} onClick={clear} />
      {asks && <Confirm title={t('forget n', { n })} text={t('forget all about')} action={t('forget n', { n })} close={() => setAsks(false)} run={erase} />}
      {tags !== null && (
        <Dialog title={t('set tags')} close={() => setTags(null)}>
          <form class="stack" onSubmit={(e) => {
            e.preventDefault();
            const list = tags.split(',').map((x) => x.trim()).filter(Boolean);
            setTags(null);
            void run({ action: 'change', change: { tags: list } }, (n) => t('changed n', { n }));
          }}>
            <Field label={t('tags')} hint={t('tags hint')}><input class="input" dir="auto" autofocus value={tags} onInput={(e) => setTags(e.currentTarget.value)} /></Field>
            <div><Button type="submit" look="main">{t('keep')}</Button></div>
          </form>
        </Dialog>
      )}
    </div>
  );
}
