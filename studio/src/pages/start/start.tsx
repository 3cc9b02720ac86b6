// The first minute: say something, open a second chat, ask, see the answer and why.
import { signal } from '@preact/signals';
import { t } from '../../i18n/index.ts';
import { Button, Head, tryTo } from '../../parts/basics.tsx';
import { Icon } from '../../parts/icons.tsx';
import { NoChats } from '../../parts/models.tsx';
import { keptBySpace, makeTalk, OneSpace, Say, TalkView, type Turn } from '../../parts/talk.tsx';
import { closeOver, openOver, route } from '../../state/route.ts';
import { isOn, isOperator, setOn } from '../../state/session.ts';
import { ReceiptDrawer } from '../receipts/receipts.tsx';
import { Snippets } from './snippets.tsx';

const newTalk = () => makeTalk(signal<Turn[]>([]), signal(false), {});
const steps = keptBySpace(() => ({ first: newTalk(), second: newTalk(), isSecond: signal(false), hasSeenWhy: signal(false) }));

function Step({ no, isDone, children }: { no: number; isDone: boolean; children: string }) {
  return (
    <li class={isDone ? 'done' : ''}>
      <span class="tick">{isDone ? <Icon name="check" /> : no}</span>
      <span>{children}{isDone && <span class="hidden-text"> ({t('done')})</span>}</span>
    </li>
  );
}

function Paused() {
  return (
    <div class="notice" role="alert">
      <span class="grow">{t('paused about')}</span>
      {isOperator.value && <Button small icon="play" onClick={() => tryTo(() => setOn(true))}>{t('go on')}</Button>}
    </div>
  );
}

export function Start() {
  const { first, second, isSecond, hasSeenWhy } = steps.current(), why = route.value.query.why;
  // Without memory there is no receipt, and nothing was remembered.
  const hasSaid = first.turns.value.some((turn) => turn.receipt);
  const showWhy = (no: number) => (r: { id: string }) => {
    if (no === 2) hasSeenWhy.value = true;
    openOver({ why: r.id });
  };
  return (
    <>
      <Head title={t('start title')} about={t('start about')}>
        {first.turns.value.length > 0 && <Button icon="refresh" onClick={steps.renew}>{t('start over')}</Button>}
      </Head>
      {isOn.value === false && <Paused />}
      <NoChats />
      <OneSpace />
      <ol class="steps card pad">
        <Step no={1} isDone={hasSaid}>{t('step 1')}</Step>
        <Step no={2} isDone={isSecond.value}>{t('step 2')}</Step>
        <Step no={3} isDone={hasSeenWhy.value}>{t('step 3')}</Step>
      </ol>
      <div class="columns two even">
        <section class="card" aria-label={t('first chat')}>
          <header><h2>{t('first chat')}</h2></header>
          <div class="stack pad">
            <TalkView talk={first} onReceipt={showWhy(1)} current={why} />
            <Say key={first.session} talk={first} name="start-1" label={t('say something')} suggest={t('example statement')} />
          </div>
        </section>
        <section class="card" aria-label={t('second chat')}>
          <header><h2>{t('second chat')}</h2><span class="tiny quiet">{t('knows nothing of the first')}</span></header>
          <div class="stack pad">
            {isSecond.value ? (
              <>
                <TalkView talk={second} onReceipt={showWhy(2)} current={why} />
                <Say key={second.session} talk={second} name="start-2" label={t('ask about it')} suggest={t('example question')} isFirst={!second.turns.value.length} />
              </>
            ) : (
              <div class="empty">
                <p>{hasSaid ? t('now open') : t('say first')}</p>
                <Button look={hasSaid ? 'main' : undefined} icon="plus" disabled={!hasSaid} onClick={() => (isSecond.value = true)}>{t('open second chat')}</Button>
              </div>
            )}
          </div>
        </section>
      </div>
      <Snippets />
      {why && <ReceiptDrawer key={why} id={why} title={t('why this answer')} close={() => closeOver('why')} />}
    </>
  );
}
