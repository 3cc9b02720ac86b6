// Short news at the edge of the page, with a way back where there is one.
import { signal } from '@preact/signals';
import { call, reason } from '../api/client.ts';
import { t } from '../i18n/index.ts';

export interface Toast { text: string; isBad?: boolean; action?: string; run?: () => void | Promise<void>; ms?: number }
interface Shown extends Toast { id: number }

const shown = signal<Shown[]>([]);
let last = 0;

export function toast(news: Toast) {
  const id = ++last;
  shown.value = [...shown.value.slice(-2), { ...news, id }];
  setTimeout(() => drop(id), news.ms ?? (news.isBad ? 10000 : news.run ? 10000 : 4000));
}

function drop(id: number) {
  shown.value = shown.value.filter((s) => s.id !== id);
}

/** After a change that the server can undo. */
export function toastUndo(text: string, undo: string | null | undefined) {
  if (!undo) return toast({ text });
  toast({
    text, action: t('undo'),
    run: async () => {
      try {
        await call('POST', `/v1/undo/${encodeURIComponent(undo)}`);
        toast({ text: t('put back') });
      } catch (e) {
        toast({ text: reason(e), isBad: true });
      }
    },
  });
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map((s) => (
        <div key={s.id} class={s.isBad ? 'toast bad-news' : 'toast'}>
          <span class="grow">{s.text}</span>
          {s.run && <button type="button" class="button small-button" onClick={() => { drop(s.id); void s.run?.(); }}>{s.action}</button>}
          <button type="button" class="button small-button" aria-label={t('close')} onClick={() => drop(s.id)}>×</button>
        </div>
      ))}
    </div>
  );
}
