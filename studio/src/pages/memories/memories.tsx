// Everything that is remembered: find, see, correct, forget.
import { useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { address, call, get, isOnline, space, type Query } from '../../api/client.ts';
import { onChange } from '../../api/events.ts';
import type { Facets as FacetCounts, Found, FoundPage, Memory, MemoryPage } from '../../api/types.ts';
import { number, t } from '../../i18n/index.ts';
import { Button, Empty, Failed, Head, Search, Segments, Select } from '../../parts/basics.tsx';
import { useRows, Virtual } from '../../parts/virtual.tsx';
import { draft } from '../../state/looks.ts';
import { chosen, closeOver, openOver, refine, route } from '../../state/route.ts';
import { eachSpace, may } from '../../state/session.ts';
import { useKeys, useSettled } from '../../state/use.ts';
import { AddMemory } from './add.tsx';
import { Bulk, forgetOne, type Picked } from './bulk.tsx';
import { MemoryDrawer } from './drawer.tsx';
import { Facets, filterOf } from './facets.tsx';
import { MemoryRow } from './row.tsx';
import { Transfer } from './transfer.tsx';

const sorts = ['created', 'updated', 'importance', 'last_used', 'uses'] as const;

/** A search by meaning is of one space, and finds messages as well; here only memories have a row. */
async function bestMatches(query: string, filter: Query): Promise<Memory[]> {
  const body = { query, kind: 'memory', limit: 50, ...filter };
  const pages = await Promise.all(eachSpace().map((one) => call<FoundPage>('POST', address('/v1/memories/search', { space: one }), body)));
  const found = pages.flatMap((p) => p.results).sort((a, b) => b.score - a.score).slice(0, body.limit);
  const one = (f: Found) => call<Memory>('GET', `/v1/memories/${encodeURIComponent(f.id)}`).catch(() => null);
  return (await Promise.all(found.map(one))).filter((m): m is Memory => !!m);
}

/** Its row at the keys is the active one. */
const focusList = () => document.querySelector<HTMLElement>('[role="listbox"]')?.focus({ preventScroll: true });

export function Memories() {
  const query = route.value.query;
  const kept = draft('memories-search'), [typed, setTyped] = useState(query.q ?? (location.search ? '' : kept.get()));
  const find = useSettled(typed.trim()), isBest = query.how === 'best' && find !== '';
  const isMounted = useRef(false), facets = useSignal<FacetCounts>({}), [current, setCurrent] = useState(-1), [adds, setAdds] = useState(false);
  const [showsFacets, setShowsFacets] = useState(false);
  const picked = useSignal<Picked>(new Map());
  const filter = filterOf(query, isBest);
  const sort = chosen('sort', sorts), order = chosen('order', ['desc', 'asc']);
  useEffect(() => {
    kept.set(typed);
    refine({ q: find || undefined });
  }, [find]);
  // Back, and a link to this page, choose another text.
  useEffect(() => {
    if (isMounted.current && (query.q ?? '') !== find) setTyped(query.q ?? '');
    isMounted.current = true;
  }, [query.q]);
  const listQuery = { ...filter, contains: find };
  const rows = useRows<Memory>(async (offset, limit) => {
    if (isBest) {
      const items = offset ? [] : await bestMatches(find, filter);
      facets.value = (await get<MemoryPage>('/v1/memories', { limit: 1, facets: true })).facets ?? {};
      return { items, total: items.length };
    }
    const page = await get<MemoryPage>('/v1/memories', { ...listQuery, sort, order, offset, limit, facets: offset === 0 });
    if (page.facets) facets.value = page.facets;
    return { items: page.memories, total: page.total };
  }, [JSON.stringify(listQuery), sort, order, isBest, space.value]);
  const drop = (id: string) => {
    const next = new Map(picked.value), was = next.delete(id);
    if (was) picked.value = next;
    return was;
  };
  // Nothing is chosen that the list does not have.
  useEffect(() => void (picked.value = new Map()), [JSON.stringify(listQuery), isBest, space.value]);
  useEffect(() => {
    let timer = 0;
    const end = onChange(/^memory\./, (change) => {
      if (change.kind === 'memory.erased' && change.id) drop(change.id);
      clearTimeout(timer);
      timer = setTimeout(() => rows.reload(), 250) as unknown as number;
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, []);
  const total = rows.total.value ?? 0, at = (i: number) => rows.at(i);
  const edits = useRef(false);
  const open = (m: Memory | undefined, toEdit = false) => {
    edits.current = toEdit;
    if (m) openOver({ id: m.id });
  };
  const close = () => {
    closeOver('id');
    focusList();
  };
  const toggle = (m: Memory | undefined) => {
    if (!m) return;
    if (!drop(m.id)) picked.value = new Map([...picked.value, [m.id, m.space]]);
  };
  const move = (by: number) => {
    setCurrent(Math.max(0, Math.min(total - 1, current + by)));
    focusList();
  };
  useKeys({
    j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1),
    Enter: () => open(at(current)), e: () => open(at(current), true), x: () => toggle(at(current)), n: () => may('write') && setAdds(true),
    Delete: () => { const m = at(current); if (m && may('write') && !picked.value.size) void forgetOne(m); }, // those selected: see Bulk
    Escape: () => (query.id ? close() : (picked.value = new Map())),
  });
  return (
    <>
      <Head title={t('page memories')} about={t('memories about')}>
        <Transfer filter={isBest ? null : listQuery} />
        {may('write') && <Button look="main" icon="plus" keys="n" onClick={() => setAdds(true)}>{t('add')}</Button>}
      </Head>
      <div class="row">
        <Search value={typed} onInput={setTyped} label={t('search memories')} />
        <Segments label={t('how to search')} value={chosen('how', ['contains', 'best'])} onChange={(how) => refine({ how: how === 'best' ? how : undefined })}
          options={[['contains', t('contains')], ['best', t('best match')]]} />
        {!isBest && <div><Select label={t('sort')} value={sort} onChange={(s) => refine({ sort: s })} options={sorts.map((s) => [s, t(`sort ${s}`)])} /></div>}
        {!isBest && <Button icon="down" label={order === 'desc' ? t('descending') : t('ascending')} onClick={() => refine({ order: order === 'desc' ? 'asc' : undefined })} />}
        <Button class="narrow-only" icon="filter" aria-expanded={showsFacets} onClick={() => setShowsFacets(!showsFacets)}>{t('filters')}</Button>
      </div>
      {rows.error.value && <Failed error={rows.error.value as never} retry={rows.reload} />}
      <div class="with-side">
        <div class={showsFacets ? '' : 'wide-only'}><Facets counts={facets.value} query={query} isBest={isBest} /></div>
        <div class="stack">
          <Bulk picked={picked} total={total} all={{ filter: listQuery, spaces: space.value === '*' ? Object.keys(facets.value.space ?? {}) : [space.value] }} isBest={isBest}>
            <p class="small quiet number cut" role="status">{rows.total.value === null ? (isOnline.value && !rows.error.value ? t('loading') : '') : t('n memories', { n: total })}{find && !isBest ? ` ${t('that contain', { what: find })}` : ''}</p>
          </Bulk>
          {rows.total.value === 0
            ? <NoMemories isFiltered={!!find || Object.keys(filter).length > 0} isBest={isBest} />
            : (
              <div class="list">
                <Virtual<Memory> label={t('page memories')} current={current} rows={{ total, at, see: rows.see }}
                  row={(m, i) => <MemoryRow key={m?.id ?? i} memory={m} index={i} find={find} isAt={i === current} isOpen={!!m && m.id === query.id}
                    isPicked={!!m && picked.value.has(m.id)} onOpen={() => { setCurrent(i); open(m); }} onPick={() => { setCurrent(i); toggle(m); }} />} />
              </div>
            )}
        </div>
      </div>
      {query.id && <MemoryDrawer key={query.id} id={query.id} edits={edits} close={close} />}
      {adds && <AddMemory close={() => setAdds(false)} />}
      <span class="hidden-text" data-version={rows.version.value}>{number(total)}</span>
    </>
  );
}

function NoMemories({ isFiltered, isBest }: { isFiltered: boolean; isBest: boolean }) {
  return isFiltered
    ? <Empty title={t('nothing matches')}><p>{isBest ? t('nothing matches best') : t('nothing matches about')}</p></Empty>
    : <Empty title={t('no memories')}><p>{t('no memories about')}</p></Empty>;
}
