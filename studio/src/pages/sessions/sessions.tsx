// Conversations: what was said, what was learnt from it, what its chats were given.
import { useState } from 'preact/hooks';
import { call, get, Problem, space } from '../../api/client.ts';
import type { MessageContext, SessionItem } from '../../api/types.ts';
import { t } from '../../i18n/index.ts';
import { Ago, Button, Empty, Failed, Head, Search, tryTo } from '../../parts/basics.tsx';
import { toast } from '../../parts/toasts.tsx';
import { closeOver, go, openOver, refine, route } from '../../state/route.ts';
import { may } from '../../state/session.ts';
import { useKeys, useLoaded, useRowKeys, useSettled } from '../../state/use.ts';
import { useEffect } from 'preact/hooks';
import { Transcript } from './transcript.tsx';

interface SessionList { sessions: SessionItem[]; total: number; next: string | null }

export function Sessions() {
  const query = route.value.query, [typed, setTyped] = useState(''), asked = useSettled(typed.trim()), [limit, setLimit] = useState(50);
  const list = useLoaded(() => get<SessionList>('/v1/sessions', { query: asked, limit: asked ? 100 : Math.min(limit, 100) }), [asked, limit], /^(session|turn|message)\./);
  useEffect(() => {
    if (!query.message) return;
    const path = `/v1/messages/${encodeURIComponent(query.message)}?around=0`;
    call<MessageContext>('GET', path).then((c) => refine({ message: undefined, id: c.message.session, at: c.message.id }), (e: Problem) => toast({ text: e.message, isBad: true }));
  }, [query.message]);
  const distil = () => tryTo(async () => {
    await call('POST', '/v1/jobs', { kind: 'distil' });
    toast({ text: t('distil begun'), action: t('page engine'), run: () => go('engine') });
  });
  const close = () => closeOver('id', 'at', 'space');
  useRowKeys();
  useKeys(query.id && !query.receipt ? { Escape: close } : {});
  const all = list.data.value?.sessions ?? [];
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
                  <button type="button" data-row class={`item session${s.id === query.id ? ' open' : ''}`} onClick={() => openOver({ id: s.id, space: space.value === '*' ? s.app_id : undefined, at: s.message_id })}>
                    <span class="lines"><span class="cut" dir="auto">{s.title || s.id}</span><span class="tiny quiet cut" dir="auto">{s.text && s.text !== s.title ? s.text : t('n messages', { n: s.message_count })}{space.value === '*' ? ` · ${s.app_id}` : ''}</span></span>
                    <span class="tiny quiet"><Ago at={s.updated_at} /></span>
                  </button>
                </li>
              ))}
            </ul>
            {list.data.value?.next && limit < 100 && <div><Button onClick={() => setLimit(100)}>{t('more')}</Button></div>}
          </div>
        )}
        {query.id && <Transcript key={`${query.space}/${query.id}`} id={query.id} inSpace={query.space ?? ''} at={query.at} close={close} />}
      </div>
    </>
  );
}
