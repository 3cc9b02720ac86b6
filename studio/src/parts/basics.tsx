// Buttons, fields, chips: each thing that is used on several pages, once.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { isOnline, reason, type Problem } from '../api/client.ts';
import { ago, decimal, number, t, time } from '../i18n/index.ts';
import { Icon, type IconName } from './icons.tsx';
import { toast } from './toasts.tsx';

type ButtonProps = Omit<JSX.ButtonHTMLAttributes<HTMLButtonElement>, 'icon'> & {
  icon?: IconName; look?: 'main' | 'plain' | 'danger'; small?: boolean; label?: string; keys?: string; children?: ComponentChildren;
};

/** label names a button that shows only an icon. */
export function Button({ icon, look, small, label, keys, children, class: more, ...rest }: ButtonProps) {
  const looks = { main: 'main-action', plain: 'plain', danger: 'danger' };
  const classes = ['button', look && looks[look], small && 'small-button', !children && 'only-icon', more].filter(Boolean).join(' ');
  const title = label && keys ? `${label} (${keys})` : keys ? keys : label;
  return (
    <button type="button" class={classes} aria-label={children ? undefined : label} title={title} aria-keyshortcuts={keys} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** Runs something that may fail, and says so. */
export async function tryTo(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (e) {
    toast({ text: reason(e), isBad: true });
    return false;
  }
}

interface FieldProps { label: string; hint?: string; wrong?: string; children: ComponentChildren }

/** wrong: why what is in it cannot be kept. */
export function Field({ label, hint, wrong, children }: FieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
      {hint && <span class="tiny quiet">{hint}</span>}
      {wrong && <span class="tiny wrong" role="alert">{wrong}</span>}
    </label>
  );
}

interface SearchProps { value: string; onInput: (text: string) => void; label: string; onEnter?: () => void }

export function Search({ value, onInput, label, onEnter }: SearchProps) {
  return (
    <div class="search grow" role="search">
      <Icon name="search" />
      <input class="input" type="search" dir="auto" data-search value={value} placeholder={label} aria-label={label} aria-keyshortcuts="/"
        onInput={(e) => onInput(e.currentTarget.value)} onKeyDown={(e) => e.key === 'Enter' && onEnter?.()} />
    </div>
  );
}

interface SelectProps { value: string; onChange: (value: string) => void; label: string; options: [string, string][]; isFixed?: boolean }

export function Select({ value, onChange, label, options, isFixed }: SelectProps) {
  return (
    <select class="input" disabled={!!isFixed} aria-label={label} value={value} onChange={(e) => onChange(e.currentTarget.value)}>
      {options.map(([v, name]) => <option key={v} value={v} selected={v === value}>{name}</option>)}
    </select>
  );
}

export function Segments({ value, onChange, label, options }: SelectProps) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map(([v, name]) => (
        <button key={v} type="button" aria-pressed={v === value} onClick={() => onChange(v)}>{name}</button>
      ))}
    </div>
  );
}

export function Check({ checked, onChange, children }: { checked: boolean; onChange: (on: boolean) => void; children: ComponentChildren }) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(e) => onChange(e.currentTarget.checked)} />
      <span>{children}</span>
    </label>
  );
}

export type ChipLook = 'good' | 'warn' | 'bad' | 'accent' | '';
export function Chip({ look = '', children, title }: { look?: ChipLook; children: ComponentChildren; title?: string }) {
  return <span class={`chip ${look}`} title={title}>{children}</span>;
}

export function Ago({ at }: { at: string | null }) {
  return at ? <time dateTime={at} title={time(at)}>{ago(at)}</time> : <span>–</span>;
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return <div class="empty"><h2>{title}</h2>{children}</div>;
}

/** A lost server is said once, above the page. */
export function Failed({ error, retry }: { error: Problem; retry?: () => void }) {
  if (error.status === 0 && !isOnline.value) return null;
  return (
    <div class="notice bad-news" role="alert">
      <span class="grow wrap">{reason(error)}</span>
      {retry && <Button small icon="refresh" onClick={retry}>{t('again')}</Button>}
    </div>
  );
}

export function Score({ value, isOff }: { value: number; isOff?: boolean }) {
  const share = useRef<HTMLElement>(null);
  useEffect(() => {
    if (share.current) share.current.style.width = `${Math.round(100 * Math.min(1, value))}%`;
  }, [value]);
  return (
    <span class="score">
      <span class={isOff ? 'bar off' : 'bar'} aria-hidden="true"><i ref={share} /></span>
      <span class="number tiny">{decimal(value)}</span>
    </span>
  );
}

export function Progress({ done, total, label }: { done: number; total: number; label: string }) {
  const share = useRef<HTMLElement>(null);
  useEffect(() => {
    if (share.current) share.current.style.width = `${total ? (100 * done) / total : 5}%`;
  }, [done, total]);
  return (
    <div class="stack close">
      <div class="bar progress" role="progressbar" aria-label={label} aria-valuenow={done} aria-valuemin={0} aria-valuemax={total || 1}><i ref={share} /></div>
      <span class="tiny quiet number">{total ? `${number(done)} / ${number(total)}` : t('counting')}</span>
    </div>
  );
}

export function Figure({ value, label }: { value: string; label: string }) {
  return <div class="card figure"><b>{value}</b><span class="tiny quiet">{label}</span></div>;
}

/** The words of `find` in a text are marked; the text stays text. */
export function Marked({ text, find }: { text: string; find: string }) {
  const words = find.toLowerCase().split(/\s+/).filter((w) => w.length > 1).map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  if (!words.length) return <>{text}</>;
  const parts = text.split(new RegExp(`(${words.join('|')})`, 'gi'));
  return <>{parts.map((p, i) => (i % 2 ? <mark key={i}>{p}</mark> : p))}</>;
}

/** `such` words of a text are names of a program. */
export function Coded({ text }: { text: string }) {
  return <>{text.split('`').map((part, i) => (i % 2 ? <code key={i}>{part}</code> : part))}</>;
}

/** Browsers copy for pages of this machine and over HTTPS; elsewhere the old way, or the person does it. */
async function copyFrom(box: HTMLElement, text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection()?.selectAllChildren(box);
    return document.execCommand('copy');
  }
}

export function Snippet({ text, label }: { text: string; label: string }) {
  const box = useRef<HTMLPreElement>(null);
  const copy = async () => toast(await copyFrom(box.current!, text) ? { text: t('copied') } : { text: t('copy by hand'), ms: 10000 });
  return (
    <div class="snippet">
      <pre tabIndex={0} aria-label={label} ref={box}><code>{text}</code></pre>
      <Button small icon="copy" aria-label={t('copy')} onClick={() => void copy()}><span class="wide-only">{t('copy')}</span></Button>
    </div>
  );
}

export function Loading() {
  return isOnline.value ? <p class="quiet">{t('loading')}</p> : null;
}

export function Head({ title, about, children }: { title: string; about?: string; children?: ComponentChildren }) {
  return (
    <div class="page-head">
      <div class="stack close">
        <h1 tabIndex={-1}>{title}</h1>
        {about && <p>{about}</p>}
      </div>
      <div class="row">{children}</div>
    </div>
  );
}
