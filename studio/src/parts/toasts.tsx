// Short news at the edge of the page, with a way back where there is one.
import { signal } from '@preact/signals';
import { call, reason } from '../api/client.ts';
import { t } from '../i18n/index.ts';

/** about: the ids that the news is of; '*' is everything. */
export interface Toast { text: string; isBad?: boolean; action?: string; run?: () => void | Promise<void>; ms?: number; about?: string[] }
interface Shown extends Toast { id: number }

const most = 3;
const shown = signal<Shown[]>([]);
let last = 0;

const share = (a: string[] = [], b: string[] = []) => a.length > 0 && b.length > 0 && (a.includes('*') || b.includes('*') || a.some((id) => b.includes(id)));

/** News of a thing takes the place of older news of it: the server undoes only the last change. */
export function toast(news: Toast) {
  const id = ++last;
  shown.value = [...shown.value.filter((s) => !share(s.about, news.about)).slice(1 - most), { ...news, id }];
  setTimeout(() => drop(id), news.ms ?? (news.isBad ? 10000 : news.run ? 10000 : 4000));
}

function drop(id: number) {
  shown.value = shown.value.filter((s) => s.id !== id);
}

/** After a change that the server can undo. */
export function toastUndo(text: string, undo: string | string[] | null | undefined, about: string[], isBad = false) {
  const all = [undo ?? []].flat();
  if (!all.length) return toast({ text, about, isBad });
  toast({
    text, about, isBad, action: t('undo'),
    run: async () => {
      try {
        for (const one of all) await call('POST', `/v1/undo/${encodeURIComponent(one)}`);
        toast({ text: t('put back'), about });
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
          <span class="grow wrap">{s.text}</span>
          {s.run && <button type="button" class="button small-button" onClick={() => { drop(s.id); void s.run?.(); }}>{s.action}</button>}
          <button type="button" class="button small-button" aria-label={t('close')} onClick={() => drop(s.id)}>×</button>
        </div>
      ))}
    </div>
  );
}
