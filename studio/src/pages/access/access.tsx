// People, spaces and tokens: who reaches what.
import { useState } from 'preact/hooks';
import { address, call, firstPages, lookAs } from '../../api/client.ts';
import type { Page, Role, Space, User } from '../../api/types.ts';
import { number, t, word } from '../../i18n/index.ts';
import { Ago, Button, Chip, Empty, Failed, Head, Search, Select, tryTo } from '../../parts/basics.tsx';
import { Confirm, TypedConfirm } from '../../parts/layers.tsx';
import { toast } from '../../parts/toasts.tsx';
import { chooseSpace, everySpace, isOperator, isOwner, lookAt, may, me, readMe, readSpaces, signOut } from '../../state/session.ts';
import { useLoaded, useSettled } from '../../state/use.ts';
import { Tokens } from './tokens.tsx';

/** Also those of another user, whom the caller looks at. */
const seesTokens = () => may('manage') || lookAs.value !== '';

export function Access() {
  return (
    <>
      <Head title={t('page access')} about={t('access about')}>
        {me.value?.signed_in_until && <Button icon="out" onClick={() => tryTo(signOut)}>{t('sign out')}</Button>}
      </Head>
      {me.value && <p class="small quiet">{!lookAs.value && t('you are', { user: me.value.user })} {me.value.needs_token ? t('needs token') : t('no tokens yet')}</p>}
      {seesTokens() ? <Tokens /> : <p class="notice">{t('may not manage')}</p>}
      <Spaces />
      {isOperator.value && <Users />}
    </>
  );
}

function Spaces() {
  const { data, error, reload } = useLoaded(everySpace, [], /^(space|memory|turn)\./);
  const [erases, setErases] = useState<Space | null>(null);
  return (
    <section class="card" aria-label={t('spaces')}>
      <header><h2>{t('spaces')}</h2><span class="small quiet">{t('spaces about')}</span></header>
      {error.value && <Failed error={error.value} retry={reload} />}
      {data.value && !data.value.length && <Empty title={t('no spaces')}><p>{t('no spaces about')}</p></Empty>}
      {data.value && data.value.length > 0 && <div class="table-box">
        <table>
          <thead><tr><th scope="col">{t('space')}</th><th scope="col">{t('memories')}</th><th scope="col" class="wide-only">{t('page sessions')}</th><th scope="col" class="wide-only">{t('messages')}</th><th scope="col" class="wide-only">{t('last change')}</th><th scope="col"><span class="hidden-text">{t('actions')}</span></th></tr></thead>
          <tbody>
            {data.value.map((s) => (
              <tr key={s.space}>
                <td><button type="button" class="facet" onClick={() => chooseSpace(s.own ? '' : s.space)}>{s.space}{s.own ? ` (${t('own')})` : ''}</button></td>
                <td class="number">{number(s.memories)}</td><td class="number wide-only">{number(s.sessions)}</td><td class="number wide-only">{number(s.messages)}</td><td class="small quiet wide-only"><Ago at={s.updated} /></td>
                <td>{may('write') && <Button small look="danger" icon="trash" aria-label={t('erase')} onClick={() => setErases(s)}><span class="wide-only">{t('erase')}</span></Button>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>}
      {erases && <TypedConfirm title={t('erase space')} text={t('erase space about', { space: erases.space })} word={erases.space} action={t('erase')} close={() => setErases(null)}
        run={() => tryTo(async () => {
          await call('DELETE', `/v1/spaces/${encodeURIComponent(erases.space)}`);
          await readSpaces();
          reload();
          toast({ text: t('erased') });
        })} />}
    </section>
  );
}

const roles: Role[] = ['member', 'operator', 'owner'];

function Users() {
  const [typed, setTyped] = useState(''), contains = useSettled(typed.trim()), [pages, setPages] = useState(1), [erases, setErases] = useState<{ user: User; people: number } | null>(null), [demotes, setDemotes] = useState<{ user: User; role: Role } | null>(null);
  const { data, error, reload } = useLoaded(() => firstPages(pages, (cursor) => call<Page<User>>('GET', address('/v1/users', { contains, cursor, limit: 100 }))), [contains, pages]);
  const give = (u: User, role: Role) => tryTo(async () => {
    await call('PUT', `/v1/users/${encodeURIComponent(u.id)}/role`, { role });
    if (u.id === me.value?.user) await readMe();
  }).then(reload);
  const look = (u: User) => tryTo(() => lookAt(u.id));
  const ask = (user: User) => tryTo(async () => setErases({ user, people: (await call<Page<User>>('GET', address('/v1/users', { owner: user.id, limit: 1 }))).total }));
  return (
    <section class="card" aria-label={t('people')}>
      <header><h2>{t('people')} <span class="small quiet">{data.value && number(data.value.total)}</span></h2><div class="grow"><Search value={typed} onInput={setTyped} label={t('search people')} /></div></header>
      {error.value && <Failed error={error.value} retry={reload} />}
      <div class="table-box">
        <table>
          <thead><tr><th scope="col">{t('person')}</th><th scope="col">{t('role')}</th><th scope="col">{t('memories')}</th><th scope="col" class="wide-only">{t('messages')}</th><th scope="col" class="wide-only">{t('tokens of access')}</th><th scope="col" class="wide-only">{t('last seen')}</th><th scope="col"><span class="hidden-text">{t('actions')}</span></th></tr></thead>
          <tbody>
            {data.value?.items.map((u) => (
              <tr key={u.id}>
                <td><bdi class="wrap">{u.id}</bdi>{u.email && <span class="tiny quiet"> {u.email}</span>}</td>
                <td>{isOwner.value
                  ? <Select value={u.role} label={t('role of', { person: u.id })} options={roles.map((r) => [r, word('role', r)])}
                      onChange={(role) => (u.role === 'owner' ? setDemotes({ user: u, role: role as Role }) : void give(u, role as Role))} />
                  : word('role', u.role)}</td>
                <td class="number">{number(u.memories)}</td><td class="number wide-only">{number(u.messages)}</td><td class="number wide-only">{u.tokens}</td><td class="small quiet wide-only"><Ago at={u.last_active} /></td>
                <td><div class="row tight">
                  {u.id === me.value?.user && <Chip look="accent">{t('you')}</Chip>}
                  {isOwner.value && u.id !== me.value?.user && <Button small icon="eye" aria-label={t('look as')} title={t('look as about')} onClick={() => look(u)}><span class="wide-only">{t('look as')}</span></Button>}
                  {isOwner.value && <Button small look="danger" icon="trash" aria-label={t('erase')} onClick={() => ask(u)}><span class="wide-only">{t('erase')}</span></Button>}
                </div></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {data.value?.next && <div class="pad"><Button onClick={() => setPages(pages + 1)}>{t('more')}</Button></div>}
      {demotes && <Confirm title={t('demote')} text={t('demote about', { person: demotes.user.id })} action={word('role', demotes.role)} close={() => { setDemotes(null); reload(); }} run={() => give(demotes.user, demotes.role)} />}
      {erases && <TypedConfirm title={t('erase person')} text={`${t('erase person about', { person: erases.user.id })} ${erases.people ? t('erase people about', { n: erases.people }) : ''}`} word={erases.user.id} action={t('erase')} close={() => setErases(null)}
        run={() => tryTo(async () => {
          await call('DELETE', address(`/v1/users/${encodeURIComponent(erases.user.id)}`, { confirm: erases.user.id, people: erases.people > 0 }));
          reload();
          toast({ text: t('erased') });
        })} />}
    </section>
  );
}
