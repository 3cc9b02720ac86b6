// A chat beside what its model was given; and what would be different under other conditions.
import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Receipt } from '../../api/types.ts';
import { t } from '../../i18n/index.ts';
import { Button, Empty, Field, Head, Segments, Select } from '../../parts/basics.tsx';
import { builtIn, NoChats, useModels } from '../../parts/models.tsx';
import { ReceiptView } from '../../parts/receipt.tsx';
import { keptBySpace, makeTalk, OneSpace, Say, TalkView, type Turn } from '../../parts/talk.tsx';
import { chosen, refine } from '../../state/route.ts';
import { Simulate } from './simulate.tsx';

const modes = ['full', 'readonly', 'after', 'off'];
const model = signal(''), mode = signal('full');
function newTalk() {
  const shown = signal<Receipt | null>(null);
  const talk = makeTalk(signal<Turn[]>([]), signal(false), {
    model: () => model.value, mode: () => (mode.value === 'full' ? '' : mode.value), onReceipt: (r) => (shown.value = r),
  });
  return { talk, shown };
}
const talks = keptBySpace(newTalk);

export function Try() {
  const tab = chosen('tab', ['chat', 'simulate']);
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
  const offered = useModels(), names = offered?.names ?? [], why = useRef<HTMLElement>(null), { talk, shown } = talks.current(), turns = talk.turns;
  // On a phone the panel is below the chat.
  const show = (r: Receipt) => {
    shown.value = r;
    why.current?.scrollIntoView({ block: 'nearest' });
    why.current?.focus({ preventScroll: true });
  };
  return (
    <div class="columns two">
      <section class="card" aria-label={t('tab chat')}>
        <header>
          <div class="row grow">
            {names.length > 1 && <Field label={t('model')}><Select label={t('model')} value={model.value || names[0]!} onChange={(m) => (model.value = m)} options={names.map((m) => [m, m])} /></Field>}
            <Field label={t('memory in this chat')}><Select label={t('memory in this chat')} value={mode.value} onChange={(m) => (mode.value = m)} options={modes.map((m) => [m, t(`mode ${m}` as 'mode full')])} /></Field>
          </div>
          <Button icon="plus" onClick={talks.renew}>{t('new chat')}</Button>
        </header>
        <div class="stack pad">
          <NoChats />
          <OneSpace />
          {turns.value.length ? <TalkView talk={talk} onReceipt={show} current={shown.value?.id} /> : <Empty title={t('try empty')}><p>{t('try empty about')} {offered && !offered.error && t(names.every((n) => n === builtIn) ? 'stays here' : 'goes to model')}</p></Empty>}
          <Say key={talk.session} talk={talk} name="try" label={t('message')} />
        </div>
      </section>
      <section class="card" aria-label={t('why this answer')} ref={why} tabIndex={-1}>
        <header>
          <h2>{t('why this answer')}</h2>
          {shown.value && <Button small icon="try" onClick={() => refine({ tab: 'simulate', q: shown.value?.question })}>{t('what if')}</Button>}
        </header>
        <div class="pad">
          {shown.value ? <ReceiptView receipt={shown.value} /> : <p class="quiet">{t(turns.value.length && !talk.isBusy.value ? 'no receipt off' : 'no receipt yet')}</p>}
        </div>
      </section>
    </div>
  );
}
