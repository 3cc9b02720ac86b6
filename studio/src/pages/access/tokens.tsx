// Tokens: made here, shown once, revoked at once.
import { useSignal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { address, call } from '../../api/client.ts';
import type { Page, Token } from '../../api/types.ts';
import { day, t } from '../../i18n/index.ts';
import { Ago, Button, Check, Chip, Empty, Failed, Field, Snippet, tryTo } from '../../parts/basics.tsx';
import { Dialog } from '../../parts/layers.tsx';
import { isOperator, me, signIn } from '../../state/session.ts';
import { useLoaded } from '../../state/use.ts';

export function Tokens() {
  const [makes, setMakes] = useState(false), [ended, setEnded] = useState(false);
  const { data, error, reload } = useLoaded(() => call<Page<Token>>('GET', address('/v1/tokens', { ended })), [ended]);
  const revoke = (id: string) => tryTo(async () => {
    await call('DELETE', `/v1/tokens/${encodeURIComponent(id)}`);
    reload();
  });
  const all = data.value?.items ?? [];
  return (
    <section class="card" aria-label={t('tokens of access')}>
      <header><h2>{t('tokens of access')}</h2><div class="row"><Check checked={ended} onChange={setEnded}>{t('with ended')}</Check><Button small look="main" icon="plus" onClick={() => setMakes(true)}>{t('new token')}</Button></div></header>
      {error.value && <Failed error={error.value} retry={reload} />}
      {data.value && !all.length && <Empty title={t('no tokens')}><p>{t('no tokens about')}</p></Empty>}
      {all.length > 0 && (
        <div class="table-box">
          <table>
            <thead><tr><th scope="col">{t('name')}</th><th scope="col" class="wide-only">{t('person')}</th><th scope="col">{t('reaches')}</th><th scope="col" class="wide-only">{t('last used')}</th><th scope="col" class="wide-only">{t('expires')}</th><th scope="col"><span class="hidden-text">{t('actions')}</span></th></tr></thead>
            <tbody>
              {all.map((k) => (
                <tr key={k.id}>
                  <td>{k.name} <code class="tiny quiet">{k.prefix}…</code></td>
                  <td class="wide-only">{k.user}</td>
                  <td><div class="row">{k.admin && <Chip look="accent">{t('admin')}</Chip>}<Chip>{k.space || t('all spaces')}</Chip>{k.acts_for && <Chip>{t('acts for', { who: k.acts_for })}</Chip>}</div></td>
                  <td class="small quiet wide-only"><Ago at={k.last_used} /></td>
                  <td class="small quiet wide-only">{k.expires ? day(k.expires) : '–'}</td>
                  <td>{k.state === 'valid' ? <Button small look="danger" onClick={() => revoke(k.id)}>{t('revoke')}</Button> : <Chip>{k.state}</Chip>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {makes && <NewToken isFirst={!me.value?.needs_token} add={(made) => data.value && (data.value = { ...data.value, items: [made, ...data.value.items] })} close={() => { setMakes(false); reload(); }} />}
    </section>
  );
}

interface NewTokenProps { isFirst: boolean; add: (made: Token) => void; close: () => void }

/** With the first token every request needs one: made by an operator it is an admin's, and this browser is signed in with it. */
function NewToken({ isFirst, add, close }: NewTokenProps) {
  const own = me.value?.user ?? '', [first] = useState(isFirst && isOperator.value);
  const name = useSignal(''), user = useSignal(own), space = useSignal(''), expires = useSignal(''), isAdmin = useSignal(first), made = useSignal<Token | null>(null), isIn = useSignal(false);
  const signsIn = first && isAdmin.value && user.value === own;
  const make = (e: Event) => {
    e.preventDefault();
    void tryTo(async () => {
      const token = made.value = await call<Token>('POST', '/v1/tokens', {
        ...(name.value && { name: name.value }), ...(user.value && isOperator.value && { user: user.value }), ...(space.value && { space: space.value }),
        ...(expires.value && { expires: expires.value }), ...(isAdmin.value && { admin: true }),
      });
      add(token);
      if (!signsIn) return;
      await signIn(token.token ?? '');
      isIn.value = true;
    });
  };
  if (made.value)
    return (
      <Dialog title={t('token made')} close={close}>
        <p>{t('token once')}</p>
        <Snippet text={made.value.token ?? ''} label={t('token')} />
        {isIn.value && <p class="notice good-news">{t('signed in with it')}</p>}
        <div><Button look="main" onClick={close}>{t('done')}</Button></div>
      </Dialog>
    );
  return (
    <Dialog title={t('new token')} close={close}>
      <form class="stack" onSubmit={make}>
        {isFirst && <p class="notice">{t('first token')} {t(signsIn ? 'first token admin' : 'first token other')}</p>}
        <Field label={t('name')}><input class="input" autofocus value={name.value} onInput={(e) => (name.value = e.currentTarget.value)} /></Field>
        {isOperator.value && <Field label={t('person')}><input class="input" value={user.value} placeholder={own} onInput={(e) => (user.value = e.currentTarget.value)} /></Field>}
        <div class="columns two">
          <Field label={t('space')} hint={t('space hint')}><input class="input" value={space.value} onInput={(e) => (space.value = e.currentTarget.value)} /></Field>
          <Field label={t('expires')}><input class="input" type="date" value={expires.value} onInput={(e) => (expires.value = e.currentTarget.value)} /></Field>
        </div>
        {isOperator.value && <Check checked={isAdmin.value} onChange={(on) => (isAdmin.value = on)}>{t('admin token')}</Check>}
        <div class="row"><Button type="submit" look="main">{t('make token')}</Button><Button look="plain" onClick={close}>{t('cancel')}</Button></div>
      </form>
    </Dialog>
  );
}
