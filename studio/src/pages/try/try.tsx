// A chat beside what its model was given; and what would be different under other conditions.
import { signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Receipt } from '../../api/types.ts';
import { t } from '../../i18n/index.ts';
import { Button, Empty, Field, Head, Segments, Select } from '../../parts/basics.tsx';
import { ReceiptView } from '../../parts/receipt.tsx';
import { makeTalk, models, Say, TalkView, type Turn } from '../../parts/talk.tsx';
import { refine, route } from '../../state/route.ts';
import { Simulate } from './simulate.tsx';

const modes = ['full', 'readonly', 'after', 'off'];
/** The talk outlives a change of page. */
const turns = signal<Turn[]>([]), isBusy = signal(false), shown = signal<Receipt | null>(null), round = signal(0);

export function Try() {
  const tab = route.value.query.tab ?? 'chat';
  return (
    <>
      <Head title={t('page try')} about={t('try about')}>
        <Segments label={t('page try')} value={tab} onChange={(x) => refine({ tab: x === 'chat' ? undefined : x })} options={[['chat', t('tab chat')], ['simulate', t('tab simulate')]]} />
      </Head>
      {tab === 'simulate' ? <Simulate /> : <Chat />}
    </>
  );
}

function Chat() {
  const names = useSignal<string[]>([]), [model, setModel] = useState(''), [mode, setMode] = useState('full');
  useEffect(() => void models().then((all) => (names.value = all)), []);
  const chosen = { model, mode };
  const live = useMemo(() => ({ now: chosen }), []);
  live.now = chosen;
  const talk = useMemo(() => makeTalk(turns, isBusy, {
    model: () => live.now.model, mode: () => (live.now.mode === 'full' ? '' : live.now.mode), onReceipt: (r) => (shown.value = r),
  }), [round.value]);
  const fresh = () => {
    turns.value = [];
    shown.value = null;
    round.value++;
  };
  return (
    <div class="columns two">
      <section class="card" aria-label={t('tab chat')}>
        <header>
          <div class="row grow">
            {names.value.length > 1 && <Field label={t('model')}><Select label={t('model')} value={model || names.value[0]!} onChange={setModel} options={names.value.map((m) => [m, m])} /></Field>}
            <Field label={t('memory in this chat')}><Select label={t('memory in this chat')} value={mode} onChange={setMode} options={modes.map((m) => [m, t(`mode ${m}` as 'mode full')])} /></Field>
          </div>
          <Button icon="plus" onClick={fresh}>{t('new chat')}</Button>
        </header>
        <div class="stack pad">
          {turns.value.length ? <TalkView talk={talk} onReceipt={(r) => (shown.value = r)} current={shown.value?.id} /> : <Empty title={t('try empty')}><p>{t('try empty about')}</p></Empty>}
          <Say talk={talk} name="try" label={t('message')} />
        </div>
      </section>
      <section class="card" aria-label={t('why this answer')}>
        <header>
          <h2>{t('why this answer')}</h2>
          {shown.value && <Button small icon="try" onClick={() => refine({ tab: 'simulate', q: shown.value?.question })}>{t('what if')}</Button>}
        </header>
        <div class="pad">
          {shown.value ? <ReceiptView receipt={shown.value} /> : <p class="quiet">{t('no receipt yet')}</p>}
        </div>
      </section>
    </div>
  );
}
