// One line of the list.
import { space } from '../../api/client.ts';
import type { Memory } from '../../api/types.ts';
import { day, percent, t, word } from '../../i18n/index.ts';
import { Chip, Marked } from '../../parts/basics.tsx';
import { Icon } from '../../parts/icons.tsx';

interface RowProps {
  memory: Memory | undefined; index: number; find: string; isAt: boolean; isOpen: boolean; isPicked: boolean; onOpen: () => void; onPick: () => void;
}

export const isClosed = (m: Memory) => m.valid_to !== null || (m.expires !== null && new Date(m.expires).getTime() <= Date.now());

export function MemoryRow({ memory: m, index, find, isAt, isOpen, isPicked, onOpen, onPick }: RowProps) {
  if (!m) return <div class="item waiting" role="option" aria-selected={false} id={`row-${index}`}>…</div>;
  return (
    <div class={`item${isAt ? ' at' : ''}${isOpen ? ' open' : ''}`} role="option" aria-selected={isPicked} id={`row-${index}`} onClick={onOpen}>
      <span class={isPicked ? 'pick on' : 'pick'} aria-hidden="true" title={t('select this')} onClick={(e) => { e.stopPropagation(); onPick(); }}>{isPicked && <Icon name="check" />}</span>
      <div class="lines">
        <span class="cut" dir="auto"><Marked text={m.content} find={find} /></span>
        <span class="tiny quiet cut">
          {[space.value === '*' && m.space, m.category ? word('category', m.category) : word('layer', m.layer), word('origin', m.origin), m.tags.map((x) => `#${x}`).join(' ')].filter(Boolean).join(' · ')}
        </span>
      </div>
      {isClosed(m) && <Chip look="warn">{t('closed')}</Chip>}
      <span class="tiny quiet number wide-only" title={t('importance')}>{t('importance of', { share: percent(m.importance) })}</span>
      <span class="tiny quiet wide-only">{day(m.created)}</span>
    </div>
  );
}
