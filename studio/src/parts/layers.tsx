// What lies over the page: dialogs and drawers. Focus stays inside, Escape closes, and focus returns.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../i18n/index.ts';
import { Button, Field } from './basics.tsx';

const reachable = 'a[href], button:not([disabled]), input, select, textarea, [tabindex]:not([tabindex="-1"])';

function useFocusInside(close: () => void, isModal: boolean) {
  const box = useRef<HTMLDivElement>(null), closing = useRef(close);
  closing.current = close;
  // Before the first paint: a key that follows at once is the layer's already.
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const first = box.current?.querySelector<HTMLElement>('[autofocus]') ?? box.current?.querySelector<HTMLElement>(reachable);
    first?.focus();
    return () => {
      if (before?.isConnected) before.focus();
    };
  }, []);
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === 'Escape' && !e.defaultPrevented) {
      e.preventDefault();
      e.stopPropagation();
      closing.current();
    }
    if (e.key !== 'Tab' || !isModal || !box.current) return;
    const all = [...box.current.querySelectorAll<HTMLElement>(reachable)];
    const edge = e.shiftKey ? all[0] : all[all.length - 1];
    if (document.activeElement === edge) {
      e.preventDefault();
      (e.shiftKey ? all[all.length - 1] : all[0])?.focus();
    }
  };
  return { ref: box, onKeyDown };
}

export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const inside = useFocusInside(close, true);
  return (
    <div class="veil" onMouseDown={(e) => e.target === e.currentTarget && close()}>
      <div class="dialog" role="dialog" aria-modal="true" aria-label={title} {...inside}>
        <div class="row spread tight"><h2>{title}</h2><Button look="plain" icon="close" label={t('close')} onClick={close} /></div>
        {children}
      </div>
    </div>
  );
}

interface DrawerProps { title: string; close: () => void; actions?: ComponentChildren; children: ComponentChildren }

export function Drawer({ title, close, actions, children }: DrawerProps) {
  const inside = useFocusInside(close, false);
  return (
    <aside class="drawer" role="dialog" aria-label={title} {...inside}>
      <header>
        <h2 class="grow cut">{title}</h2>
        {actions}
        <Button look="plain" icon="close" label={t('close')} keys="Escape" onClick={close} />
      </header>
      <div class="drawer-body">{children}</div>
    </aside>
  );
}

interface TypedProps { title: string; text: string; word: string; action: string; close: () => void; run: () => Promise<unknown> }

/** For what cannot be undone: a word has to be typed. */
export function TypedConfirm({ title, text, word, action, close, run }: TypedProps) {
  const [typed, setTyped] = useState('');
  const submit = async (e: Event) => {
    e.preventDefault();
    if (typed === word) {
      await run();
      close();
    }
  };
  return (
    <Dialog title={title} close={close}>
      <p>{text}</p>
      <form class="stack" onSubmit={submit}>
        <Field label={t('type word', { word })}>
          <input class="input" autofocus autocomplete="off" value={typed} onInput={(e) => setTyped(e.currentTarget.value)} />
        </Field>
        <div class="row">
          <Button type="submit" look="danger" disabled={typed !== word}>{action}</Button>
          <Button look="plain" onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  );
}

interface ConfirmProps { title: string; text: string; action: string; close: () => void; run: () => unknown; isHarmless?: boolean; isWaiting?: boolean; children?: ComponentChildren }

/** Asks once, and says what will be done. */
export function Confirm({ title, text, action, close, run, isHarmless, isWaiting, children }: ConfirmProps) {
  const go = () => {
    close();
    void run();
  };
  return (
    <Dialog title={title} close={close}>
      <p>{text}</p>
      {children}
      <div class="row">
        <Button look={isHarmless ? 'main' : 'danger'} disabled={!!isWaiting} onClick={go}>{action}</Button>
        <Button look="plain" onClick={close}>{t('cancel')}</Button>
      </div>
    </Dialog>
  );
}
