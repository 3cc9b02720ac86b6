// Who is looking, in which space, at what kind of server.
import { computed, signal } from '@preact/signals';
import { address, call, firstPages, get, lookAs, needsSignIn, Problem, request, space } from '../api/client.ts';
import { t } from '../i18n/index.ts';
import type { Me, Page, Setting, Space, Stats } from '../api/types.ts';

export const me = signal<Me | null>(null);
export const spaces = signal<Space[]>([]);
export const stats = signal<Stats | null>(null);
export const settings = signal<Setting[]>([]);
/** Whether memory is on; null: this caller may not know. */
export const isOn = computed(() => {
  const s = settings.value.find((x) => x.name === 'memory');
  return s ? s.value === true : null;
});
export type Scope = 'chat' | 'read' | 'write' | 'export' | 'manage';
const hasScope = (scope: Scope) => !me.value?.scopes || me.value.scopes.split(',').includes(scope);
/** Whether the caller's token allows it. Another user's memory can only be read. */
export const may = (scope: Scope): boolean => hasScope(scope) && (!lookAs.value || scope === 'read');
/** Who runs the server, and who manages people as well; an admin of one user is neither. */
export const isOperator = computed(() => settings.value.length > 0 && me.value?.role !== 'member');
export const isOwner = computed(() => isOperator.value && me.value?.role === 'owner');

/** Chats by decision: those that were given nothing. */
export const isSilent = (decision: string) => decision === 'none' || decision === 'failed' || decision === 'off';
export const chatsGiven = (decisions: Record<string, number>) => Object.entries(decisions).reduce((n, [d, chats]) => n + (isSilent(d) ? 0 : chats), 0);

export async function readStats() {
  stats.value = await get<Stats>('/v1/stats', { space: space.value === '*' ? '*' : space.value });
}

/** The chosen space by its name; '' for all of them. */
export const named = () => (space.value === '*' ? '' : space.value || me.value?.space || '');

/** For what the server does in one space only: the chosen one, or each. */
export const eachSpace = () => (space.value === '*' ? spaces.value.map((s) => s.space) : [space.value]);

/** Parts and settings are shown to admins; others would only be refused. */
export const mayAsk = () => !!me.value?.is_admin && may('manage');

export async function readSettings() {
  if (!mayAsk()) return void (settings.value = []);
  try {
    settings.value = (await call<{ items: Setting[] }>('GET', '/v1/settings')).items;
  } catch (e) {
    if (!(e instanceof Problem) || e.status === 0) throw e;
    settings.value = [];
  }
}

/** All of a list, whatever its length. */
export const every = async <T>(path: string, query: Record<string, boolean> = {}): Promise<T[]> =>
  (await firstPages<T>(Infinity, (cursor) => call<Page<T>>('GET', address(path, { ...query, limit: 500, cursor })))).items;

export const everySpace = () => every<Space>('/v1/spaces');

/** A chosen space may have been erased, here or in another tab. */
export async function readSpaces() {
  spaces.value = await everySpace();
  if (space.value && space.value !== '*' && !spaces.value.some((s) => s.space === space.value)) chooseSpace('');
}

/** Chats, drafts and choices are those of one person: another one begins with an empty page. */
function leave(): Promise<never> {
  sessionStorage.clear();
  location.replace(location.pathname);
  return new Promise(() => undefined); // nothing more is asked meanwhile
}

const isAnother = (now: Me) => !!me.value && (me.value.user !== now.user || me.value.space !== now.space);

export async function readMe() {
  try {
    const now = await call<Me>('GET', '/v1/me');
    if (isAnother(now)) await leave();
    me.value = now;
  } catch (e) {
    if (e instanceof Problem && e.status === 404) me.value = null;
    else throw e;
  }
}

export async function begin() {
  await readMe();
  await Promise.all([readSpaces(), readSettings()]);
  const names = spaces.value.map((s) => s.space);
  if (!space.value && !spaces.value.some((s) => s.own) && names.length) chooseSpace(names.includes('default') ? 'default' : names[0]!);
  await readStats();
}

export function chooseSpace(name: string) {
  sessionStorage.setItem('space', name);
  space.value = name;
}

/** Shows what another user has; '' is the caller again. */
export async function lookAt(user: string) {
  settings.value = []; // who looks only reads, and is no operator meanwhile
  me.value = null;
  lookAs.value = user;
  chooseSpace('');
  await begin();
}

export async function setOn(on: boolean) {
  await call('PATCH', '/v1/settings', { memory: on });
  await readSettings();
}

export async function signIn(token: string) {
  const now = await call<Me>('POST', '/v1/sign-in', { token });
  if (now.scopes && !now.scopes.split(',').includes('read')) {
    await request('DELETE', '/v1/sign-in');
    throw new Problem(403, 'forbidden', t('may not read'));
  }
  if (isAnother(now)) await leave();
  needsSignIn.value = false;
  await begin();
}

export async function signOut() {
  await request('DELETE', '/v1/sign-in');
  needsSignIn.value = true;
  await leave();
}
