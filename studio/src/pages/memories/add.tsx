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
const drafted = draft('add-memory');

export function AddMemory({ close }: { close: () => void }) {
  const content = useSignal(drafted.get()), key = useSignal(''), type = useSignal('factual'), category = useSignal(''), tags = useSignal('');
  const save = (e: Event) => {
    e.preventDefault();
    if (!content.value.trim()) return;
    void tryTo(async () => {
      const m = await call<Memory>('POST', address('/v1/memories', { space: space.value === '*' ? '' : space.value }), {
        content: content.value.trim(), type: type.value, ...(key.value.trim() && { key: key.value.trim() }),
        ...(category.value.trim() && { category: category.value.trim() }), tags: tags.value.split(',').map((x) => x.trim()).filter(Boolean),
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
          <textarea class="input" dir="auto" autofocus required rows={3} value={content.value}
            onInput={(e) => { content.value = e.currentTarget.value; drafted.set(content.value); }}
            onKeyDown={(e) => e.key === 'Enter' && !e.shiftKey && !e.isComposing && save(e)} />
        </Field>
        <div class="columns two">
          <Field label={t('key')} hint={t('key hint')}><input class="input" dir="auto" value={key.value} onInput={(e) => (key.value = e.currentTarget.value)} /></Field>
          <Field label={t('type')}><Select label={t('type')} value={type.value} onChange={(v) => (type.value = v)} options={types.map((x) => [x, word('type', x)])} /></Field>
          <Field label={t('category')}><input class="input" dir="auto" value={category.value} onInput={(e) => (category.value = e.currentTarget.value)} /></Field>
          <Field label={t('tags')} hint={t('tags hint')}><input class="input" dir="auto" value={tags.value} onInput={(e) => (tags.value = e.currentTarget.value)} /></Field>
        </div>
        <div class="row"><Button type="submit" look="main" disabled={!content.value.trim()}>{t('keep')}</Button><Button look="plain" onClick={close}>{t('cancel')}</Button></div>
      </form>
    </Dialog>
  );
}
