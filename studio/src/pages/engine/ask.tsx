// Before a job that has no dry run: what it will do, with numbers.
import { address, call } from '../../api/client.ts';
import { t, word } from '../../i18n/index.ts';
import { Failed, Loading } from '../../parts/basics.tsx';
import { Confirm } from '../../parts/layers.tsx';
import { everySpace, settings } from '../../state/session.ts';
import { useLoaded } from '../../state/use.ts';

const totalOf = async (path: string, query: Record<string, string | boolean>) => (await call<{ total: number }>('GET', address(path, { ...query, space: '*', limit: 1 } as never))).total;

/** Receipts go after so many days: the server's setting. */
const receiptDays = () => Number(settings.value.find((s) => s.name === 'receipt_days')?.value ?? 30);

const asks: Record<string, () => Promise<string>> = {
  distil: async () => {
    return t('ask distil', { n: (await everySpace()).reduce((n, s) => n + s.waiting, 0) });
  },
  reindex: async () => t('ask reindex', { n: (await call<{ vectors: { waiting: number } }>('GET', '/v1/engine')).vectors.waiting }),
  prune: async () => {
    const days = receiptDays(), now = new Date(), before = new Date(now.getTime() - days * 864e5);
    const [memories, receipts] = await Promise.all([
      totalOf('/v1/memories', { expiring: now.toISOString(), closed: true }), totalOf('/v1/receipts', { before: before.toISOString() })]);
    return `${t('ask prune memories', { n: memories })} ${t('ask prune receipts', { n: receipts, days: String(days) })} ${t('ask prune')}`;
  },
};
export const isAsked = (kind: string) => kind in asks;

export function AskJob({ kind, close, run }: { kind: string; close: () => void; run: () => unknown }) {
  const { data, error } = useLoaded(asks[kind]!, [kind]);
  return (
    <Confirm title={word('job', kind)} text={data.value ?? ''} action={word('job', kind)} isHarmless={kind !== 'prune'} isWaiting={!data.value} close={close} run={run}>
      {error.value ? <Failed error={error.value} /> : !data.value && <Loading />}
    </Confirm>
  );
}
