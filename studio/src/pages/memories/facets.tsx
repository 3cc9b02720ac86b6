// Filters with counts. What is chosen is in the address, so a reload or a link shows the same.
import type { Query } from '../../api/client.ts';
import type { Facets as Counts } from '../../api/types.ts';
import { number, startOf, t, word } from '../../i18n/index.ts';
import type { Key } from '../../i18n/en.ts';
import { Button, Field } from '../../parts/basics.tsx';
import { refine } from '../../state/route.ts';

const fields = ['layer', 'type', 'category', 'origin'] as const;
/** Those that a search by meaning applies as well. */
const ofBest = ['layer', 'type'] as const;
const others = ['session', 'tag', 'key', 'after', 'before', 'importance_min', 'importance_max', 'expiring'] as const;

/** The parameters of a list, from the address. */
export function filterOf(query: Record<string, string>, isBest: boolean): Query {
  const filter: Query = {};
  if (isBest) return Object.fromEntries(ofBest.filter((name) => query[name]).map((name) => [name, query[name]]));
  for (const name of [...fields, ...others]) if (query[name]) filter[name] = query[name];
  for (const name of ['after', 'before'] as const) if (/^\d{4}-\d\d-\d\d$/.test(query[name] ?? '')) filter[name] = startOf(query[name]!);
  for (const name of ['importance_min', 'importance_max'] as const) if (filter[name]) filter[name] = Number(filter[name]);
  if (query.closed === 'too') filter.closed = true;
  if (query.closed === 'only') filter.only_closed = true;
  return filter;
}

function Group({ name, counts, chosen }: { name: (typeof fields)[number]; counts: Record<string, number>; chosen: string | undefined }) {
  const all = Object.entries(counts).sort((a, b) => b[1] - a[1]).slice(0, 12);
  if (all.length < 2 && !chosen) return null;
  return (
    <div class="stack close" role="group" aria-label={t(`facet ${name}` as Key)}>
      <span class="label">{t(`facet ${name}` as Key)}</span>
      {all.map(([value, n]) => (
        <button key={value} type="button" class="facet" aria-pressed={value === chosen} disabled={value === ''}
          onClick={() => refine({ [name]: value === chosen ? undefined : value })}>
          <span class="cut">{word(name, value)}</span><span class="quiet number">{number(n)}</span>
        </button>
      ))}
    </div>
  );
}

interface FacetsProps { counts: Counts; query: Record<string, string>; isBest: boolean }

export function Facets({ counts, query, isBest }: FacetsProps) {
  const chosen = filterOf(query, isBest);
  return (
    <div class="stack">
      {(isBest ? ofBest : fields).map((name) => <Group key={name} name={name} counts={counts[name] ?? {}} chosen={query[name]} />)}
      {isBest ? <p class="tiny quiet">{t('filters of best')}</p> : <MoreFacets query={query} />}
      {Object.keys(chosen).length > 0 && (
        <Button small look="plain" icon="close"
          onClick={() => refine(Object.fromEntries([...fields, ...others, 'closed'].map((n) => [n, undefined])))}>{t('clear filters')}</Button>
      )}
    </div>
  );
}

function MoreFacets({ query }: { query: Record<string, string> }) {
  const set = (name: string) => (e: Event) => refine({ [name]: (e.currentTarget as HTMLInputElement).value || undefined });
  return (
    <>
      <Field label={t('created after')}><input class="input" type="date" value={query.after ?? ''} onChange={set('after')} /></Field>
      <Field label={t('created before')}><input class="input" type="date" value={query.before ?? ''} onChange={set('before')} /></Field>
      <Field label={t('least importance', { n: Number(query.importance_min ?? 0) })}>
        <input type="range" min="0" max="1" step="0.05" value={query.importance_min ?? 0}
          onChange={(e) => refine({ importance_min: e.currentTarget.value === '0' ? undefined : e.currentTarget.value })} />
      </Field>
      <div class="stack close" role="group" aria-label={t('closed')}>
        <button type="button" class="facet" aria-pressed={query.closed === 'too'} onClick={() => refine({ closed: query.closed === 'too' ? undefined : 'too' })}>{t('with closed')}</button>
        <button type="button" class="facet" aria-pressed={query.closed === 'only'} onClick={() => refine({ closed: query.closed === 'only' ? undefined : 'only' })}>{t('only closed')}</button>
        <button type="button" class="facet" aria-pressed={!!query.expiring} onClick={() => refine({ expiring: query.expiring ? undefined : '30' })}>{t('expire soon')}</button>
      </div>
      {others.filter((o) => query[o] && ['session', 'tag', 'key'].includes(o)).map((o) => (
        <Button key={o} small icon="close" onClick={() => refine({ [o]: undefined })}>{`${o}: ${query[o]}`}</Button>
      ))}
    </>
  );
}
