import { domainPart } from '../../base/address.ts';
import { type LetterName, readLetterToken, type TokenKeys } from '../../base/letter-token.ts';
import { TEST_INBOX_DOMAIN } from '../../features/sending/index.ts';

/** Whom mail can be written to. `role`: somebody who reads complaints and strays, and knows nothing of which letter it is. */
export type Recipient =
  | { use: 'bounce' | 'reply' | 'unsubscribe'; name: LetterName }
  | { use: 'role'; name: null };

export type RecipientDeps = {
  tokenKeys: TokenKeys;
  /** Whose roles we answer for; null: nobody's but those of the outbox. */
  mailDomain: string | null;
};

const SEALED = /^([bru])\+([a-z2-7.]{1,64})@/i;
const USES = { b: 'bounce', r: 'reply', u: 'unsubscribe' } as const;
const ROLES = new Set(['fbl', 'abuse', 'postmaster']);

/**
 * What stands before the @ is the identity, sealed: behind it is whatever domain is pointed here. Null for everybody else,
 * who is refused before a word of the mail is read.
 */
export function readRecipient(address: string, { tokenKeys, mailDomain }: RecipientDeps): Recipient | null {
  const [, kind, token] = SEALED.exec(address) ?? [];
  if (kind !== undefined && token !== undefined) {
    const use = USES[kind.toLowerCase() as keyof typeof USES];
    const name = readLetterToken(token, use, tokenKeys);
    return name && { use, name };
  }
  const local = address.slice(0, Math.max(address.lastIndexOf('@'), 0)).toLowerCase();
  const isOurs = domainPart(address) === (mailDomain ?? TEST_INBOX_DOMAIN).toLowerCase();
  return isOurs && ROLES.has(local) ? { use: 'role', name: null } : null;
}
