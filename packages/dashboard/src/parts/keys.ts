/** Reads key events, and chords such as `g r`. Pure functions without the page. */

export type Pressed = {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
};

/** `a`, `Shift+j`, `Mod+k`, `Escape`, `?`. Shift is named only if the character does not imply it. */
export function nameKey({ key, shiftKey, ctrlKey, metaKey, altKey }: Pressed): string {
  const isLetterKey = /^[a-z]$/i.test(key);
  const name = isLetterKey ? key.toLowerCase() : key;
  const shift = shiftKey && (isLetterKey || key.length > 1) ? 'Shift+' : '';
  return `${ctrlKey || metaKey ? 'Mod+' : ''}${altKey ? 'Alt+' : ''}${shift}${name}`;
}

/** A member's settings for single keys: off, or other keys. Stored in the browser. */
export type KeyWishes = { off: boolean; instead: Record<string, string> };
export const NO_WISHES: KeyWishes = { off: false, instead: {} };

/** A one-character key without Mod or Alt. These can be turned off (WCAG 2.2, 2.1.4). */
export function isSingle(name: string): boolean {
  return /^(Shift\+)?.$/u.test(name) || /^. .$/u.test(name);
}

/** The default key of a pressed key; null: none. A key that was replaced has no action. */
export function meant(name: string, { off, instead }: KeyWishes): string | null {
  if (!isSingle(name)) return name;
  if (off) return null;
  const match = Object.entries(instead).find(([, replacement]) => replacement === name);
  if (match) return match[0];
  return name in instead ? null : name;
}

export const CHORD_MS = 1_200;
export type Chord = { first: string; at: number } | null;

/** The names to try for this key, the longest first: after `g`, an `r` is `g r`, else `r`. */
export function tries(name: string, chord: Chord, now: number): string[] {
  const isOpen = chord !== null && now - chord.at <= CHORD_MS;
  return isOpen ? [`${chord.first} ${name}`] : [name];
}
