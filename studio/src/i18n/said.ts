// A text of the server in the language of the page.
import { language } from './index.ts';
import { said as de } from './said.de.ts';

const pattern = (text: string) => new RegExp(`^${text.split('{}').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('((?:(?!; ).)+?)')}$`);
const rows = de.map(([from, to]) => ({ from: pattern(from), to }));

function one(text: string): string | null {
  for (const { from, to } of rows) {
    const m = from.exec(text);
    if (!m) continue;
    let i = 0;
    return to.replace(/\{\}/g, () => one(m[++i]!) ?? m[i]!);
  }
  return null;
}

/** As it came where the language is English, or no row fits. */
export function said(text = ''): string {
  if (language.value === 'en' || !text) return text;
  return one(text) ?? text.split('; ').map((part) => one(part) ?? part).join('; ');
}
