// What changes on the server, whoever changed it: pages say what they show, and are asked to read it again.
import { effect, signal } from '@preact/signals';
import { address, isOnline, needsSignIn, space } from './client.ts';

export interface Change { kind: string; id: string | null; space: string | null }
type Listener = { kinds: RegExp; run: (change: Change) => void };

const listeners = new Set<Listener>();
export const isLive = signal(false);

/** Calls run for every change of these kinds, such as /^memory\./, and after a reset. Gives what ends it. */
export function onChange(kinds: RegExp, run: (change: Change) => void): () => void {
  const listener = { kinds, run };
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const written = new Set<string>();

/** When the receipt is on disk, as the stream tells it; after some time in any case. */
export function receiptWritten(id: string): Promise<void> {
  if (written.has(id)) return Promise.resolve();
  return new Promise((done) => {
    const end = onChange(/^receipt\.written$/, (c) => {
      if (c.id !== id) return;
      end();
      done();
    });
    setTimeout(() => (end(), done()), isLive.value ? 1500 : 200);
  });
}

function tell(change: Change) {
  if (change.kind === 'receipt.written' && change.id) {
    if (written.size > 200) written.clear();
    written.add(change.id);
  }
  for (const l of [...listeners]) if (change.kind === 'reset' || l.kinds.test(change.kind)) l.run(change);
}

const kinds = ['memory.added', 'memory.changed', 'memory.closed', 'memory.opened', 'memory.erased', 'turn.kept', 'message.erased',
  'session.added', 'session.changed', 'session.erased', 'space.added', 'space.erased', 'receipt.written', 'review.changed',
  'job.changed', 'settings.changed', 'reset'];

let source: EventSource | null = null;
let timer = 0;
let wasLost = false;
let hasSession = () => false;

/** A browser gives up on an answer such as 401 or 429; a lost server it asks again. */
async function lost() {
  isLive.value = false;
  wasLost = true;
  clearTimeout(timer);
  try {
    const isRefused = hasSession() && source?.readyState === EventSource.CLOSED, res = await fetch(isRefused ? '/v1/me' : '/health', { cache: 'no-store' });
    if (res.status === 401) return void (needsSignIn.value = true); // the session has ended
    isOnline.value = res.status < 500 || res.status === 503;
  } catch {
    isOnline.value = false;
  }
  if (source?.readyState === EventSource.CLOSED || !isOnline.value) timer = setTimeout(open, 1500) as unknown as number;
}

function open() {
  source?.close();
  if (needsSignIn.value) return;
  source = new EventSource(address('/v1/events', { space: space.value === '*' ? '' : space.value }));
  source.addEventListener('ready', () => {
    isLive.value = true;
    isOnline.value = true;
    if (wasLost) tell({ kind: 'reset', id: null, space: null });
    wasLost = false;
  });
  for (const kind of kinds)
    source.addEventListener(kind, (e) => {
      const data = JSON.parse((e as MessageEvent<string>).data);
      tell({ kind, id: data.id ?? null, space: data.space ?? null });
    });
  source.onerror = () => void lost();
}

/** isSignedIn: whether the page has a session, which can end. */
export function startLive(isSignedIn: () => boolean) {
  hasSession = isSignedIn;
  effect(() => {
    void space.value;
    if (needsSignIn.value) source?.close();
    else open();
  });
}
