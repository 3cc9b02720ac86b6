// What chats were given, as it happens.
import { useState } from 'preact/hooks';
import { call, firstPages, get } from '../../api/client.ts';
import type { Page, Receipt, ReceiptItem } from '../../api/types.ts';
import { number, t, took } from '../../i18n/index.ts';
import { Ago, Button, Empty, Failed, Head, Segments } from '../../parts/basics.tsx';
import { Drawer } from '../../parts/layers.tsx';
import { Decision, ReceiptView } from '../../parts/receipt.tsx';
import { chosen, closeOver, go, openOver, refine, route } from '../../state/route.ts';
import { useKeys, useLoaded, useRowKeys } from '../../state/use.ts';

const shows: Record<string, (r: ReceiptItem) => boolean> = {
  all: () => true, given: (r) => r.given > 0, silent: (r) => r.given === 0 && r.decision !== 'failed', failed: (r) => r.decision === 'failed',
};

export function Receipts() {
  const query = route.value.query, show = chosen('show', ['all', 'given', 'silent', 'failed']);
  const filter = { session: query.session, memory: query.memory, ...(show === 'failed' ? { decision: 'failed' } : {}) };
  const [pages, setPages] = useState(1);
  const { data, error, reload } = useLoaded(() => firstPages(pages, (cursor) => get<Page<ReceiptItem>>('/v1/receipts', { ...filter, cursor, limit: 100 })), [JSON.stringify(filter), pages], /^receipt\./);
  const { items, next, total } = data.value ?? { items: [], next: null, total: 0 }, isLoaded = data.value !== null;
  useRowKeys();
  useKeys(query.id ? { Escape: () => closeOver('id') } : {});
  const shown = items.filter(shows[show]!), isPart = show === 'given' || show === 'silent';
  const counted = !isPart ? t('n receipts', { n: total }) : t(next ? 'n of the newest receipts' : 'n of receipts', { n: shown.length, of: number(items.length) });
  return (
    <>
      <Head title={t('page receipts')} about={t('receipts about')} />
      <div class="row">
        <Segments label={t('filters')} value={show} onChange={(x) => refine({ show: x === 'all' ? undefined : x })}
          options={[['all', t('show all')], ['given', t('show given')], ['silent', t('show silent')], ['failed', t('show failed')]]} />
        {query.session && <Button small icon="close" onClick={() => refine({ session: undefined })}>{`${t('session')}: ${query.session}`}</Button>}
        {query.memory && <Button small icon="close" onClick={() => refine({ memory: undefined })}>{`${t('memory')}: ${query.memory.slice(0, 8)}`}</Button>}
        <span class="grow" />
        <span class="small quiet number" role="status">{counted}</span>
      </div>
      {error.value && <Failed error={error.value} retry={reload} />}
      {isLoaded && !shown.length && !error.value && (items.length > 0 || show !== 'all') && <Empty title={t('no such receipts')} />}
      {isLoaded && !items.length && show === 'all' && !error.value && <Empty title={t('no receipts')}><p>{t('no receipts about')}</p><Button look="main" icon="try" onClick={() => go('try')}>{t('page try')}</Button></Empty>}
      {shown.length > 0 && (
        <div class="card table-box">
          <table>
            <caption class="hidden-text">{t('page receipts')}</caption>
            <thead><tr><th scope="col" class="wide-only">{t('when')}</th><th scope="col">{t('question')}</th><th scope="col">{t('decision')}</th><th scope="col" class="wide-only">{t('lines')}</th><th scope="col">{t('tokens')}</th><th scope="col" class="wide-only">{t('took')}</th></tr></thead>
            <tbody>
              {shown.map((r) => (
                <tr key={r.id}>
                  <td class="small quiet short wide-only"><Ago at={r.created} /></td>
                  <td><button type="button" class="facet" data-row onClick={() => openOver({ id: r.id })}><span class="wrap" dir="auto">{r.question || t('no question kept')}</span></button><span class="narrow-only tiny quiet"><Ago at={r.created} /></span></td>
                  <td class="short"><Decision value={r.decision} /></td>
                  <td class="number short wide-only">{r.given} / {r.considered}</td>
                  <td class="number">{r.tokens}</td>
                  <td class="number short wide-only">{took(r.took_us)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {next && <div><Button onClick={() => setPages(pages + 1)}>{t('more')}</Button></div>}
      {query.id && <ReceiptDrawer key={query.id} id={query.id} close={() => closeOver('id')} />}
    </>
  );
}

export function ReceiptDrawer({ id, title, close }: { id: string; title?: string; close: () => void }) {
  const { data, error, reload } = useLoaded(() => call<Receipt>('GET', `/v1/receipts/${encodeURIComponent(id)}`), [id]);
  const r = data.value;
  return (
    <Drawer title={title ?? t('receipt')} close={close} actions={r && <Button small icon="try" aria-label={t('what if')} onClick={() => go('try', { tab: 'simulate', q: r.question })}><span class="wide-only">{t('what if')}</span></Button>}>
      {error.value && (error.value.status === 404 ? <Empty title={t('gone by now')} /> : <Failed error={error.value} retry={reload} />)}
      {r && (
        <>
          <ReceiptView receipt={r} onOpen={(l) => (l.kind === 'memory' ? go('memories', { id: l.id }) : go('sessions', { message: l.id }))} />
          <div><Button small icon="sessions" onClick={() => go('sessions', { id: r.session, space: r.space })}>{t('show conversation')}</Button></div>
        </>
      )}
    </Drawer>
  );
}
