// One line above each page: is memory on, how much is there, what did it do today.
import { computed } from '@preact/signals';
import { isOnline, space } from './api/client.ts';
import { languages, setLanguage, language, t, type Language } from './i18n/index.ts';
import { Button, Select, tryTo } from './parts/basics.tsx';
import { theme, type Theme } from './state/looks.ts';
import { chatsGiven, chooseSpace, isOn, isOperator, me, setOn, signOut, spaces, stats } from './state/session.ts';

const sentence = computed(() => {
  const s = stats.value;
  if (!isOnline.value) return t('state lost');
  if (!s) return '';
  const state = isOn.value === false ? t('state paused') : t('state on');
  return `${state} ${t('state memories', { n: s.memories.open })} ${t('state today', { n: s.today.tokens_injected, chats: t('n chats', { n: chatsGiven(s.today.decisions) }) })}`;
});

const nextTheme: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };

function Spaces() {
  if (spaces.value.length < 2) return null;
  const own = spaces.value.find((s) => s.own)?.space ?? 'default';
  const options: [string, string][] = spaces.value.map((s) => [s.own ? '' : s.space, s.space]);
  if (!spaces.value.some((s) => s.own)) options.unshift(['', own]);
  return <div><Select label={t('space')} value={space.value} onChange={chooseSpace} options={[...options, ['*', t('all spaces')]]} /></div>;
}

export function Top() {
  const dot = !isOnline.value ? 'lost' : isOn.value === false ? 'paused' : '';
  return (
    <header class="top">
      <span class={`state-dot ${dot}`} aria-hidden="true" />
      <span class="grow cut small" role="status" title={sentence.value}>{sentence.value}</span>
      <Spaces />
      {isOn.value !== null && isOperator.value && (
        <Button small icon={isOn.value ? 'pause' : 'play'} onClick={() => tryTo(() => setOn(!isOn.value))}>
          <span class="wide-only">{isOn.value ? t('pause') : t('go on')}</span>
        </Button>
      )}
      <Button small look="plain" icon={theme.value === 'dark' ? 'moon' : theme.value === 'light' ? 'sun' : 'contrast'} label={`${t('theme')}: ${t(`theme ${theme.value}`)}`}
        onClick={() => (theme.value = nextTheme[theme.value])} />
      <Button small look="plain" icon="globe" label={`${t('language')}: ${languages[language.value]}`}
        onClick={() => setLanguage((language.value === 'en' ? 'de' : 'en') as Language)} />
      {me.value?.signed_in_until && <Button small look="plain" icon="out" label={t('sign out')} onClick={() => tryTo(signOut)} />}
    </header>
  );
}
