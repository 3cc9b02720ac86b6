// Import, export, and making the list shorter.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { address, call, Problem, space, type Query } from '../../api/client.ts';
import { t } from '../../i18n/index.ts';
import { Button, Check, tryTo } from '../../parts/basics.tsx';
import { Dialog } from '../../parts/layers.tsx';
import { Numbers } from '../../parts/numbers.tsx';
import { toast } from '../../parts/toasts.tsx';
import { go } from '../../state/route.ts';
import { may } from '../../state/session.ts';

/** Bytes that the server takes at once. */
const most = 64 << 20;

function save(path: string) {
  const a = document.createElement('a');
  a.href = path;
  a.download = `rememberd-${new Date().toISOString().slice(0, 10)}.jsonl`;
  document.body.append(a);
  a.click();
  a.remove();
}

/** filter: of the list that is shown; null: the export cannot give that list. */
export function Transfer({ filter }: { filter: Query | null }) {
  const isOpen = useSignal(false), imports = useSignal(false), box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const away = (e: Event) => {
      if (!box.current?.contains(e.target as Node)) isOpen.value = false;
    };
    addEventListener('pointerdown', away);
    return () => removeEventListener('pointerdown', away);
  }, []);
  const run = (what: () => void) => () => {
    isOpen.value = false;
    what();
  };
  if (!may('write') && !may('export')) return null;
  const from = (query: Query) => address('/v1/memories/export', { space: space.value, ...query });
  return (
    <><div class="menu" ref={box} onKeyDown={(e) => e.key === 'Escape' && (isOpen.value = false)}>
      <Button icon="more" label={t('more')} aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)} />
      {isOpen.value && (
        <div>
          {may('write') && <Button icon="upload" onClick={run(() => (imports.value = true))}>{t('import')}</Button>}
          {filter && may('export') && <Button icon="download" onClick={run(() => save(from(filter)))}>{t('export these')}</Button>}
          {may('export') && <Button icon="download" onClick={run(() => save(from({ all: true })))}>{t('export all')}</Button>}
          {may('write') && <Button icon="cleanup" onClick={run(() => go('cleanup', { tab: 'compact' }))}>{t('compact')}</Button>}
        </div>
      )}
    </div>
    {imports.value && <Import close={() => (imports.value = false)} />}</>
  );
}

function Import({ close }: { close: () => void }) {
  const file = useSignal<File | null>(null), isDry = useSignal(true), result = useSignal<Record<string, unknown> | null>(null);
  const run = () => tryTo(async () => {
    if (!file.value) return;
    if (file.value.size > most) throw new Problem(413, 'too_large', t('import too large', { name: file.value.name }));
    const path = address('/v1/memories/import', { name: file.value.name, dry_run: isDry.value, space: space.value === '*' ? '' : space.value });
    result.value = await call<Record<string, unknown>>('POST', path, undefined, { raw: file.value, headers: { 'Content-Type': 'application/jsonl' } });
    if (isDry.value) return;
    toast({ text: t('imported') });
    if (!result.value?.broken) close(); // what was left out is shown
  });
  return (
    <Dialog title={t('import')} close={close}>
      <p class="quiet">{t('import about')}</p>
      <input class="input" type="file" accept=".jsonl,.ndjson,.json,.md,.txt,.af" aria-label={t('file')} onChange={(e) => { file.value = e.currentTarget.files?.[0] ?? null; result.value = null; }} />
      <Check checked={isDry.value} onChange={(on) => (isDry.value = on)}>{t('only count')}</Check>
      {result.value && (
        <div role="status"><Numbers of={result.value} /></div>
      )}
      <div class="row"><Button look="main" disabled={!file.value} onClick={run}>{isDry.value ? t('count') : t('import')}</Button><Button look="plain" onClick={close}>{t(result.value && !isDry.value ? 'close' : 'cancel')}</Button></div>
    </Dialog>
  );
}
