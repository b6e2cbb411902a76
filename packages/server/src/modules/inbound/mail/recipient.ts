import { domainPart } from '../../../platform/net/address.ts';
import { type LetterName, readLetterToken, type TokenKeys } from '../../../platform/crypto/email-token.ts';
import { TEST_INBOX_DOMAIN } from '../../sending/index.ts';

/** A recipient that accepts inbound email. `role`: an address for complaints and stray emails, which does not identify an email. */
export type Recipient =
  | { use: 'bounce' | 'reply' | 'unsubscribe'; name: LetterName }
  | { use: 'role'; name: null };

export type RecipientDeps = {
  tokenKeys: TokenKeys;
  /** The domain whose role addresses are accepted; null: only those of the test inbox. */
  mailDomain: string | null;
};

const SEALED = /^([bru])\+([a-z2-7.]{1,64})@/i;
const USES = { b: 'bounce', r: 'reply', u: 'unsubscribe' } as const;
const ROLES = new Set(['fbl', 'abuse', 'postmaster']);

/**
 * Reads a recipient address. The local part is a signed token that identifies the email; the domain may be any that points here. Returns
 * null for all other addresses, which are refused before the email is read.
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
