// Keys that work everywhere, and the list of all of them.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Key } from './i18n/en.ts';
import { t } from './i18n/index.ts';
import { Dialog } from './parts/layers.tsx';
import { go, type PageName } from './state/route.ts';
import { isUnderDialog, useKeys } from './state/use.ts';

const places: Record<string, PageName> = { s: 'start', m: 'memories', t: 'try', r: 'receipts', c: 'sessions', l: 'timeline', e: 'engine', u: 'cleanup', a: 'access' };

export function useShortcuts(showKeys: () => void) {
  const waiting = useRef(0);
  useKeys({
    '?': showKeys,
    '/': () => document.querySelector<HTMLElement>('[data-search]')?.focus(),
    g: () => {
      clearTimeout(waiting.current);
      waiting.current = setTimeout(() => (waiting.current = 0), 1200) as unknown as number;
    },
  });
  useLayoutEffect(() => {
    const listen = (e: KeyboardEvent) => {
      const place = waiting.current && places[e.key];
      if (!place || isUnderDialog() || e.ctrlKey || e.metaKey) return;
      e.preventDefault();
      e.stopImmediatePropagation();
      clearTimeout(waiting.current);
      waiting.current = 0;
      go(place);
    };
    addEventListener('keydown', listen, true);
    return () => removeEventListener('keydown', listen, true);
  }, []);
}

const keys: [string, Key][] = [['/', 'key search'], ['Esc', 'key close'], ['?', 'key help']];
const ofLists: [string, Key][] = [['j  k', 'key move'], ['Enter', 'key open']];
const ofMemories: [string, Key][] = [['x', 'key select'], ['e', 'key edit'], ['Delete', 'key forget'], ['n', 'key new']];

function Some({ title, of }: { title: Key; of: [string, Key][] }) {
  return (
    <>
      <h3>{t(title)}</h3>
      <dl class="keys">{of.map(([key, what]) => <><dt key={key}><kbd>{key === 'Delete' ? t('key delete') : key}</kbd></dt><dd>{t(what)}</dd></>)}</dl>
    </>
  );
}

export function Keys({ close }: { close: () => void }) {
  return (
    <Dialog title={t('shortcuts')} close={close}>
      <Some title="keys everywhere" of={keys} />
      <Some title="keys of lists" of={ofLists} />
      <Some title="keys of memories" of={ofMemories} />
      <h3>{t('pages')}</h3>
      <dl class="keys">
        {Object.entries(places).map(([key, page]) => <><dt key={key}><kbd>g</kbd> <kbd>{key}</kbd></dt><dd>{t(`page ${page}` as Key)}</dd></>)}
      </dl>
    </Dialog>
  );
}
