// A chat through this server, as any client would have it.
import { call, lookAs, Problem, request, sentenceOf } from './client.ts';
import { receiptWritten } from './events.ts';
import type { Receipt } from './types.ts';
import { t } from '../i18n/index.ts';

export interface Said { role: 'user' | 'assistant'; content: string }
export interface Reply { text: string; receipt: string | null }

export interface ChatOptions {
  model: string; session: string; space: string; messages: Said[]; mode?: string; onText?: (text: string) => void; signal?: AbortSignal;
}

function* eventsOf(chunk: string): Generator<string> {
  for (const line of chunk.split('\n')) if (line.startsWith('data:')) yield line.slice(5).trim();
}

/** Streams the answer; the receipt's id is in a header of the response. */
export async function chat(o: ChatOptions): Promise<Reply> {
  const headers: Record<string, string> = { 'X-Session-Id': o.session };
  if (o.mode) headers['X-Memory-Mode'] = o.mode;
  if (o.space) headers['X-Memory-Space'] = o.space;
  if (lookAs.value) throw new Problem(403, 'forbidden', t('chats are your own'));
  const res = await request('POST', '/v1/chat/completions', { model: o.model, messages: o.messages, stream: true }, { headers, isModels: true, ...(o.signal ? { signal: o.signal } : {}) });
  let text = '', rest = '';
  const reader = res.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((e) => {
      throw o.signal?.aborted ? e : new Problem(0, 'cut', t('answer ended early'));
    });
    if (done) break;
    rest += value;
    const cut = rest.lastIndexOf('\n');
    for (const data of eventsOf(rest.slice(0, cut + 1))) {
      if (data === '[DONE]') continue;
      const event = JSON.parse(data);
      if (event.error) throw new Problem(502, String(event.error.code ?? ''), sentenceOf(event.error));
      text += event.choices?.[0]?.delta?.content ?? '';
      o.onText?.(text);
    }
    rest = rest.slice(cut + 1);
  }
  return { text, receipt: res.headers.get('X-Rememberd-Receipt') };
}

/** A receipt is written with its turn, a moment after the answer. */
export async function receiptOf(id: string): Promise<Receipt> {
  await receiptWritten(id);
  for (let tries = 0; ; tries++) {
    try {
      return await call<Receipt>('GET', `/v1/receipts/${encodeURIComponent(id)}`);
    } catch (e) {
      if (!(e instanceof Problem) || e.status !== 404 || tries === 20) throw e;
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}
