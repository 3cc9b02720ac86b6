// The first minute: say something, open a second chat, ask, see the answer and why.
import { useSignal } from '@preact/signals';
import { useMemo, useState } from 'preact/hooks';
import type { Receipt } from '../../api/types.ts';
import { t } from '../../i18n/index.ts';
import { Button, Head } from '../../parts/basics.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Drawer } from '../../parts/layers.tsx';
import { ReceiptView } from '../../parts/receipt.tsx';
import { makeTalk, Say, TalkView, type Turn } from '../../parts/talk.tsx';
import { Snippets } from './snippets.tsx';

function useTalk(key: number, onReceipt: (r: Receipt) => void) {
  const turns = useSignal<Turn[]>([]), isBusy = useSignal(false);
  return useMemo(() => {
    turns.value = [];
    return makeTalk(turns, isBusy, { onReceipt });
  }, [key]);
}

function Step({ no, isDone, children }: { no: number; isDone: boolean; children: string }) {
  return (
    <li class={isDone ? 'done' : ''}>
      <span class="tick">{isDone ? <Icon name="check" /> : no}</span>
      <span>{children}{isDone && <span class="hidden-text"> ({t('done')})</span>}</span>
    </li>
  );
}

export function Start() {
  const [round, setRound] = useState(0), [isSecond, setSecond] = useState(false), [recalled, setRecalled] = useState(false);
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  const first = useTalk(round, () => undefined);
  const second = useTalk(round, (r) => setRecalled((was) => was || r.lines.some((l) => l.injected)));
  const hasSaid = first.turns.value.length > 1 && !first.isBusy.value;
  const again = () => {
    setRound(round + 1);
    setSecond(false);
    setRecalled(false);
  };
  return (
    <>
      <Head title={t('start title')} about={t('start about')}>
        {isSecond && <Button icon="refresh" onClick={again}>{t('start over')}</Button>}
      </Head>
      <ol class="steps card pad">
        <Step no={1} isDone={hasSaid}>{t('step 1')}</Step>
        <Step no={2} isDone={isSecond}>{t('step 2')}</Step>
        <Step no={3} isDone={recalled}>{t('step 3')}</Step>
      </ol>
      <div class="columns two">
        <section class="card" aria-label={t('first chat')}>
          <header><h2>{t('first chat')}</h2></header>
          <div class="stack pad">
            <TalkView talk={first} onReceipt={setReceipt} current={receipt?.id} />
            <Say talk={first} name="start-1" label={t('say something')} suggest={t('example statement')} />
          </div>
        </section>
        <section class="card" aria-label={t('second chat')}>
          <header><h2>{t('second chat')}</h2><span class="tiny quiet">{t('knows nothing of the first')}</span></header>
          <div class="stack pad">
            {isSecond ? (
              <>
                <TalkView talk={second} onReceipt={setReceipt} current={receipt?.id} />
                <Say talk={second} name="start-2" label={t('ask about it')} suggest={t('example question')} />
              </>
            ) : (
              <div class="empty">
                <p>{hasSaid ? t('now open') : t('say first')}</p>
                <Button look={hasSaid ? 'main' : undefined} icon="plus" disabled={!hasSaid} onClick={() => setSecond(true)}>{t('open second chat')}</Button>
              </div>
            )}
          </div>
        </section>
      </div>
      <Snippets />
      {receipt && <Drawer title={t('why this answer')} close={() => setReceipt(null)}><ReceiptView receipt={receipt} /></Drawer>}
    </>
  );
}
