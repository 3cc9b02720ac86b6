// A text of the server in the language of the page.
import type { Setting } from '../api/types.ts';
import { doctor, system } from './doctor.de.ts';
import type { Key } from './en.ts';
import { language, t } from './index.ts';
import { refused as refusals } from './refused.de.ts';
import { said as de } from './said.de.ts';
import { costs, settings } from './settings.de.ts';

// A hole ends at "; ", which joins texts, unless nothing else fits.
const pattern = (text: string, hole: string) => new RegExp(`^${text.split('{}').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join(hole)}$`, 's');
const compile = (rows: [string, string][]) => rows.map(([from, to]) => ({ narrow: pattern(from, '((?:(?!; ).)+?)'), wide: pattern(from, '(.+?)'), to }));
type Rows = ReturnType<typeof compile>;
/** What fits much, as "{} at {}", would change a part of a sentence that is not known. */
const isPlain = ([from]: [string, string]) => from === '{}: {}' || from.replaceAll('{}', '').length > 8;
const ofRecall = compile(de), ofDoctor = compile([...system, ...de, ...doctor]), ofRefusal = compile([...refusals, ...system, ...de, ...doctor.filter(isPlain)]);
const isNumber = /^\d+\.\d+$/;

function one(text: string, rows: Rows, how: 'narrow' | 'wide'): string | null {
  for (const row of rows) {
    const m = row[how].exec(text);
    if (!m) continue;
    let i = 0;
    // What stands in quotes is a name, or what somebody said.
    return row.to.replace(/(„|Dazu weiß ich: |Und seitdem: |)(sagt |niemand |Nähe: |)\{\}/g, (_all, quote, word) => (
      quote ? quote + m[++i]! : !isNumber.test(m[++i]!) ? word + inGerman(m[i]!, rows) : word + (word ? m[i]! : m[i]!.replace('.', ','))));
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

const named: Record<string, Key> = { __proto__: null as never,
  content: 'content', importance: 'importance', key: 'key', type: 'type', category: 'category', tags: 'tags', expires: 'expires', session: 'session', metadata: 'metadata', layer: 'facet layer', origin: 'facet origin',
  name: 'name', user: 'person', space: 'space', spaces: 'only spaces', scopes: 'may', role: 'role', title: 'title', model: 'model', budget: 'budget', as_of: 'as of', after: 'created after', before: 'created before', question: 'question',
};
/** How the page calls a member of the API. */
export const nameOf = (member: string) => (named[member] ? t(named[member]!) : member);

/** Why something was refused. field: the member that it is about, with which the server's text begins; some answers do not say it apart. */
export function refused(text: string, field?: string | null): string {
  const [, start = '', first = '', rest = text] = /^((\w+): )?(.*)$/s.exec(text)!, isField = start && (first === field || first in named);
  return (isField ? `${nameOf(first)}: ` : '') + (language.value === 'en' ? (isField ? rest : text) : inGerman(isField ? rest : text, ofRefusal));
}

const ofDemo = 'I am rememberd/demo, ';
/** An answer: that of the built-in model is in English. */
export const answered = (text: string): string => (language.value !== 'en' && text.includes(ofDemo) ? one(text, ofRecall, 'wide') ?? text : text);

/** What a setting does and costs. One that is newer than the page is described in English. */
export function explained({ name, help, cost }: Setting): { help: string; cost: string | null; lang?: 'en' } {
  const german = language.value === 'en' ? undefined : settings[name];
  return german ? { help: german, cost: cost && (costs[name] ?? cost) } : { help, cost, lang: 'en' };
}
