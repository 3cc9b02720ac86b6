// One memory: correct it in place; how it came about, and who was given it.
import { useRef, useState } from 'preact/hooks';
import { address, call, request } from '../../api/client.ts';
import type { HistoryItem, Memory, MessageContext, Page, ReceiptItem } from '../../api/types.ts';
import { decimal, t, time, word } from '../../i18n/index.ts';
import { answered, nameOf, said } from '../../i18n/said.ts';
import { Ago, Button, Chip, Empty, Failed, Loading, Segments, tryTo } from '../../parts/basics.tsx';
import { Drawer } from '../../parts/layers.tsx';
import { Decision } from '../../parts/receipt.tsx';
import { toastUndo } from '../../parts/toasts.tsx';
import { go } from '../../state/route.ts';
import { may } from '../../state/session.ts';
import { useLoaded } from '../../state/use.ts';
import { brief, forgetOne } from './bulk.tsx';
import { MemoryFields } from './fields.tsx';
import { isClosed } from './row.tsx';

const tabs = ['details', 'history', 'source', 'uses'] as const;
type Tab = (typeof tabs)[number];

/** edits: whether the text is to be edited at once. */
interface MemoryDrawerProps { id: string; edits: { current: boolean }; close: () => void }

export function MemoryDrawer({ id, edits, close }: MemoryDrawerProps) {
  const [tab, setTab] = useState<Tab>('details');
  const path = `/v1/memories/${encodeURIComponent(id)}`;
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const read = async (answer: Promise<Response>) => {
    const res = await answer;
    return { m: (await res.json()) as Memory, version: res.headers.get('ETag') ?? '', undo: res.headers.get('X-Rememberd-Undo') };
  };
  const { data, error, reload } = useLoaded(() => read(request('GET', path)), [id], /^memory\./);
  const m = data.value?.m;
  /** One behind the other; a text only in place of the one that is shown. */
  const put = (members: Partial<Memory>) => tryTo(async () => {
    const headers: Record<string, string> = 'content' in members ? { 'If-Match': data.value!.version } : {};
    const now = await read(request('PATCH', `${path}?undo=true`, members, { headers }));
    data.value = now;
    toastUndo(t('changed what', { what: Object.keys(members).map(nameOf).join(', '), of: brief(now.m.content) }), now.undo, [id]);
  }).then((isKept) => {
    if (!isKept) reload();
    return isKept;
  });
  const change = (members: Partial<Memory>) => {
    const next = last.current.then(() => put(members));
    last.current = next;
    return next;
  };
  const forget = async () => {
    close();
    if (m) await forgetOne(m);
  };
  return (
    <Drawer title={t('memory')} close={close} actions={m && may('write') && <Button small look="danger" icon="trash" onClick={forget}>{t('forget')}</Button>}>
      {error.value && (error.value.status === 404 ? <Empty title={t('gone by now')} /> : <Failed error={error.value} retry={reload} />)}
      {m && error.value?.status !== 404 && (
        <>
          {isClosed(m) && <div class="row"><Chip look="warn">{t('closed')}</Chip><span class="small quiet">{m.superseded_by ? t('replaced by a newer one') : t('closed about')}</span></div>}
          <Segments label={t('memory')} value={tab} onChange={(v) => setTab(v as Tab)} options={tabs.map((x) => [x, t(`tab ${x}`)])} />
          {tab === 'details' && <MemoryFields memory={m} change={change} edits={edits} />}
          {tab === 'history' && <History path={path} />}
          {tab === 'source' && (m.source ? <Source path={path} /> : <NoSource />)}
          {tab === 'uses' && <Uses path={path} />}
        </>
      )}
    </Drawer>
  );
}

function History({ path }: { path: string }) {
  const { data, error } = useLoaded(() => call<Page<HistoryItem>>('GET', `${path}/history`), [path], /^memory\./);
  if (error.value) return <Failed error={error.value} />;
  return (
    <ol class="stack">
      {data.value?.items.map((h, i) => (
        <li key={i} class="stack close">
          <span class="small"><strong>{word('event', h.event)}</strong> <span class="quiet">{time(h.at)}</span></span>
          {h.content && <span class="wrap" dir="auto">{h.content}</span>}
          {h.before && Object.entries(h.before).map(([name, was]) => (
            <span key={name} class="small quiet wrap">{t('was', { name: nameOf(name), what: typeof was === 'object' ? JSON.stringify(was) : String(was) })}</span>
          ))}
        </li>
      ))}
    </ol>
  );
}

const cut = (text: string) => (text.length > 600 ? `${text.slice(0, 600)}…` : text);
const NoSource = () => <Empty title={t('no source')}><p>{t('no source about')}</p></Empty>;

function Source({ path }: { path: string }) {
  const { data, error } = useLoaded(() => call<MessageContext>('GET', `${path}/source?around=3`), [path]);
  if (error.value) return error.value.status === 404 ? <NoSource /> : <Failed error={error.value} />;
  const c = data.value;
  if (!c) return <Loading />;
  return (
    <div class="stack">
      <div class="talk">
        {[...c.before, c.message, ...c.after].map((msg) => (
          <div key={msg.id} class={`said ${msg.role === 'user' ? 'user' : 'assistant'}`}>
            <p class="wrap" dir="auto">{cut(msg.role === 'user' ? msg.text : answered(msg.text))}</p>
            {msg.id === c.message.id && <div class="under"><Chip look="accent">{t('learnt here')}</Chip><span>{time(msg.created)}</span></div>}
          </div>
        ))}
      </div>
      <div><Button small icon="sessions" onClick={() => go('sessions', { id: c.message.session, space: c.message.space, at: c.message.id })}>{t('show conversation')}</Button></div>
    </div>
  );
}

function Uses({ path }: { path: string }) {
  const { data, error } = useLoaded(() => call<Page<ReceiptItem>>('GET', address(`${path}/uses`, { limit: 50 })), [path], /^receipt\./);
  if (error.value) return <Failed error={error.value} />;
  if (data.value && !data.value.items.length) return <Empty title={t('never given')}><p>{t('never given about')}</p></Empty>;
  return (
    <ul class="stack">
      {data.value?.items.map((r) => (
        <li key={r.id} class="stack close">
          <button type="button" class="facet" onClick={() => go('receipts', { id: r.id })}>
            <span class="cut" dir="auto">{r.question || t('no question kept')}</span><span class="tiny quiet"><Ago at={r.created} /></span>
          </button>
          <span class="tiny quiet row"><Decision value={r.decision} />{r.score != null && decimal(r.score)} {said(r.why)}</span>
        </li>
      ))}
    </ul>
  );
}
