// Memories that could go, as one list: each by itself, or all of them after a question.
import { useState } from 'preact/hooks';
import { get } from '../../api/client.ts';
import type { Memory, MemoryPage } from '../../api/types.ts';
import { day, t } from '../../i18n/index.ts';
import { Ago, Button, Empty, Failed, Loading } from '../../parts/basics.tsx';
import { Confirm } from '../../parts/layers.tsx';
import { go } from '../../state/route.ts';
import { may } from '../../state/session.ts';
import { useLoaded } from '../../state/use.ts';
import { bulk, forgetOne, pick } from '../memories/bulk.tsx';

const graceDays = 7, most = 100;

/** What is younger could not be of use yet. */
async function unused(): Promise<Memory[]> {
  const before = new Date(Date.now() - graceDays * 864e5).toISOString();
  return (await get<MemoryPage>('/v1/memories', { sort: 'uses', order: 'asc', before, limit: most })).memories.filter((m) => m.uses === 0);
}

export const Unused = () => <Few read={unused} about={t('unused about', { n: graceDays })} empty={t('no unused')} />;

const expiring = async () => (await get<MemoryPage>('/v1/memories', { expiring: 30, sort: 'created', limit: most })).memories;

export const Expiring = () => <Few read={expiring} about={t('expiring about')} empty={t('no expiring')} />;

function Few({ read, about, empty }: { read: () => Promise<Memory[]>; about: string; empty: string }) {
  const { data, error, reload } = useLoaded(read, [], /^memory\./), [asked, setAsked] = useState<Memory[] | null>(null);
  const all = data.value ?? [], n = all.length;
  const forget = (memories: Memory[]) => bulk(pick(memories), { action: 'delete' }, (n) => t('forgotten', { n }));
  if (error.value) return <Failed error={error.value} retry={reload} />;
  if (!data.value) return <Loading />;
  if (!n) return <Empty title={empty}><p>{about}</p></Empty>;
  return (
    <section class="card" aria-label={t('memories')}>
      <header>
        <span class="small quiet grow">{n === most ? t('first n memories', { n }) : t('n memories', { n })}. {about}</span>
        {may('write') && <Button small look="danger" icon="trash" onClick={() => setAsked(all)}>{t('forget these ask')}</Button>}
      </header>
      <ul>
        {all.map((m) => (
          <li key={m.id} class="item plain-item">
            <button type="button" class="facet grow" onClick={() => go('memories', { id: m.id })}><span class="cut" dir="auto">{m.content}</span></button>
            <span class="tiny quiet">{m.expires ? `${t('expires')} ${day(m.expires)}` : <Ago at={m.created} />}</span>
            {may('write') && <Button small look="plain" icon="trash" label={t('forget')} onClick={() => void forgetOne(m)} />}
          </li>
        ))}
      </ul>
      {asked && (
        <Confirm title={t('forget n', { n: asked.length })} text={t('forget n about')} action={t('forget n', { n: asked.length })} close={() => setAsked(null)} run={() => forget(asked)}>
          <ul class="few" tabIndex={0} aria-label={t('memories')}>{asked.map((m) => <li key={m.id} class="wrap" dir="auto">{m.content}</li>)}</ul>
        </Confirm>
      )}
    </section>
  );
}
