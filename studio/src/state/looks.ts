// Theme, and what a person prefers on this machine.
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
export const theme = signal<Theme>((localStorage.getItem('theme') as Theme | null) ?? 'system');

export function startLooks() {
  effect(() => {
    if (theme.value === 'system') {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem('theme');
    } else {
      document.documentElement.dataset.theme = theme.value;
      localStorage.setItem('theme', theme.value);
    }
  });
}

/** A colour of the design, as it is now: for what is drawn on a canvas. */
export const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** What was typed and not sent outlives a reload. */
export function draft(name: string, otherwise = ''): { get: () => string; set: (text: string) => void } {
  return {
    get: () => sessionStorage.getItem(`draft:${name}`) ?? otherwise,
    set: (text) => (text ? sessionStorage.setItem(`draft:${name}`, text) : sessionStorage.removeItem(`draft:${name}`)),
  };
}
