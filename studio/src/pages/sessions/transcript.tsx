// One conversation, with marks where something was learnt and where something was recalled.
import { useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { address, call, space } from '../../api/client.ts';
import type { Memory, Message, Page, ReceiptItem, SessionItem } from '../../api/types.ts';
import { t, time } from '../../i18n/index.ts';
import { Button, Chip, Empty, Failed, Segments, tryTo } from '../../parts/basics.tsx';
import { Dialog, TypedConfirm } from '../../parts/layers.tsx';
import { toastUndo } from '../../parts/toasts.tsx';
import { closeOver, go, openOver, route } from '../../state/route.ts';
import { useLoaded } from '../../state/use.ts';
import { may } from '../../state/session.ts';
import { forgetText } from '../memories/bulk.tsx';
import { ReceiptDrawer } from '../receipts/receipts.tsx';

interface Parts { messages: Page<Message>; memories: Memory[]; receipts: ReceiptItem[]; episodes: Memory[] }

export function Transcript({ id, inSpace, at, close }: { id: string; inSpace: string; at: string | undefined; close: () => void }) {
  const path = `/v1/sessions/${encodeURIComponent(id)}`, named = { space: inSpace || (space.value === '*' ? '' : space.value) };
  const receipt = route.value.query.receipt, [tab, setTab] = useState('said'), [forgets, setForgets] = useState(false), limit = useSignal(200);
  const session = useLoaded(() => call<SessionItem>('GET', address(path, named)), [id], /^session\./);
  const parts = useLoaded<Parts>(async () => {
    const of = <T,>(what: string, n: number) => call<T>('GET', address(`${path}/${what}`, { ...named, limit: n }));
    const [messages, memories, receipts, episodes] = await Promise.all([
      of<Page<Message>>('messages', limit.value), of<Page<Memory>>('memories', 200), of<Page<ReceiptItem>>('receipts', 200), of<Page<Memory>>('episodes', 50)]);
    return { messages, memories: memories.items, receipts: receipts.items, episodes: episodes.items };
  }, [id, limit.value], /^(turn|message|memory|receipt)\./);
  const p = parts.data.value, error = session.error.value ?? parts.error.value;
  const rename = (title: string) => tryTo(() => call('PATCH', address(path, named), { title }));
  const forget = (everything: boolean) => tryTo(async () => {
    if (everything) {
      const res = await call<{ undo?: string }>('DELETE', address(`/v1/memories/${encodeURIComponent(id)}`, { ...named, undo: true }));
      toastUndo(t('conversation forgotten'), res.undo, [id]);
    } else await call('DELETE', address(path, named));
    close();
  });
  return (
    <section class="card" aria-label={t('conversation')}>
      <header>
        <Title key={session.data.value?.title} title={session.data.value?.title ?? id} rename={rename} />
        <div class="row tight">
          {may('write') && <Button small look="danger" icon="trash" onClick={() => setForgets(true)}>{t('forget')}</Button>}
          <Button small look="plain" icon="close" label={t('close')} onClick={close} />
        </div>
      </header>
      <div class="stack pad">
        {error && (error.status === 404 ? <Empty title={t('gone by now')} /> : <Failed error={error} retry={parts.reload} />)}
        <div class="row"><Segments label={t('conversation')} value={tab} onChange={setTab}
          options={[['said', t('tab said')], ['learnt', t('tab learnt', { n: p?.memories.length ?? 0 })], ['episodes', t('tab episodes', { n: p?.episodes.length ?? 0 })]]} /></div>
        {p && tab === 'said' && <Said parts={p} at={at} onReceipt={(of) => openOver({ receipt: of })} onForget={(m) => void forgetText(m.id, m.text, named)} />}
        {p && tab === 'said' && p.messages.next && <div><Button onClick={() => (limit.value = 500)}>{t('more')}</Button></div>}
        {p && tab === 'learnt' && <Learnt memories={p.memories} />}
        {p && tab === 'episodes' && <Learnt memories={p.episodes} />}
      </div>
      {forgets && <Forget id={id} forget={forget} close={() => setForgets(false)} />}
      {receipt && <ReceiptDrawer key={receipt} id={receipt} close={() => closeOver('receipt')} />}
    </section>
  );
}

function Title({ title, rename }: { title: string; rename: (title: string) => void }) {
  const [text, setText] = useState(title);
  return (
    <input class="input grow" dir="auto" aria-label={t('title')} readOnly={!may('write')} value={text} onInput={(e) => setText(e.currentTarget.value)} onBlur={() => text.trim() && text !== title && rename(text.trim())}
      onKeyDown={(e) => {
        if (e.key === 'Enter') e.currentTarget.blur();
        if (e.key === 'Escape' && text !== title) {
          e.stopPropagation();
          setText(title);
        }
      }} />
  );
}

interface SaidProps { parts: Parts; at: string | undefined; onReceipt: (id: string) => void; onForget: (m: Message) => void }

function Said({ parts, at, onReceipt, onForget }: SaidProps) {
  const marked = useRef<HTMLDivElement>(null);
  useEffect(() => marked.current?.scrollIntoView({ block: 'center' }), [at, parts.messages.items.length]);
  const learnt = new Map<string, number>();
  for (const m of parts.memories) learnt.set(m.source, (learnt.get(m.source) ?? 0) + 1);
  const given = parts.receipts.filter((r) => r.given > 0);
  return (
    <div class="talk">
      {parts.messages.items.map((m) => {
        const receipt = m.role === 'user' ? given.find((r) => m.text.includes(r.question) || Math.abs(+new Date(r.created) - +new Date(m.created)) < 50) : undefined;
        return (
          <div key={m.id} class={`said ${m.role === 'user' ? 'user' : 'assistant'}`} ref={m.id === at ? marked : undefined}>
            <p class="wrap" dir="auto">{m.id === at ? <mark>{m.text}</mark> : m.text}</p>
            <div class="under">
              <span>{m.speaker || t(m.role === 'user' ? 'you' : 'model')} · {time(m.created)}</span>
              {learnt.has(m.id) && <button type="button" class="chip good" onClick={() => go('memories', { session: m.session })}>{t('learnt n', { n: learnt.get(m.id)! })}</button>}
              {receipt && <button type="button" class="chip accent" onClick={() => onReceipt(receipt.id)}>{t('lines given', { n: receipt.given })}</button>}
              {may('write') && <Button small look="plain" icon="trash" label={t('forget message')} onClick={() => onForget(m)} />}
            </div>
          </div>
        );
      })}
    </div>
  );
}

function Learnt({ memories }: { memories: Memory[] }) {
  if (!memories.length) return <Empty title={t('nothing learnt')}><p>{t('nothing learnt about')}</p></Empty>;
  return (
    <ul class="stack close">
      {memories.map((m) => <li key={m.id}><button type="button" class="facet" onClick={() => go('memories', { id: m.id })}><span class="wrap" dir="auto">{m.content}</span>{m.valid_to && <Chip look="warn">{t('closed')}</Chip>}</button></li>)}
    </ul>
  );
}

function Forget({ id, forget, close }: { id: string; forget: (everything: boolean) => Promise<boolean>; close: () => void }) {
  const [keeps, setKeeps] = useState(false);
  if (keeps) return <TypedConfirm title={t('forget messages')} text={t('forget messages about')} word={id.slice(0, 12)} action={t('forget')} close={close} run={() => forget(false)} />;
  return (
    <Dialog title={t('forget conversation')} close={close}>
      <p>{t('forget conversation about')}</p>
      <div class="row">
        <Button look="danger" icon="trash" onClick={() => { close(); void forget(true); }}>{t('forget all of it')}</Button>
        <Button onClick={() => setKeeps(true)}>{t('keep what was learnt')}</Button>
        <Button look="plain" onClick={close}>{t('cancel')}</Button>
      </div>
    </Dialog>
  );
}
