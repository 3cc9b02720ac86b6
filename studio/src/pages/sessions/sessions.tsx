// Conversations: what was said, what was learnt from it, what its chats were given.
import { useState } from 'preact/hooks';
import { address, call, firstPages, get, Problem, reason, space } from '../../api/client.ts';
import type { MessageContext, Page, SessionItem } from '../../api/types.ts';
import { t } from '../../i18n/index.ts';
import { Ago, Button, Empty, Failed, Head, Search, tryTo } from '../../parts/basics.tsx';
import { toast } from '../../parts/toasts.tsx';
import { closeOver, go, openOver, refine, route } from '../../state/route.ts';
import { may, named } from '../../state/session.ts';
import { useKeys, useLoaded, useRowKeys, useSettled } from '../../state/use.ts';
import { useEffect } from 'preact/hooks';
import { Transcript } from './transcript.tsx';

/** Without a space the server lists the conversations of all. */
async function pageOf(query: string, cursor: string | null): Promise<Page<SessionItem>> {
  const { sessions, ...page } = await get<Page<SessionItem> & { sessions: SessionItem[] }>('/v1/sessions', { space: space.value || named(), query, cursor, limit: 100 });
  return { ...page, items: sessions };
}

export function Sessions() {
  const query = route.value.query, [typed, setTyped] = useState(''), asked = useSettled(typed.trim()), [pages, setPages] = useState(1);
  const list = useLoaded(() => firstPages(pages, (cursor) => pageOf(asked, cursor)), [asked, pages], /^(session|turn|message)\./);
  useEffect(() => {
    if (!query.message) return;
    const path = `/v1/messages/${encodeURIComponent(query.message)}?around=0`;
    call<MessageContext>('GET', path).then((c) => refine({ message: undefined, id: c.message.session, space: c.message.space, at: c.message.id }), (e: Problem) => toast({ text: reason(e), isBad: true }));
  }, [query.message]);
  const distil = () => tryTo(async () => {
    await call('POST', address('/v1/jobs', { space: named() }), { kind: 'distil' });
    toast({ text: t('distil begun'), action: t('page engine'), run: () => go('engine') });
  });
  const close = () => closeOver('id', 'at', 'space');
  useRowKeys();
  useKeys(query.id && !query.receipt ? { Escape: close } : {});
  const all = list.data.value?.items ?? [];
  return (
    <>
      <Head title={t('page sessions')} about={t('sessions about')}>{may('write') && <Button icon="engine" onClick={distil}>{t('distil now')}</Button>}</Head>
      <div class="row"><Search value={typed} onInput={setTyped} label={t('search conversations')} /><span class="small quiet number" role="status">{t('n sessions', { n: list.data.value?.total ?? 0 })}</span></div>
      {list.error.value && <Failed error={list.error.value} retry={list.reload} />}
      {list.data.value && !all.length && <Empty title={asked ? t('nothing matches') : t('no sessions')}><p>{t('no sessions about')}</p></Empty>}
      <div class={query.id ? 'columns two' : 'columns one'}>
        {all.length > 0 && (
          <div class={query.id ? 'stack wide-only' : 'stack'}>
            <ul class="list">
              {all.map((s) => (
                <li key={`${s.app_id}/${s.id}`}>
                  <button type="button" data-row class={`item session${s.id === query.id && s.app_id === (query.space ?? s.app_id) ? ' open' : ''}`} onClick={() => openOver({ id: s.id, space: s.app_id, at: s.message_id })}>
                    <span class="lines"><span class="cut" dir="auto">{s.title || s.id}</span><span class="tiny quiet cut" dir="auto">{s.text && s.text !== s.title ? s.text : t('n messages', { n: s.message_count })}{space.value === '*' ? ` · ${s.app_id}` : ''}</span></span>
                    <span class="tiny quiet"><Ago at={s.updated_at} /></span>
                  </button>
                </li>
              ))}
            </ul>
            {list.data.value?.next && <div><Button onClick={() => setPages(pages + 1)}>{t('more')}</Button></div>}
          </div>
        )}
        {query.id && <Transcript key={`${query.space}/${query.id}`} id={query.id} inSpace={query.space ?? ''} at={query.at} close={close} />}
      </div>
    </>
  );
}
