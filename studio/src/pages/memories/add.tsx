// A memory that a person writes.
import { useSignal } from '@preact/signals';
import { address, call, space } from '../../api/client.ts';
import type { Memory } from '../../api/types.ts';
import { t, word } from '../../i18n/index.ts';
import { Button, Field, Select, tryTo } from '../../parts/basics.tsx';
import { Dialog } from '../../parts/layers.tsx';
import { toast } from '../../parts/toasts.tsx';
import { brief } from './bulk.tsx';
import { draft } from '../../state/looks.ts';

export const types = ['factual', 'episodic', 'procedural', 'semantic'];
const drafted = draft('new-memory'), blank = { content: '', key: '', type: 'factual', category: '', tags: '' };

export function AddMemory({ close }: { close: () => void }) {
  const typed = useSignal({ ...blank, ...(JSON.parse(drafted.get() || '{}') as Partial<typeof blank>) });
  const set = (members: Partial<typeof blank>) => {
    typed.value = { ...typed.value, ...members };
    drafted.set(JSON.stringify(typed.value));
  };
  const save = (e: Event) => {
    e.preventDefault();
    const { content, key, type, category, tags } = typed.value;
    if (!content.trim()) return;
    void tryTo(async () => {
      const m = await call<Memory>('POST', address('/v1/memories', { space: space.value === '*' ? '' : space.value }), {
        content: content.trim(), type, ...(key.trim() && { key: key.trim() }),
        ...(category.trim() && { category: category.trim() }), tags: tags.split(',').map((x) => x.trim()).filter(Boolean),
      });
      drafted.set('');
      toast({ text: t('kept', { what: brief(m.content) }) });
      close();
    });
  };
  return (
    <Dialog title={t('add memory')} close={close}>
      <form class="stack" onSubmit={save}>
        <Field label={t('content')} hint={t('content hint')}>
          <textarea class="input" dir="auto" autofocus required rows={3} value={typed.value.content}
            onInput={(e) => set({ content: e.currentTarget.value })}
            onKeyDown={(e) => e.key === 'Enter' && !e.shiftKey && !e.isComposing && save(e)} />
        </Field>
        <div class="columns two">
          <Field label={t('key')} hint={t('key hint')}><input class="input" dir="auto" value={typed.value.key} onInput={(e) => set({ key: e.currentTarget.value })} /></Field>
          <Field label={t('type')}><Select label={t('type')} value={typed.value.type} onChange={(type) => set({ type })} options={types.map((x) => [x, word('type', x)])} /></Field>
          <Field label={t('category')}><input class="input" dir="auto" value={typed.value.category} onInput={(e) => set({ category: e.currentTarget.value })} /></Field>
          <Field label={t('tags')} hint={t('tags hint')}><input class="input" dir="auto" value={typed.value.tags} onInput={(e) => set({ tags: e.currentTarget.value })} /></Field>
        </div>
        <div class="row"><Button type="submit" look="main" disabled={!typed.value.content.trim()}>{t('keep')}</Button><Button look="plain" onClick={close}>{t('cancel')}</Button></div>
      </form>
    </Dialog>
  );
}
