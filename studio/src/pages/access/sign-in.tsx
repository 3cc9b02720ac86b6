// The one page for who is not known yet.
import { useState } from 'preact/hooks';
import { reason } from '../../api/client.ts';
import { t } from '../../i18n/index.ts';
import { Button, Field } from '../../parts/basics.tsx';
import { signIn } from '../../state/session.ts';

export function SignIn() {
  const [token, setToken] = useState(''), [error, setError] = useState('');
  const submit = (e: Event) => {
    e.preventDefault();
    signIn(token.trim()).catch((e) => setError(reason(e)));
  };
  return (
    <main class="sign-in">
      <form class="card pad stack" onSubmit={submit}>
        <h1 tabIndex={-1}>{t('sign in')}</h1>
        <p class="quiet">{t('sign in about')}</p>
        <Field label={t('token')}>
          <input class="input" type="password" autofocus required autocomplete="current-password" aria-invalid={!!error} value={token} onInput={(e) => setToken(e.currentTarget.value)} />
        </Field>
        {error && <p class="notice bad-news" role="alert">{error}</p>}
        <Button type="submit" look="main" disabled={!token.trim()}>{t('sign in')}</Button>
        <p class="tiny quiet">{t('sign in hint')} <code>rememberd token create</code></p>
      </form>
    </main>
  );
}
