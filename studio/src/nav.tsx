// The way to each page. A phone has room for the first few by name; the others are behind "More".
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { t } from './i18n/index.ts';
import type { Key } from './i18n/en.ts';
import { Icon } from './parts/icons.tsx';
import { addressOf, go, pageNames, route } from './state/route.ts';

const first = 4;

export function Nav() {
  const [isOpen, setOpen] = useState(false), now = route.value.page;
  const isFurther = !!now && pageNames.indexOf(now) >= first;
  useEffect(() => setOpen(false), [route.value]);
  useLayoutEffect(() => {
    if (!isOpen) return;
    const close = (e: KeyboardEvent) => e.key === 'Escape' && setOpen(false);
    addEventListener('keydown', close);
    return () => removeEventListener('keydown', close);
  }, [isOpen]);
  return (
    <nav class={isOpen ? 'nav open' : 'nav'} aria-label={t('pages')}>
      {pageNames.map((name, i) => (
        <a key={name} class={i < first ? '' : 'further'} href={addressOf(name)} aria-current={now === name ? 'page' : undefined}
          onClick={(e) => {
            if (e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
            e.preventDefault();
            setOpen(false);
            go(name);
          }}>
          <Icon name={name} /><span>{t(`page ${name}` as Key)}</span>
        </a>
      ))}
      <button type="button" class={isFurther && !isOpen ? 'narrow-only more-pages now' : 'narrow-only more-pages'} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? 'down' : isFurther ? now : 'more'} /><span>{isFurther && !isOpen ? t(`page ${now}` as Key) : t('more')}</span>
      </button>
    </nav>
  );
}
