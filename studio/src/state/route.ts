// The address is the page: /studio/NAME?what, kept in step with the browser's history.
import { signal } from '@preact/signals';

export const pageNames = ['start', 'memories', 'try', 'receipts', 'sessions', 'timeline', 'engine', 'cleanup', 'access'] as const;
export type PageName = (typeof pageNames)[number];
export interface Route { page: PageName; query: Record<string, string> }

function read(): Route {
  const name = location.pathname.replace(/^\/studio\/?/, '').replace(/^\/+|\/+$/g, '');
  const page = (pageNames as readonly string[]).includes(name) ? (name as PageName) : 'start';
  return { page, query: Object.fromEntries(new URLSearchParams(location.search)) };
}

export const route = signal<Route>(read());
addEventListener('popstate', () => (route.value = read()));

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

/** Changes the query of the page in place: a filter is no new page. */
export function refine(query: Record<string, string | undefined>) {
  history.replaceState(null, '', addressOf(route.value.page, { ...route.value.query, ...query }));
  route.value = read();
}
