import type { LetterSource } from '@beckon/contract/dashboard';

/** The proposal from a rule's edits for this template, read once and put into the editor. */
export function takeProposed(name: string): Partial<LetterSource> | null {
  const key = `beckon-proposal:${name}`;
  const text = sessionStorage.getItem(key);
  if (text === null) return null;
  sessionStorage.removeItem(key);
  return JSON.parse(text) as Partial<LetterSource>;
}

export function isSame(one: LetterSource, other: LetterSource): boolean {
  return (['format', 'subject', 'preheader', 'body'] as const).every((field) => one[field] === other[field]);
}
