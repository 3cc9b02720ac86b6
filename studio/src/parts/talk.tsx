// A conversation with a model through this server. Its own text is never read as HTML.
import { signal, useSignal, type Signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { reason, space } from '../api/client.ts';
import { chat, receiptOf, type Said } from '../api/chat.ts';
import type { Receipt } from '../api/types.ts';
import { t } from '../i18n/index.ts';
import { answered } from '../i18n/said.ts';
import { draft } from '../state/looks.ts';
import { may, me } from '../state/session.ts';
import { Button, Chip } from './basics.tsx';
import { firstModel } from './models.tsx';
import { givenText } from './receipt.tsx';
import { toast } from './toasts.tsx';

export interface Turn extends Said { receipt?: Receipt | null }
export interface Talk { session: string; space: string; turns: Signal<Turn[]>; isBusy: Signal<boolean>; send: (text: string) => Promise<void> }

/** randomUUID is not there for a page over plain HTTP from another machine. */
const newSession = () => `studio-${crypto.getRandomValues(new Uint32Array(1))[0]!.toString(16).padStart(8, '0')}`;

/** The space that a chat is in: under all spaces, the caller's own. */
export const spaceOfChats = () => (space.value === '*' ? '' : space.value);

/** onReceipt: of the last answer; null when memory was off and there is none. */
interface TalkOptions { model?: () => string; mode?: () => string; onReceipt?: (receipt: Receipt | null) => void }

export function makeTalk(turns: Signal<Turn[]>, isBusy: Signal<boolean>, options: TalkOptions): Talk {
  const talk: Talk = {
    session: newSession(), space: spaceOfChats(), turns, isBusy,
    send: async (text) => {
      const before = turns.value;
      const said: Turn[] = [...before, { role: 'user', content: text }];
      turns.value = [...said, { role: 'assistant', content: '' }];
      isBusy.value = true;
      try {
        const model = options.model?.() || await firstModel();
        const mode = options.mode?.();
        const reply = await chat({
          model, session: talk.session, space: talk.space, messages: said.map(({ role, content }) => ({ role, content })), ...(mode ? { mode } : {}),
          onText: (so) => (turns.value = [...said, { role: 'assistant', content: so }]),
        });
        const receipt = reply.receipt ? await receiptOf(reply.receipt).catch(() => null) : null;
        turns.value = [...said, { role: 'assistant', content: reply.text, receipt }];
        options.onReceipt?.(receipt);
      } catch (e) {
        turns.value = before;
        toast({ text: reason(e), isBad: true });
        throw e;
      } finally {
        isBusy.value = false;
      }
    },
  };
  return talk;
}

/** One of these for each space, which outlives a change of page. */
export function keptBySpace<T>(make: () => T): { current: () => T; renew: () => void } {
  const all = new Map<string, T>(), turn = signal(0);
  const renew = () => {
    all.set(spaceOfChats(), make());
    turn.value++;
  };
  const current = () => {
    void turn.value;
    if (!all.has(spaceOfChats())) all.set(spaceOfChats(), make());
    return all.get(spaceOfChats())!;
  };
  return { current, renew };
}

/** Under all spaces: which one this is of. */
export function OneSpace() {
  return space.value === '*' ? <p class="notice" role="status">{t('of one space', { space: me.value?.space ?? '' })}</p> : null;
}

export function TalkView({ talk, onReceipt, current }: { talk: Talk; onReceipt?: (r: Receipt) => void; current?: string | undefined }) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: 'nearest' }), [talk.turns.value]);
  return (
    <div class="talk" aria-live="polite">
      {talk.turns.value.map((turn, i) => (
        <div key={i} class={`said ${turn.role}`}>
          <span class="hidden-text">{turn.role === 'user' ? t('you') : t('model')}</span>
          <p class="wrap" dir="auto">{(turn.role === 'user' ? turn.content : answered(turn.content)) || '…'}</p>
          {turn.receipt && (
            <div class="under">
              {turn.receipt.lines.some((l) => l.injected)
                ? <Chip look="accent">{givenText(turn.receipt.lines)}</Chip>
                : <Chip>{t('no memory given')}</Chip>}
              {onReceipt && <Button small look="plain" aria-pressed={current === turn.receipt.id} onClick={() => onReceipt(turn.receipt!)}>{t('why')}</Button>}
            </div>
          )}
        </div>
      ))}
      <div ref={end} />
    </div>
  );
}

interface SayProps { talk: Talk; name: string; label: string; suggest?: string; isFirst?: boolean }

/** isFirst: the person is to type here now. */
export function Say({ talk, name, label, suggest, isFirst }: SayProps) {
  const kept = draft(`${name}:${talk.space}`), text = useSignal(kept.get()), box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => void (isFirst && box.current?.focus()), []);
  const set = (value: string) => {
    text.value = value;
    kept.set(value);
  };
  const send = async () => {
    const said = text.value.trim();
    if (!said || talk.isBusy.value) return;
    set('');
    await talk.send(said).catch(() => set([said, text.value].filter(Boolean).join('\n')));
  };
  return (
    <form class="stack close" onSubmit={(e) => { e.preventDefault(); void send(); }}>
      <div class="row tight">
        <textarea class="input grow" dir="auto" rows={2} aria-label={label} placeholder={label} value={text.value} data-say={name} ref={box} disabled={!may('chat')}
          onInput={(e) => set(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
              e.preventDefault();
              void send();
            }
          }} />
        <Button type="submit" look="main" icon="send" label={t('send')} disabled={talk.isBusy.value || !text.value.trim()} />
      </div>
      {suggest && !text.value && may('chat') && <div><Button small look="plain" class="suggest" onClick={() => { set(suggest); box.current?.focus(); }}>{t('for example', { what: suggest })}</Button></div>}
    </form>
  );
}
