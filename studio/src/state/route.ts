// The address is the page: /studio/NAME?what, kept in step with the browser's history.
import { signal } from '@preact/signals';

export const pageNames = ['start', 'memories', 'try', 'receipts', 'sessions', 'timeline', 'engine', 'cleanup', 'access'] as const;
export type PageName = (typeof pageNames)[number];
/** page is null when no page has the name in the address. */
export interface Route { page: PageName | null; query: Record<string, string> }

function read(): Route {
  const name = location.pathname.replace(/^\/studio\/?/, '').replace(/^\/+|\/+$/g, '');
  const page = name === '' ? 'start' : (pageNames as readonly string[]).includes(name) ? (name as PageName) : null;
  return { page, query: Object.fromEntries(new URLSearchParams(location.search)) };
}

export const route = signal<Route>(read());
addEventListener('popstate', () => (route.value = read()));

/** What the address chooses by this name; what it does not know is the first. */
export function chosen<T extends string>(name: string, names: readonly T[]): T {
  return names.find((n) => n === route.value.query[name]) ?? names[0]!;
}

export function addressOf(page: PageName, query: Record<string, string | undefined> = {}): string {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) q.set(name, value);
  const path = page === 'start' ? '/' : `/studio/${page}`;
  return q.size ? `${path}?${q}` : path;
}

export function go(page: PageName, query: Record<string, string | undefined> = {}) {
  history.pushState(null, '', addressOf(page, query));
  route.value = read();
  scrollTo(0, 0);
}

const here = (query: Record<string, string | undefined>) => addressOf(route.value.page ?? 'start', query);

/** Changes the query of the page in place: a filter is no new page. */
export function refine(query: Record<string, string | undefined>) {
  history.replaceState(history.state, '', here({ ...route.value.query, ...query }));
  route.value = read();
}

/** What opens over the page is an entry of the history, which knows what is under it: Back closes it. Another one takes its place. */
export function openOver(query: Record<string, string | undefined>) {
  const under = here(route.value.query), at = here({ ...route.value.query, ...query });
  if (Object.keys(query).some((name) => query[name] && route.value.query[name])) history.replaceState(history.state, '', at);
  else history.pushState({ under }, '', at);
  route.value = read();
}

/** The way of Back, unless what is under it has changed meanwhile. */
export function closeOver(...names: string[]) {
  const rest = here({ ...route.value.query, ...Object.fromEntries(names.map((n) => [n, undefined])) });
  if (history.state?.under === rest) return history.back();
  history.replaceState(null, '', rest);
  route.value = read();
}
