// Many at once: what is selected, or all that the filter matches.
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { address, call, reason, type Query } from '../../api/client.ts';
import type { Memory } from '../../api/types.ts';
import { t } from '../../i18n/index.ts';
import { Button, Field, tryTo } from '../../parts/basics.tsx';
import { Confirm, Dialog } from '../../parts/layers.tsx';
import { toastUndo } from '../../parts/toasts.tsx';
import { may } from '../../state/session.ts';
import { useKeys } from '../../state/use.ts';

interface Erased { erased: number; undo?: string | null }
interface BulkResult { selected: number; changed: number; next: string | null; undo?: string | null }

/** A text in so few words that it fits into news. */
export const brief = (text: string) => (text.length > 48 ? `${text.slice(0, 47).trimEnd()}…` : text);

/** A memory or a message; where: its space, if it is not the caller's own. */
export async function forgetText(id: string, text: string, where: Query = {}) {
  await tryTo(async () => {
    const res = await call<Erased>('DELETE', address(`/v1/memories/${encodeURIComponent(id)}`, { ...where, undo: true }));
    toastUndo(t('forgot this', { what: brief(text) }), res.undo, [id]);
  });
}

export const forgetOne = (m: Memory) => forgetText(m.id, m.content, { space: m.space });

/** The ids, by the space that each is in. */
export type Picked = ReadonlyMap<string, string>;
export const pick = (all: Memory[]): Picked => new Map(all.map((m) => [m.id, m.space]));
/** All that a list with this filter has, in these spaces. */
interface Matching { filter: Query; spaces: string[] }

const most = 1000;

function* callsOf(picked: Picked): Generator<[string, string[]]> {
  for (const space of new Set(picked.values())) {
    const ids = [...picked].filter(([, of]) => of === space).map(([id]) => id);
    for (let i = 0; i < ids.length; i += most) yield [space, ids.slice(i, i + most)];
  }
}

/** Changes many at once, and says so. A call is of one space and a thousand at most; what was done before one failed stays done. */
export async function bulk(what: Picked | Matching, body: { action: 'delete' | 'change'; change?: object }, said: (n: number) => string) {
  const undo: string[] = [];
  let changed = 0, gone = 0, failure = '';
  const ask = async (space: string, which: object) => {
    const res = await call<BulkResult>('POST', address('/v1/memories/bulk', { space }), { ...body, ...which, undo: true });
    changed += res.changed;
    if (res.undo) undo.unshift(res.undo);
    return res;
  };
  try {
    if ('filter' in what) {
      const filter = Object.fromEntries(Object.entries(what.filter).filter(([, v]) => v !== undefined && v !== ''));
      for (const space of what.spaces)
        for (let res = await ask(space, { filter }); res.next;) res = await ask(space, { filter, cursor: res.next });
    } else for (const [space, ids] of callsOf(what)) gone += ids.length - (await ask(space, { ids })).selected;
  } catch (e) {
    failure = reason(e);
  }
  const text = [said(changed), gone && t('n were gone', { n: gone }), failure && t('then failed', { reason: failure })].filter(Boolean).join('. ');
  toastUndo(text, undo, 'filter' in what ? ['*'] : [...what.keys()], failure !== '');
}

interface BulkProps { picked: Signal<Picked>; total: number; all: Matching; isBest: boolean; children: ComponentChildren }

/** In the place of the line above the list, so that selecting moves no row. */
export function Bulk({ picked, total, all, isBest, children }: BulkProps) {
  const [isAll, setAll] = useState(false), [tags, setTags] = useState<string | null>(null), [asks, setAsks] = useState(false);
  const n = !picked.value.size ? 0 : isAll ? total : picked.value.size;
  useEffect(() => void (n || setAll(false)), [n]);
  useKeys(n && may('write') ? { Delete: () => forget() } : {});
  if (!n) return <div class="selection">{children}</div>;
  const clear = () => (picked.value = new Map());
  const run = async (body: Parameters<typeof bulk>[1], said: (n: number) => string) => {
    const what = isAll ? all : picked.value;
    clear();
    await bulk(what, body, said);
  };
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
