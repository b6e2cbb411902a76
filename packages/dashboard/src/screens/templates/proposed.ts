import type { EmailSource } from '@beckon/contract/dashboard';

/** The proposal from a rule's edits for this template, read once and put into the editor. */
export function takeProposed(name: string): Partial<EmailSource> | null {
  const key = `beckon-proposal:${name}`;
  const text = sessionStorage.getItem(key);
  if (text === null) return null;
  sessionStorage.removeItem(key);
  return JSON.parse(text) as Partial<EmailSource>;
}

export function isSame(source: EmailSource, other: EmailSource): boolean {
  return (['format', 'subject', 'preheader', 'body'] as const).every(
    (field) => source[field] === other[field],
  );
}
