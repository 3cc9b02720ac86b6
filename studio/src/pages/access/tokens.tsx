// Tokens: made here, shown once, revoked at once.
import { useSignal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { address, call, firstPages } from '../../api/client.ts';
import type { Page, Token } from '../../api/types.ts';
import { day, hasBegun, number, startOf, t, word } from '../../i18n/index.ts';
import { Ago, Button, Check, Chip, Empty, Failed, Field, Search, Snippet, tryTo } from '../../parts/basics.tsx';
import { Confirm, Dialog } from '../../parts/layers.tsx';
import { every, isOwner, may, me, signIn } from '../../state/session.ts';
import { useLoaded, useSettled } from '../../state/use.ts';

const scopes = ['chat', 'read', 'write', 'export', 'manage'];
const split = (list: string) => list.split(',').map((one) => one.trim()).filter(Boolean);

/** What a token made, and what that made: it is revoked with it. */
function familyOf(all: Token[], id: string): Token[] {
  return all.filter((k) => k.parent === id && k.state !== 'revoked').flatMap((k) => [...(k.state === 'valid' ? [k] : []), ...familyOf(all, k.id)]);
}

export function Tokens() {
  const [makes, setMakes] = useState(false), [ended, setEnded] = useState(false), [revokes, setRevokes] = useState<{ token: Token; family: Token[] } | null>(null);
  const [typed, setTyped] = useState(''), contains = useSettled(typed.trim()), [pages, setPages] = useState(1);
  const { data, error, reload } = useLoaded(async () => {
    const page = await firstPages(pages, (cursor) => call<Page<Token>>('GET', address('/v1/tokens', { contains, ended, cursor, limit: 100 })));
    const shown = new Set(page.items.map((k) => k.id));
    return { ...page, makers: page.items.some((k) => k.parent && !shown.has(k.parent)) ? await every<Token>('/v1/tokens', { ended: true }) : [] };
  }, [contains, ended, pages]);
  const revoke = (id: string) => tryTo(async () => {
    await call('DELETE', `/v1/tokens/${encodeURIComponent(id)}`);
    reload();
  });
  const ask = (token: Token) => tryTo(async () => setRevokes({ token, family: familyOf(await every<Token>('/v1/tokens', { ended: true }), token.id) }));
  const all = data.value?.items ?? [], names = revokes?.family.map((k) => k.name) ?? [];
  const nameOf = (id: string) => [...all, ...(data.value?.makers ?? [])].find((k) => k.id === id)?.name ?? `${id.slice(0, 8)}…`;
  return (
    <section class="card" aria-label={t('tokens of access')}>
      <header><h2>{t('tokens of access')} <span class="small quiet">{data.value && number(data.value.total)}</span></h2><div class="grow"><Search value={typed} onInput={setTyped} label={t('search tokens')} /></div><div class="row"><Check checked={ended} onChange={setEnded}>{t('with ended')}</Check>{may('manage') && <Button small look="main" icon="plus" onClick={() => setMakes(true)}>{t('new token')}</Button>}</div></header>
      {error.value && <Failed error={error.value} retry={reload} />}
      {data.value && !all.length && !contains && <Empty title={t('no tokens')}><p>{t('no tokens about')}</p></Empty>}
      {all.length > 0 && (
        <div class="table-box">
          <table>
            <thead><tr><th scope="col">{t('name')}</th><th scope="col" class="wide-only">{t('person')}</th><th scope="col" class="wide-only">{t('may')}</th><th scope="col">{t('reaches')}</th><th scope="col" class="wide-only">{t('last used')}</th><th scope="col" class="wide-only">{t('expires')}</th><th scope="col"><span class="hidden-text">{t('actions')}</span></th></tr></thead>
            <tbody>
              {all.map((k) => (
                <tr key={k.id}>
                  <td><bdi class="wrap">{k.name}</bdi> <code class="tiny quiet">{k.prefix}…</code>{k.parent && <div class="tiny quiet wrap">{t('made by', { name: nameOf(k.parent) })}</div>}</td>
                  <td class="wide-only"><bdi class="wrap">{k.user}</bdi></td>
                  <td class="wide-only"><div class="row">{k.scopes ? split(k.scopes).map((s) => <Chip key={s}>{word('scope', s)}</Chip>) : <span class="small quiet">{t('may all')}</span>}</div></td>
                  <td><div class="row">{k.admin && <Chip look="accent">{t('admin')}</Chip>}{(k.spaces ? split(k.spaces) : [k.space || t('all spaces')]).map((s) => <Chip key={s} title={k.spaces ? t('only spaces') : t('space')}><span class="wrap">{s}</span></Chip>)}{k.acts_for && <Chip>{t('acts for', { who: k.acts_for })}</Chip>}</div></td>
                  <td class="small quiet wide-only"><Ago at={k.last_used} />{k.last_used && <div class="tiny">{k.last_address || t('this machine')}</div>}</td>
                  <td class="small quiet wide-only">{k.expires ? day(k.expires) : '–'}</td>
                  <td>{k.state !== 'valid' ? <Chip>{word('state', k.state)}</Chip> : may('manage') && <Button small look="danger" onClick={() => ask(k)}>{t('revoke')}</Button>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {data.value?.next && <div class="pad"><Button onClick={() => setPages(pages + 1)}>{t('more')}</Button></div>}
      {revokes && (
        <Confirm title={t('revoke token')} text={t('revoke token about', { name: revokes.token.name })} action={t('revoke')} close={() => setRevokes(null)} run={() => revoke(revokes.token.id)}>
          {names.length > 0 && <p class="notice">{t('revoke made', { n: names.length })} {names.slice(0, 20).join(', ')}{names.length > 20 && ' …'}</p>}
        </Confirm>
      )}
      {makes && <NewToken isFirst={!me.value?.needs_token} add={(made) => data.value && (data.value = { ...data.value, items: [made, ...data.value.items] })} close={() => { setMakes(false); reload(); }} />}
    </section>
  );
}

interface NewTokenProps { isFirst: boolean; add: (made: Token) => void; close: () => void }

/** With the first token every request needs one: made by an operator it is an admin's, and this browser is signed in with it. */
function NewToken({ isFirst, add, close }: NewTokenProps) {
  const own = me.value?.user ?? '', mine = scopes.filter((s) => !me.value?.scopes || split(me.value.scopes).includes(s)), [first] = useState(isFirst && isOwner.value);
  const name = useSignal(''), user = useSignal(own), space = useSignal(''), expires = useSignal(''), isAdmin = useSignal(first), may = useSignal(mine), only = useSignal(''), made = useSignal<Token | null>(null), isIn = useSignal(false);
  const isOver = expires.value !== '' && hasBegun(expires.value);
  const isOthers = first && !['', own].includes(user.value);
  const signsIn = first && isAdmin.value && !isOthers;
  const make = (e: Event) => {
    e.preventDefault();
    void tryTo(async () => {
      const token = made.value = await call<Token>('POST', '/v1/tokens', {
        ...(name.value && { name: name.value }), ...(user.value && isOwner.value && { user: user.value }), ...(space.value && { space: space.value }),
        ...(may.value.length < mine.length && { scopes: may.value.join(',') }), ...(only.value && !isAdmin.value && { spaces: split(only.value).join(',') }),
        ...(expires.value && { expires: startOf(expires.value) }), ...(isAdmin.value && { admin: true }),
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
        {isOwner.value && <Field label={t('person')} wrong={isOthers ? t('first token yours') : ''}><input class="input" aria-invalid={isOthers} value={user.value} placeholder={own} onInput={(e) => (user.value = e.currentTarget.value)} /></Field>}
        <div class="columns two">
          <Field label={t('space')} hint={t('space hint')}><input class="input" value={space.value} onInput={(e) => (space.value = e.currentTarget.value)} /></Field>
          <Field label={t('expires')} wrong={isOver ? t('expires passed') : ''}><input class="input" type="date" aria-invalid={isOver} value={expires.value} onInput={(e) => (expires.value = e.currentTarget.value)} /></Field>
        </div>
        <div class="field" role="group" aria-label={t('may')}>
          <span>{t('may')}</span>
          <div class="row">{mine.map((s) => <Check key={s} checked={may.value.includes(s)} onChange={(on) => (may.value = mine.filter((x) => (x === s ? on : may.value.includes(x))))}>{word('scope', s)}</Check>)}</div>
        </div>
        {!isAdmin.value && <Field label={t('only spaces')} hint={t('only spaces hint')}><input class="input" value={only.value} onInput={(e) => (only.value = e.currentTarget.value)} /></Field>}
        {isOwner.value && <Check checked={isAdmin.value} onChange={(on) => (isAdmin.value = on)}>{t('admin token')}</Check>}
        <div class="row"><Button type="submit" look="main" disabled={!may.value.length || isOver || isOthers}>{t('make token')}</Button><Button look="plain" onClick={close}>{t('cancel')}</Button></div>
      </form>
    </Dialog>
  );
}
