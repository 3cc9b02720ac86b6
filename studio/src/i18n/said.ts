// A text of the server in the language of the page.
import type { Setting } from '../api/types.ts';
import { doctor, system } from './doctor.de.ts';
import { language } from './index.ts';
import { said as de } from './said.de.ts';
import { costs, settings } from './settings.de.ts';

// A hole ends at "; ", which joins texts, unless nothing else fits.
const pattern = (text: string, hole: string) => new RegExp(`^${text.split('{}').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join(hole)}$`);
const compile = (rows: [string, string][]) => rows.map(([from, to]) => ({ narrow: pattern(from, '((?:(?!; ).)+?)'), wide: pattern(from, '(.+?)'), to }));
type Rows = ReturnType<typeof compile>;
const ofRecall = compile(de), ofDoctor = compile([...system, ...de, ...doctor]);

function one(text: string, rows: Rows, how: 'narrow' | 'wide'): string | null {
  for (const row of rows) {
    const m = row[how].exec(text);
    if (!m) continue;
    let i = 0;
    return row.to.replace(/\{\}/g, () => inGerman(m[++i]!, rows));
  }
  return null;
}

function inGerman(text: string, rows: Rows): string {
  const whole = one(text, rows, 'narrow');
  if (whole !== null || !text.includes('; ')) return whole ?? text;
  const parts = text.split('; '), known = parts.map((part) => one(part, rows, 'narrow'));
  return (known.includes(null) ? one(text, rows, 'wide') : null) ?? parts.map((part, i) => known[i] ?? part).join('; ');
}

/** As it came where the language is English, or no row fits. */
export function said(text: string | null = ''): string {
  return !text ? '' : language.value === 'en' ? text : inGerman(text, ofRecall);
}

/** The same of what was found of the server's parts; a line each. */
export function found(text = ''): string {
  return language.value === 'en' ? text : text.split('\n').map((line) => inGerman(line, ofDoctor)).join('\n');
}

/** What a setting does and costs. One that is newer than the page is described in English. */
export function explained({ name, help, cost }: Setting): { help: string; cost: string | null; lang?: 'en' } {
  const german = language.value === 'en' ? undefined : settings[name];
  return german ? { help: german, cost: cost && (costs[name] ?? cost) } : { help, cost, lang: 'en' };
}
