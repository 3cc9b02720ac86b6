// Every setting: value, where it comes from, what it costs, whether it acts at once.
import { useSignal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { call, isOnline } from '../../api/client.ts';
import type { Setting } from '../../api/types.ts';
import { t, word } from '../../i18n/index.ts';
import { explained, said } from '../../i18n/said.ts';
import { Button, Check, Chip, Coded, Search, Segments, Select, tryTo } from '../../parts/basics.tsx';
import { toast } from '../../parts/toasts.tsx';
import { readSettings, settings } from '../../state/session.ts';

const set = (name: string, value: unknown) => tryTo(async () => {
  await call('PATCH', '/v1/settings', { [name]: value });
  await readSettings();
  toast({ text: t('changed') });
});

export function Settings() {
  const [find, setFind] = useState(''), [which, setWhich] = useState('now');
  const wanted = settings.value.filter((s) => (which === 'all' || (which === 'now' ? s.acts === 'at once' : s.source !== 'default'))
    && `${s.name} ${explained(s).help} ${said(s.group)}`.toLowerCase().includes(find.toLowerCase()));
  const groups = [...new Set(wanted.map((s) => s.group))];
  return (
    <div class="stack">
      <div class="row">
        <Search value={find} onInput={setFind} label={t('search settings')} />
        <Segments label={t('filters')} value={which} onChange={setWhich} options={[['now', t('act at once')], ['changed', t('not default')], ['all', t('show all')]]} />
      </div>
      {groups.map((g) => (
        <section key={g} class="card" aria-label={said(g)}>
          <header><h2>{said(g)}</h2></header>
          <ul class="pad stack">{wanted.filter((s) => s.group === g).map((s) => <One key={`${s.name}=${String(s.value)}`} setting={s} />)}</ul>
        </section>
      ))}
      {!wanted.length && <p class="quiet">{t('nothing matches')}</p>}
    </div>
  );
}

function One({ setting: s }: { setting: Setting }) {
  const { help, cost, lang } = explained(s);
  return (
    <li class="setting">
      <div class="grow stack close">
        <div class="row"><code>{s.name}</code>{s.source !== 'default' && <Chip look="accent">{word('source', s.source)}</Chip>}{s.acts !== 'at once' && <Chip>{t('needs restart')}</Chip>}</div>
        <span class="small quiet" lang={lang}><Coded text={help} /></span>
        {cost && <span class="tiny quiet">{t('cost')}: <span lang={lang}><Coded text={cost} /></span></span>}
      </div>
      <div class="setting-value">
        {s.acts === 'at once' ? <Editor setting={s} /> : <span class="mono wrap">{s.value === null || s.value === '' ? '–' : s.type === 'boolean' ? t(s.value === true ? 'on' : 'off') : String(s.value)}</span>}
        {s.source === 'changed' && <Button small look="plain" icon="undo" label={t('take back')} onClick={() => void set(s.name, null)} />}
      </div>
    </li>
  );
}

function Editor({ setting: s }: { setting: Setting }) {
  const inForce = s.value === null ? '' : String(s.value), text = useSignal(inForce), [turn, setTurn] = useState(0);
  /** Refused, it is shown as it was: drawn anew, since the browser has changed it by itself. What is typed outlives a lost server. */
  const put = async (value: unknown, isTyped = false) => {
    if (await set(s.name, value) || (isTyped && !isOnline.value)) return;
    text.value = inForce;
    setTurn(turn + 1);
  };
  if (s.type === 'boolean') return <Check key={turn} checked={s.value === true} onChange={(on) => void put(on)}>{s.value === true ? t('on') : t('off')}</Check>;
  if (s.choices) return <Select key={turn} label={s.name} value={String(s.value ?? '')} onChange={(v) => void put(v)} options={s.choices.map((c) => [c, c])} />;
  const isNumber = s.type === 'integer' || s.type === 'number';
  const keep = () => {
    if (text.value !== inForce) void put(text.value === '' && isNumber ? null : isNumber ? Number(text.value) : text.value, true);
  };
  return (
    <input key={turn} class="input" aria-label={s.name} type={s.secret ? 'password' : isNumber ? 'number' : 'text'} autocomplete="off" value={s.secret ? '' : text.value}
      placeholder={s.secret && s.value ? '***' : ''} {...(isNumber && s.min !== null ? { min: s.min } : {})} {...(isNumber && s.max !== null ? { max: s.max } : {})} step={s.type === 'number' ? 'any' : 1}
      onInput={(e) => (text.value = e.currentTarget.value)} onBlur={keep} onKeyDown={(e) => e.key === 'Enter' && e.currentTarget.blur()} />
  );
}
