// The frame around all pages: where to go, the state in one sentence, who is here.
import { Component, type ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isOnline, lookAs, needsSignIn, Problem } from './api/client.ts';
import { onChange } from './api/events.ts';
import { t } from './i18n/index.ts';
import type { Key } from './i18n/en.ts';
import { Button, Empty, Failed, Head, tryTo } from './parts/basics.tsx';
import { Icon } from './parts/icons.tsx';
import { Nav } from './nav.tsx';
import { Toasts } from './parts/toasts.tsx';
import { Access } from './pages/access/access.tsx';
import { SignIn } from './pages/access/sign-in.tsx';
import { Cleanup } from './pages/cleanup/cleanup.tsx';
import { Engine } from './pages/engine/engine.tsx';
import { Memories } from './pages/memories/memories.tsx';
import { Receipts } from './pages/receipts/receipts.tsx';
import { Sessions } from './pages/sessions/sessions.tsx';
import { Start } from './pages/start/start.tsx';
import { Timeline } from './pages/timeline/timeline.tsx';
import { Try } from './pages/try/try.tsx';
import { Keys, useShortcuts } from './shortcuts.tsx';
import { go, route, type PageName } from './state/route.ts';
import { begin, lookAt, readSettings, readSpaces, readStats } from './state/session.ts';
import { Top } from './top.tsx';

const pages: Record<PageName, () => preact.JSX.Element> = {
  start: Start, memories: Memories, try: Try, receipts: Receipts, sessions: Sessions, timeline: Timeline, engine: Engine,
  cleanup: Cleanup, access: Access,
};

function NoPage() {
  return (
    <>
      <Head title={t('no page')} />
      <Empty title={location.pathname}><p>{t('no page about')}</p><Button look="main" icon="start" onClick={() => go('start')}>{t('page start')}</Button></Empty>
    </>
  );
}

/** A fault of one page leaves the others usable. */
class Guarded extends Component<{ children: ComponentChildren }, { fault: Error | null }> {
  override state = { fault: null as Error | null };
  static override getDerivedStateFromError(fault: Error) {
    return { fault };
  }
  override componentDidCatch(fault: Error) {
    console.error(fault);
  }
  render() {
    const { fault } = this.state;
    return fault ? <Failed error={new Problem(0, 'fault', fault.message)} retry={() => this.setState({ fault: null })} /> : this.props.children;
  }
}

function Looking() {
  if (!lookAs.value) return null;
  return (
    <div class="notice" role="status">
      <Icon name="eye" /><span class="grow">{t('looking at', { user: lookAs.value })}</span>
      <Button small icon="close" onClick={() => tryTo(() => lookAt(''))}>{t('look no more')}</Button>
    </div>
  );
}

function Lost() {
  return isOnline.value ? null : <div class="notice bad-news" role="alert"><span class="grow">{t('lost server')}</span></div>;
}

export function App() {
  const [error, setError] = useState<Problem | null>(null), [isReady, setReady] = useState(false), [showsKeys, setShowsKeys] = useState(false);
  const start = () => begin().then(() => { setReady(true); setError(null); }, (e) => setError(e instanceof Problem ? e : new Problem(0, '', String(e))));
  useEffect(() => void start(), []);
  useEffect(() => {
    if (!needsSignIn.value) void start();
  }, [needsSignIn.value]);
  useEffect(() => onChange(/^$/, () => void start()), []); // after a lost server
  useEffect(() => onChange(/^(memory|turn|receipt|session)\./, () => void readStats().catch(() => undefined)), []);
  useEffect(() => onChange(/^space\./, () => void readSpaces().catch(() => undefined)), []);
  useEffect(() => onChange(/^settings\./, () => void readSettings().catch(() => undefined)), []);
  useShortcuts(() => setShowsKeys(true));
  const page = route.value.page;
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    if (!isFirst.current) document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [page]);
  useEffect(() => void (document.title = `${page ? t(`page ${page}` as Key) : t('no page')} · rememberd`));
  if (needsSignIn.value) return <><SignIn /><Toasts /></>;
  const Page = page ? pages[page] : NoPage;
  return (
    <div class="frame">
      <a class="skip" href="#content">{t('skip')}</a>
      <div class="side">
        <div class="brand"><Icon name="memories" /><span>rememberd</span></div>
        <Nav />
        <div class="side-end tiny quiet"><a class="button plain small-button" href="/docs"><Icon name="receipts" />{t('documentation')}</a><button type="button" class="button plain small-button" onClick={() => setShowsKeys(true)}><Icon name="help" />{t('shortcuts')} <kbd>?</kbd></button></div>
      </div>
      <div class="main">
        <Top />
        <main id="content" class="page" tabIndex={-1}>
          <Lost />
          <Looking />
          {error && error.status !== 401 && error.status !== 0 && <Failed error={error} retry={start} />}
          {isReady && <Guarded key={`${page} ${lookAs.value}`}><Page /></Guarded>}
        </main>
      </div>
      {showsKeys && <Keys close={() => setShowsKeys(false)} />}
      <Toasts />
    </div>
  );
}
