/** Reading the keyboard: which key was pressed, and what a chord such as `g r` comes to. Nothing here knows the page. */

export type Pressed = {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
};

/** `a`, `Shift+j`, `Mod+k`, `Escape`, `?`. Shift is said only where the sign does not say it already. */
export function nameKey({ key, shiftKey, ctrlKey, metaKey, altKey }: Pressed): string {
  const isLetter = /^[a-z]$/i.test(key);
  const name = isLetter ? key.toLowerCase() : key;
  const shift = shiftKey && (isLetter || key.length > 1) ? 'Shift+' : '';
  return `${ctrlKey || metaKey ? 'Mod+' : ''}${altKey ? 'Alt+' : ''}${shift}${name}`;
}

/** How somebody wants their single keys: none at all, or other ones. Kept by the browser. */
export type KeyWishes = { off: boolean; instead: Record<string, string> };
export const NO_WISHES: KeyWishes = { off: false, instead: {} };

/** A key that is one sign without Mod or Alt: those may be switched off (WCAG 2.2, 2.1.4). */
export function isSingle(name: string): boolean {
  return /^(Shift\+)?.$/u.test(name) || /^. .$/u.test(name);
}

/** What somebody's own key means here; null: it means nothing. A key that was given another does nothing itself. */
export function meant(name: string, { off, instead }: KeyWishes): string | null {
  if (!isSingle(name)) return name;
  if (off) return null;
  const given = Object.entries(instead).find(([, own]) => own === name);
  if (given) return given[0];
  return name in instead ? null : name;
}

export const CHORD_MS = 1_200;
export type Chord = { first: string; at: number } | null;

/** The names to try for this key, the longer first: behind `g` an `r` is `g r`, and by itself `r`. */
export function tries(name: string, chord: Chord, now: number): string[] {
  const isOpen = chord !== null && now - chord.at <= CHORD_MS;
  return isOpen ? [`${chord.first} ${name}`] : [name];
}
