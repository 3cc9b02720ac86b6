// A conversation with a model through this server. Its own text is never read as HTML.
import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { call, reason } from '../api/client.ts';
import { chat, receiptOf, type Said } from '../api/chat.ts';
import type { Receipt } from '../api/types.ts';
import { t } from '../i18n/index.ts';
import { draft } from '../state/looks.ts';
import { Button, Chip } from './basics.tsx';
import { toast } from './toasts.tsx';

export interface Turn extends Said { receipt?: Receipt | null }
export interface Talk { session: string; turns: Signal<Turn[]>; isBusy: Signal<boolean>; send: (text: string) => Promise<void> }

const newSession = () => `studio-${crypto.randomUUID().slice(0, 8)}`;

let modelNames: Promise<string[]> | null = null;
/** The models that this server offers, best guess first. */
export function models(): Promise<string[]> {
  modelNames ??= call<{ data: { id: string }[] }>('GET', '/v1/models').then((list) => list.data.map((m) => m.id), () => ['rememberd/demo']);
  return modelNames;
}

interface TalkOptions { model?: () => string; mode?: () => string; onReceipt?: (receipt: Receipt, talk: Talk) => void }

export function makeTalk(turns: Signal<Turn[]>, isBusy: Signal<boolean>, options: TalkOptions): Talk {
  const talk: Talk = {
    session: newSession(), turns, isBusy,
    send: async (text) => {
      const before = turns.value;
      const said: Turn[] = [...before, { role: 'user', content: text }];
      turns.value = [...said, { role: 'assistant', content: '' }];
      isBusy.value = true;
      try {
        const model = options.model?.() || (await models())[0] || 'rememberd/demo';
        const mode = options.mode?.();
        const reply = await chat({
          model, session: talk.session, messages: said.map(({ role, content }) => ({ role, content })), ...(mode ? { mode } : {}),
          onText: (so) => (turns.value = [...said, { role: 'assistant', content: so }]),
        });
        const receipt = reply.receipt ? await receiptOf(reply.receipt).catch(() => null) : null;
        turns.value = [...said, { role: 'assistant', content: reply.text, receipt }];
        if (receipt) options.onReceipt?.(receipt, talk);
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

export function TalkView({ talk, onReceipt, current }: { talk: Talk; onReceipt?: (r: Receipt) => void; current?: string | undefined }) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: 'nearest' }), [talk.turns.value]);
  return (
    <div class="talk" aria-live="polite">
      {talk.turns.value.map((turn, i) => (
        <div key={i} class={`said ${turn.role}`}>
          <span class="hidden-text">{turn.role === 'user' ? t('you') : t('model')}</span>
          <p class="wrap">{turn.content || '…'}</p>
          {turn.receipt && (
            <div class="under">
              {turn.receipt.lines.some((l) => l.injected)
                ? <Chip look="accent">{t('given n', { n: turn.receipt.lines.filter((l) => l.injected).length })}</Chip>
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

interface SayProps { talk: Talk; name: string; label: string; hint?: string; suggest?: string }

export function Say({ talk, name, label, hint, suggest }: SayProps) {
  const kept = draft(name), text = useSignal(kept.get());
  const set = (value: string) => {
    text.value = value;
    kept.set(value);
  };
  const send = async () => {
    const said = text.value.trim();
    if (!said || talk.isBusy.value) return;
    set('');
    await talk.send(said).catch(() => set(said));
  };
  return (
    <form class="stack close" onSubmit={(e) => { e.preventDefault(); void send(); }}>
      <div class="row tight">
        <textarea class="input grow" rows={2} aria-label={label} placeholder={hint ?? label} value={text.value} data-say={name}
          onInput={(e) => set(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
              e.preventDefault();
              void send();
            }
          }} />
        <Button type="submit" look="main" icon="send" label={t('send')} disabled={talk.isBusy.value || !text.value.trim()} />
      </div>
      {suggest && !text.value && <div><Button small look="plain" class="suggest" onClick={() => set(suggest)}>{t('for example')} “{suggest}”</Button></div>}
    </form>
  );
}
