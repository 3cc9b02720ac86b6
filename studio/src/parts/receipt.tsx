// A recall, explained: what was decided and why, the text that the model was given, and every candidate.
import { useEffect, useState } from 'preact/hooks';
import { call, isOnline } from '../api/client.ts';
import type { Line, Memory, MessageContext, Receipt } from '../api/types.ts';
import { t, took, word } from '../i18n/index.ts';
import { said } from '../i18n/said.ts';
import { Button, Chip, Score, type ChipLook } from './basics.tsx';

export const decisionLook = (decision: string): ChipLook =>
  decision === 'failed' ? 'bad' : decision === 'none' || decision === 'off' ? '' : 'accent';

export function Decision({ value }: { value: string }) {
  return <Chip look={decisionLook(value)}>{word('decision', value)}</Chip>;
}

const texts = new Map<string, string>();

/** The text of a candidate; a receipt only names it. */
async function textOf(line: Line): Promise<string> {
  const kept = texts.get(line.id);
  if (kept !== undefined) return kept;
  const path = `/v1/${line.kind === 'memory' ? 'memories' : 'messages'}/${encodeURIComponent(line.id)}`;
  const text = line.kind === 'memory' ? (await call<Memory>('GET', path)).content : (await call<MessageContext>('GET', `${path}?around=0`)).message.text;
  if (texts.size > 500) texts.clear();
  texts.set(line.id, text);
  return text;
}

function LineText({ line }: { line: Line }) {
  const [text, setText] = useState<string | null>(texts.get(line.id) ?? null);
  useEffect(() => {
    let mine = true;
    textOf(line).then((got) => mine && setText(got), (e) => mine && e.status === 404 && setText(''));
    return () => void (mine = false);
  }, [line.id, isOnline.value]);
  return <span class="wrap" dir="auto">{text === null ? '…' : text === '' ? <i class="quiet">{t('gone by now')}</i> : text.length > 400 ? `${text.slice(0, 400)}…` : text}</span>;
}

interface LinesProps { lines: Line[]; onWithout?: (id: string) => void; onOpen?: (line: Line) => void }

export function Lines({ lines, onWithout, onOpen }: LinesProps) {
  if (!lines.length) return <p class="quiet">{t('no candidates')}</p>;
  return (
    <div class="table-box">
      <table>
        <caption class="hidden-text">{t('candidates')}</caption>
        <thead><tr><th scope="col">{t('score')}</th><th scope="col">{t('candidate')}</th><th scope="col">{t('tokens')}</th><th scope="col"><span class="hidden-text">{t('actions')}</span></th></tr></thead>
        <tbody>
          {lines.map((l) => (
            <tr key={l.id}>
              <td><Score value={l.score} isOff={!l.injected} /></td>
              <td>
                <div class="row tight">
                  <Chip look={l.injected ? 'good' : ''}>{l.injected ? t('given') : t('left out')}</Chip>
                  <span class="tiny quiet">{word('kind', l.kind)}</span>
                </div>
                <LineText line={l} />
                <div class="tiny quiet">{said(l.why)}</div>
              </td>
              <td class="number">{l.tokens}</td>
              <td>
                <div class="row tight">
                  {onOpen && <Button small look="plain" icon="eye" label={t('show')} onClick={() => onOpen(l)} />}
                  {onWithout && <Button small look="plain" icon="close" label={t('try without it')} onClick={() => onWithout(l.id)} />}
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type Shown = Pick<Receipt, 'decision' | 'reason' | 'block' | 'tokens' | 'took_us' | 'lines' | 'question'>;

export function ReceiptView({ receipt, ...more }: { receipt: Shown } & Omit<LinesProps, 'lines'>) {
  return (
    <div class="stack">
      <div class="row">
        <Decision value={receipt.decision} />
        <span class="small quiet number">{t('n tokens', { n: receipt.tokens })} · {took(receipt.took_us)}</span>
      </div>
      <p class="small">{said(receipt.reason)}</p>
      {receipt.question && <p class="small quiet" dir="auto">{t('searched for', { what: receipt.question })}</p>}
      <h3>{t('what the model was given')}</h3>
      {receipt.block ? <pre class="block wrap" dir="auto" tabIndex={0}>{receipt.block}</pre> : <p class="quiet">{t('nothing was added')}</p>}
      <h3>{t('candidates')}</h3>
      <Lines lines={receipt.lines} {...more} />
    </div>
  );
}

/** How many lines the model was given: messages are no memories. */
export function givenText(lines: Line[]): string {
  const given = lines.filter((l) => l.injected), memories = given.filter((l) => l.kind === 'memory').length, messages = given.length - memories;
  return [memories && t('n memories', { n: memories }), messages && t('n messages', { n: messages })].filter(Boolean).join(', ') + ` ${t('given')}`;
}
