// What a piece of work answers, in words: numbers under their names, changes as a list. No JSON.
import { number, t } from '../i18n/index.ts';
import { en, type Key } from '../i18n/en.ts';
import { refused, said } from '../i18n/said.ts';

/** The name of a member in the table of strings; what has none there is shown as it is called, without underscores. */
export function labelOf(member: string): string {
  const key = `result.${member}`;
  return key in en ? t(key as Key) : member.replaceAll('_', ' ');
}

const shown = (name: string, v: unknown) => (typeof v === 'number' ? number(v) : name === 'reason' && typeof v === 'string' && `reason.${v}` in en ? t(`reason.${v}` as Key) : typeof v === 'string' ? said(v) : Array.isArray(v) ? v.map((one) => refused(String(one))).join('\n') : String(v));
interface Change { what: string; id: string; why: string }

export function Numbers({ of }: { of: unknown }) {
  if (!of || typeof of !== 'object') return null;
  const { report, changes, ...rest } = of as { report?: object; changes?: Change[] };
  const all = Object.entries({ ...report, ...rest }).filter(([name, v]) => v !== null && v !== '' && v !== false && !(Array.isArray(v) && !v.length) && name !== 'dry_run');
  return (
    <>
      <dl class="pairs">
        {all.map(([name, v]) => v === true
          ? <dd key={name} class="whole">{labelOf(name)}</dd>
          : <><dt key={name}>{labelOf(name)}</dt><dd class="wrap number">{shown(name, v)}</dd></>)}
      </dl>
      {changes && changes.length > 0 && (
        <ul class="few stack close">{changes.slice(0, 50).map((c) => <li key={c.what + c.id} class="wrap"><strong>{labelOf(c.what)}</strong> {said(c.why)}</li>)}</ul>
      )}
    </>
  );
}
