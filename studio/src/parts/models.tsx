// The models that this server offers, and what is said where it offers none.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { call, Problem, reason } from '../api/client.ts';
import { t } from '../i18n/index.ts';
import { lookAs } from '../api/client.ts';
import { may } from '../state/session.ts';
import { Button } from './basics.tsx';

/** The built-in model: it repeats what is remembered, and needs no model server. */
export const builtIn = 'rememberd/demo';
interface Models { names: string[]; error: Problem | null }
const known = signal<Models | null>(null);

export async function readModels(): Promise<Models> {
  try {
    const list = await call<{ data: { id: string }[] }>('GET', '/v1/models', undefined, { isModels: true });
    known.value = { names: list.data.map((m) => m.id), error: null };
  } catch (e) {
    known.value = { names: [builtIn], error: e instanceof Problem ? e : new Problem(0, '', String(e)) };
  }
  return known.value;
}

/** Best guess first; null until it is known. */
export function useModels(): Models | null {
  useEffect(() => {
    if (may('chat') && (!known.value || known.value.error)) void readModels();
  }, []);
  return known.value;
}

export const firstModel = async () => (known.value ?? (await readModels())).names[0] ?? builtIn;
export const isOnlyBuiltIn = (m: Models | null) => !!m && !m.error && m.names.every((n) => n === builtIn);

/** Why there are no chats here: the caller may not, or a model server that does not answer. */
export function NoChats() {
  const error = useModels()?.error;
  if (lookAs.value) return <div class="notice" role="status">{t('chats are your own')}</div>;
  if (!may('chat')) return <div class="notice" role="status">{t('may not chat')}</div>;
  if (!error || error.status === 0) return null;
  return (
    <div class="notice bad-news" role="alert">
      <span class="grow wrap">{t('no model server', { reason: reason(error) })}</span>
      <Button small icon="refresh" onClick={() => void readModels()}>{t('again')}</Button>
    </div>
  );
}
