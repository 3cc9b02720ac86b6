// Every string that is shown, by its key. A language is one file.
import { signal } from '@preact/signals';
import { de } from './de.ts';
import { en, type Key } from './en.ts';

const tables = { en, de };
export type Language = keyof typeof tables;
export const languages: Record<Language, string> = { en: 'English', de: 'Deutsch' };

function first(): Language {
  const kept = localStorage.getItem('language');
  if (kept && kept in tables) return kept as Language;
  return navigator.language.startsWith('de') ? 'de' : 'en';
}

export const language = signal<Language>(first());

export function setLanguage(to: Language) {
  localStorage.setItem('language', to);
  document.documentElement.lang = to;
  language.value = to;
}
document.documentElement.lang = language.value;

/** {name} is replaced; "one|many" is chosen by n. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  let text: string = tables[language.value][key];
  const cut = text.indexOf('|');
  if (cut >= 0 && 'n' in values) text = Number(values.n) === 1 ? text.slice(0, cut) : text.slice(cut + 1);
  return text.replace(/\{(\w+)\}/g, (all, name: string) => {
    const value = values[name];
    return value === undefined ? all : typeof value === 'number' ? number(value) : value;
  });
}

/** The word for a value of the API, or the value itself. */
export function word(group: string, value: string): string {
  const key = `${group}.${value}`;
  return key in en ? t(key as Key) : value || t('none');
}

export const number = (n: number): string => n.toLocaleString(language.value);
/** With so many digits behind the point, which is a comma in German. */
export const decimal = (x: number, digits = 2): string => x.toLocaleString(language.value, { minimumFractionDigits: digits, maximumFractionDigits: digits });
export const percent = (x: number): string => `${decimal(100 * x, x < 0.1 ? 1 : 0)} %`;

export function bytes(n: number): string {
  return n < 1e6 ? `${number(Math.round(n / 1e3))} kB` : `${number(Math.round(n / 1e5) / 10)} MB`;
}

export function took(us: number): string {
  return us < 1000 ? (us ? `${us} µs` : '0 ms') : us < 1e6 ? `${number(Math.round(us / 100) / 10)} ms` : `${number(Math.round(us / 1e5) / 10)} s`;
}

export const day = (iso: string): string => new Date(iso).toLocaleDateString(language.value, { year: 'numeric', month: 'short', day: 'numeric' });
export const time = (iso: string): string =>
  new Date(iso).toLocaleString(language.value, { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' });

/** The first moment, where the person is, of a day as a field of dates has it: "2026-12-31". */
export function startOf(date: string): string {
  const at = new Date(`${date}T00:00`);
  return Number.isNaN(at.getTime()) ? date : at.toISOString();
}

export const hasBegun = (date: string): boolean => new Date(startOf(date)).getTime() <= Date.now();

/** The day of a time, as a field of dates has it. */
export function dateOf(iso: string): string {
  const at = new Date(iso), two = (n: number) => String(n).padStart(2, '0');
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** "3 minutes ago"; for times in the future "in 3 days". From a day on by the calendar: "yesterday" is the day before today. */
export function ago(iso: string): string {
  const at = new Date(iso), now = new Date(), ms = at.getTime() - now.getTime(), size = Math.abs(ms);
  const f = new Intl.RelativeTimeFormat(language.value, { numeric: 'auto' });
  const dayOf = (d: Date) => Date.UTC(d.getFullYear(), d.getMonth(), d.getDate());
  const years = at.getFullYear() - now.getFullYear(), months = 12 * years + at.getMonth() - now.getMonth();
  if (size < 6e4) return t('just now');
  if (size < 36e5) return f.format(Math.trunc(ms / 6e4), 'minute');
  if (size < 864e5) return f.format(Math.trunc(ms / 36e5), 'hour');
  if (size < 2592e6 || !months) return f.format((dayOf(at) - dayOf(now)) / 864e5, 'day');
  return size < 31536e6 || !years ? f.format(months, 'month') : f.format(years, 'year');
}
