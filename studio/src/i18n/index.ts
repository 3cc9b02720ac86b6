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
export const percent = (x: number): string => `${(100 * x).toFixed(x < 0.1 ? 1 : 0)} %`;

export function bytes(n: number): string {
  return n < 1e6 ? `${number(Math.round(n / 1e3))} kB` : `${number(Math.round(n / 1e5) / 10)} MB`;
}

export function took(us: number): string {
  return us < 1000 ? `${us} µs` : us < 1e6 ? `${number(Math.round(us / 100) / 10)} ms` : `${number(Math.round(us / 1e5) / 10)} s`;
}

export const day = (iso: string): string => new Date(iso).toLocaleDateString(language.value, { year: 'numeric', month: 'short', day: 'numeric' });
export const time = (iso: string): string =>
  new Date(iso).toLocaleString(language.value, { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' });

/** Whether a day as a field of dates has it, "2026-12-31", has begun: the server reads it as its first moment. */
export const hasBegun = (date: string): boolean => new Date(date).getTime() <= Date.now();

/** "3 minutes ago"; for times in the future "in 3 days". */
export function ago(iso: string): string {
  const units: [Intl.RelativeTimeFormatUnit, number][] = [['year', 31536e6], ['month', 2592e6], ['day', 864e5], ['hour', 36e5], ['minute', 6e4]];
  const ms = new Date(iso).getTime() - Date.now();
  const f = new Intl.RelativeTimeFormat(language.value, { numeric: 'auto' });
  for (const [unit, size] of units) if (Math.abs(ms) >= size) return f.format(Math.round(ms / size), unit);
  return t('just now');
}
