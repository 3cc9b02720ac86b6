// One conversation, with marks where something was learnt and where something was recalled.
import { useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { address, call, firstPages } from '../../api/client.ts';
import type { Memory, Message, Page, ReceiptItem, SessionItem } from '../../api/types.ts';
import { t, time } from '../../i18n/index.ts';
import { answered } from '../../i18n/said.ts';
import { Button, Chip, Empty, Failed, Segments, tryTo } from '../../parts/basics.tsx';
import { InPlace } from '../../parts/in-place.tsx';
import { Dialog, TypedConfirm } from '../../parts/layers.tsx';
import { toastUndo } from '../../parts/toasts.tsx';
import { closeOver, go, openOver, route } from '../../state/route.ts';
import { useLoaded } from '../../state/use.ts';
import { may, named } from '../../state/session.ts';
import { forgetText } from '../memories/bulk.tsx';
import { ReceiptDrawer } from '../receipts/receipts.tsx';

/** So many messages are read to come to the one that a link names. */
const farthest = 20000;

interface Parts { messages: Page<Message>; memories: Memory[]; receipts: ReceiptItem[]; episodes: Memory[] }

export function Transcript({ id, inSpace, at, close }: { id: string; inSpace: string; at: string | undefined; close: () => void }) {
  const path = `/v1/sessions/${encodeURIComponent(id)}`, of = { space: inSpace || named() };
  const receipt = route.value.query.receipt, [tab, setTab] = useState('said'), [forgets, setForgets] = useState(false), pages = useSignal(1);
  const session = useLoaded(() => call<SessionItem>('GET', address(path, of)), [id], /^session\./);
  const parts = useLoaded<Parts>(async () => {
    const read = <T,>(what: string, n: number, cursor: string | null = null) => call<T>('GET', address(`${path}/${what}`, { ...of, limit: n, cursor }));
    const hasMarked = (all: Message[]) => !at || all.length >= farthest || all.some((m) => m.id === at);
    const [messages, memories, receipts, episodes] = await Promise.all([
      firstPages(pages.value, (cursor) => read<Page<Message>>('messages', 200, cursor), hasMarked),
      read<Page<Memory>>('memories', 500), read<Page<ReceiptItem>>('receipts', 500), read<Page<Memory>>('episodes', 50)]);
    return { messages, memories: memories.items, receipts: receipts.items, episodes: episodes.items };
  }, [id, at, pages.value], /^(turn|message|memory|receipt)\./);
  const p = parts.data.value, error = session.error.value ?? parts.error.value;
  const rename = (title: string) => tryTo(() => call('PATCH', address(path, of), { title }));
  const forget = (everything: boolean) => tryTo(async () => {
    if (everything) {
      const res = await call<{ undo?: string }>('DELETE', address(`/v1/memories/${encodeURIComponent(id)}`, { ...of, undo: true }));
      toastUndo(t('conversation forgotten'), res.undo, [id]);
    } else await call('DELETE', address(path, of));
    close();
  });
  return (
    <section class="card" aria-label={t('conversation')}>
      <header>
        <InPlace key={String(!session.data.value)} name={`${inSpace}/${id}:title`} isBare isFixed={!may('write') || !session.data.value} value={session.data.value?.title || id} label={t('title')} keep={(title) => rename(title.trim())}
          wrongIn={(title) => (title.trim() ? '' : t('title empty'))} />
        <div class="row tight">
          {may('write') && error?.status !== 404 && <Button small look="danger" icon="trash" onClick={() => setForgets(true)}>{t('forget')}</Button>}
          <Button small look="plain" icon="close" label={t('close')} onClick={close} />
        </div>
      </header>
      <div class="stack pad">
        {error && (error.status === 404 ? <Empty title={t('gone by now')} /> : <Failed error={error} retry={parts.reload} />)}
        <div class="row"><Segments label={t('conversation')} value={tab} onChange={setTab}
          options={[['said', t('tab said')], ['learnt', t('tab learnt', { n: p?.memories.length ?? 0 })], ['episodes', t('tab episodes', { n: p?.episodes.length ?? 0 })]]} /></div>
        {p && tab === 'said' && <Said parts={p} at={at} onReceipt={(id) => openOver({ receipt: id })} onForget={(m) => void forgetText(m.id, m.text, of)} />}
        {p && tab === 'said' && p.messages.next && <div><Button onClick={() => (pages.value = Math.ceil(p.messages.items.length / 200) + 1)}>{t('more')}</Button></div>}
        {p && tab === 'learnt' && <Learnt memories={p.memories} />}
        {p && tab === 'episodes' && <Learnt memories={p.episodes} />}
      </div>
      {forgets && <Forget id={id} forget={forget} close={() => setForgets(false)} />}
      {receipt && <ReceiptDrawer key={receipt} id={receipt} close={() => closeOver('receipt')} />}
    </section>
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
        const text = m.role === 'user' ? m.text : answered(m.text);
        return (
          <div key={m.id} class={`said ${m.role === 'user' ? 'user' : 'assistant'}`} ref={m.id === at ? marked : undefined}>
            <p class="wrap" dir="auto">{m.id === at ? <mark>{text}</mark> : text}</p>
            <div class="under">
              <span>{m.speaker || t(m.role === 'user' ? 'you' : 'model')} · {time(m.created)}</span>
              {learnt.has(m.id) && <button type="button" class="chip good" onClick={() => go('memories', { session: m.session })}>{t('learnt n', { n: learnt.get(m.id)! })}</button>}
              {m.role === 'user' && m.recalls === 'nothing' && <Chip>{t('not recalled')}</Chip>}
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
