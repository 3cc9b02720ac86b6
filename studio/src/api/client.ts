// Requests to the server that served the page. A failure is a Problem, whose sentence a person can read.
import { signal } from '@preact/signals';
import { t } from '../i18n/index.ts';
import { refused } from '../i18n/said.ts';
import type { Page } from './types.ts';

export class Problem extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly field: string | null = null) {
    super(message);
  }
}

export const isOnline = signal(true);
export const needsSignIn = signal(false);
/** The space that requests name; '' is the caller's own. */
export const space = signal(sessionStorage.getItem('space') ?? '');
/** Another user, whom an operator has chosen to look at. */
export const lookAs = signal('');

export type Query = Record<string, string | number | boolean | null | undefined>;

export function address(path: string, query: Query = {}): string {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== '' && value !== false) q.set(name, String(value));
  return q.size ? `${path}?${q}` : path;
}

/** What a server says is wrong, whatever shape it has. */
export function sentenceOf(detail: unknown): string {
  if (!detail || typeof detail !== 'object') return String(detail ?? '');
  const { message, detail: inner, msg } = detail as Record<string, unknown>, told = message ?? inner ?? msg;
  if (told) return sentenceOf(told);
  return Array.isArray(detail) ? detail.map(sentenceOf).join('; ') : JSON.stringify(detail);
}

async function problemOf(res: Response, isModels = false): Promise<Problem> {
  const text = await res.text();
  try {
    const body = JSON.parse(text);
    const inner = body.error && typeof body.error === 'object' ? body.error : body;
    const detail = inner.detail ?? inner.message ?? body.message ?? body.error ?? text;
    return new Problem(res.status, String(inner.code ?? ''), sentenceOf(detail) || res.statusText, inner.field ?? inner.param ?? null);
  } catch {
    return new Problem(res.status, '', /^\s*</.test(text) ? t(isModels ? 'answer of a page' : 'answer of a proxy', { status: String(res.status) }) : text.slice(0, 300) || res.statusText);
  }
}

/** isModels: the answer may be a model server's, whose 401 is about its own key. */
export interface Options { headers?: Record<string, string>; signal?: AbortSignal; raw?: BodyInit; isModels?: boolean }

/** The response itself. Throws Problem when the server refuses, or cannot be reached (status 0). */
export async function request(method: string, path: string, body?: unknown, options: Options = {}): Promise<Response> {
  const headers: Record<string, string> = { ...options.headers };
  // A header's characters are bytes.
  if (lookAs.value) headers['X-Memory-Look-As'] = String.fromCharCode(...new TextEncoder().encode(lookAs.value));
  let res: Response;
  try {
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    res = await fetch(path, {
      method, headers, credentials: 'same-origin', cache: 'no-store', signal: options.signal ?? null,
      body: options.raw ?? (body === undefined ? null : JSON.stringify(body)),
    });
  } catch (e) {
    if (e instanceof DOMException && e.name === 'AbortError') throw e;
    isOnline.value = false;
    throw new Problem(0, 'unreachable', t('unreachable'));
  }
  isOnline.value = true;
  if (res.status === 401 && (!options.isModels || (await fetch('/v1/me', { cache: 'no-store' })).status === 401)) needsSignIn.value = true;
  if (!res.ok) throw await problemOf(res, options.isModels);
  return res;
}

export async function call<T>(method: string, path: string, body?: unknown, options?: Options): Promise<T> {
  const res = await request(method, path, body, options);
  const text = await res.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

/** GET in the chosen space. */
export function get<T>(path: string, query: Query = {}, options?: Options): Promise<T> {
  return call<T>('GET', address(path, { space: space.value, ...query }), undefined, options);
}

/** The first pages of a list as one, n of them, or as many as it takes until enough. */
export async function firstPages<T>(n: number, read: (cursor: string | null) => Promise<Page<T>>, enough: (items: T[]) => boolean = () => true): Promise<Page<T>> {
  const all = await read(null);
  for (let i = 1; all.next && (i < n || !enough(all.items)); i++) {
    const { items, next } = await read(all.next);
    all.items.push(...items);
    all.next = next;
  }
  return all;
}

/** A one-line reason, in the language of the page. */
export const reason = (e: unknown): string => refused(e instanceof Error ? e.message : String(e), e instanceof Problem ? e.field : null);
