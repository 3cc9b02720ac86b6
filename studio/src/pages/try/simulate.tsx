// What a chat would be given, without a chat: another budget, without a line, as of a date; and why something is missing.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { address, call, Problem, space } from '../../api/client.ts';
import type { Found, FoundPage, Receipt } from '../../api/types.ts';
import { decimal, number, startOf, t, took, word } from '../../i18n/index.ts';
import { said } from '../../i18n/said.ts';
import { Button, Chip, Failed, Field, Score, Search } from '../../parts/basics.tsx';
import { ReceiptView } from '../../parts/receipt.tsx';
import { OneSpace, spaceOfChats } from '../../parts/talk.tsx';
import { draft } from '../../state/looks.ts';
import { refine, route } from '../../state/route.ts';
import { settings } from '../../state/session.ts';
import { useSettled } from '../../state/use.ts';
import { Strategies } from './strategies.tsx';

/** The budget of a chat, where the caller may know it. */
const inForce = () => String(settings.value.find((s) => s.name === 'budget_tokens')?.value ?? '');

export function Simulate() {
  const kept = draft('simulate'), question = useSignal(route.value.query.q ?? kept.get()), budget = useSignal(''), asOf = useSignal('');
  const without = useSignal<string[]>([]), preview = useSignal<Receipt | null>(null), ranked = useSignal<FoundPage | null>(null), error = useSignal<Problem | null>(null);
  const asked = useSettled(question.value.trim(), 350);
  useEffect(() => refine({ q: asked || undefined }), [asked]);
  useEffect(() => {
    kept.set(question.value);
    if (!asked) return void ((preview.value = null), (ranked.value = null));
    let mine = true;
    const body = {
      question: asked, ...(budget.value && { budget: Number(budget.value) }), ...(asOf.value && { as_of: startOf(asOf.value) }),
      ...(without.value.length && { without: without.value }),
    };
    Promise.all([
      call<Receipt>('POST', address('/v1/preview', { space: spaceOfChats() }), body),
      call<FoundPage>('POST', address('/v1/memories/search', { space: spaceOfChats() }), { query: asked, limit: 20, explain: true }),
    ]).then(([p, r]) => {
      if (!mine) return;
      preview.value = p;
      ranked.value = r;
      error.value = null;
    }, (e) => mine && (error.value = e as Problem));
    return () => void (mine = false);
  }, [asked, budget.value, asOf.value, without.value, space.value]);
  return (
    <div class="stack">
      <OneSpace />
      <div class="card pad stack">
        <Search value={question.value} onInput={(x) => (question.value = x)} label={t('what would you ask')} />
        <div class="row">
          <Field label={t('budget')}><input class="input" type="number" min="1" max="8000" placeholder={inForce()} value={budget.value} onChange={(e) => (budget.value = e.currentTarget.value)} /></Field>
          <Field label={t('as of')}><input class="input" type="date" value={asOf.value} onChange={(e) => (asOf.value = e.currentTarget.value)} /></Field>
          {without.value.length > 0 && <Button small icon="undo" onClick={() => (without.value = [])}>{t('n left out by you', { n: without.value.length })}</Button>}
        </div>
      </div>
      {error.value && <Failed error={error.value} />}
      {asked && preview.value && (
        <div class="columns two">
          <section class="card" aria-label={t('a chat would be given')}>
            <header><h2>{t('a chat would be given')}</h2></header>
            <div class="pad"><ReceiptView receipt={preview.value} onWithout={(id) => (without.value = [...without.value, id])} /></div>
          </section>
          <section class="card" aria-label={t('ranking')}>
            <header><h2>{t('ranking')}</h2>{ranked.value && <span class="small quiet number">{took(ranked.value.took_us)}</span>}</header>
            <div class="stack pad">
              {ranked.value && <Vectors page={ranked.value} />}
              {ranked.value && <WhyNot results={ranked.value.results} preview={preview.value} />}
              <ul class="stack">{ranked.value?.results.map((f) => <Ranked key={f.id} found={f} isGiven={isGiven(preview.value, f.id)} />)}</ul>
            </div>
          </section>
        </div>
      )}
      {asked && <Strategies query={asked} />}
      {!asked && <p class="quiet">{t('simulate about')}</p>}
    </div>
  );
}

const isGiven = (r: Receipt | null, id: string) => !!r?.lines.some((l) => l.injected && (l.id === id || l.source === id));

function Vectors({ page }: { page: FoundPage }) {
  return <div class="row"><Chip look={page.vectors ? 'good' : ''}>{page.vectors ? t('by words and meaning') : t('by words')}</Chip>{page.without && <span class="tiny quiet">{said(page.without)}</span>}</div>;
}

function Ranked({ found: f, isGiven }: { found: Found; isGiven: boolean }) {
  const signals = Object.entries(f.signals ?? {}).filter(([, v]) => Math.abs(v) > 0.005).sort((a, b) => b[1] - a[1]);
  return (
    <li class="stack close">
      <div class="row"><Score value={f.score} isOff={!isGiven} />{isGiven && <Chip look="good">{t('given')}</Chip>}<span class="tiny quiet">{word('kind', f.kind)} · {t('n tokens', { n: f.tokens })}</span></div>
      <span class="wrap" dir="auto">{f.text.length > 300 ? `${f.text.slice(0, 300)}…` : f.text}</span>
      <details>
        <summary class="tiny quiet">{said(f.why) || t('numbers')}</summary>
        <dl class="pairs">{signals.map(([name, v]) => <><dt key={name}>{name}</dt><dd class="number">{number(Math.round(v * 1000) / 1000)}</dd></>)}</dl>
      </details>
    </li>
  );
}

/** Part of a text that somebody misses: was it considered, and what was it short of? */
function WhyNot({ results, preview }: { results: Found[]; preview: Receipt }) {
  const text = useSignal(''), answer = useSignal('');
  const ask = async () => {
    const wanted = text.value.trim().toLowerCase();
    if (!wanted) return;
    const found = results.find((f) => f.text.toLowerCase().includes(wanted));
    if (!found) {
      answer.value = t('why not unknown');
      return;
    }
    const line = preview.lines.find((l) => l.id === found.id);
    answer.value = line?.injected ? t('why not given') : line ? t('why not left', { score: decimal(line.score), why: said(line.why), reason: said(preview.reason) })
      : t('why not weak', { score: decimal(found.score), reason: said(preview.reason) });
  };
  return (
    <form class="stack close" onSubmit={(e) => { e.preventDefault(); void ask(); }}>
      <Field label={t('why not')}>
        <div class="row tight">
          <input class="input grow" dir="auto" value={text.value} placeholder={t('why not hint')} onInput={(e) => (text.value = e.currentTarget.value)} />
          <Button type="submit">{t('ask')}</Button>
        </div>
      </Field>
      <p role="status" class="small">{answer.value}</p>
    </form>
  );
}
