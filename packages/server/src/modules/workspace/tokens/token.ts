import { TOKEN_SCOPES, type TokenScope } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import { hmacSha256, randomBase62 } from '../../../platform/crypto/hash.ts';

/** A valid, live personal token of a user who is still a member of an organization. */
export type PersonalToken = {
  id: string;
  label: string;
  scopes: TokenScope[];
  expiresAt: Date;
  member: { id: string; name: string; email: string };
};

export const SALT_BYTES = 16;
export const TOKEN_GOOD_MS = 90 * 24 * 3_600_000;
/** How long an ended token is still listed. */
export const ENDED_KEPT_MS = 30 * 24 * 3_600_000;
/** How every personal token begins. */
export const TOKEN_PREFIX = 'bkp_';
const RANDOM_CHARS = 40;
const SHOWN_LAST = 4;
const LABEL_MAX_CHARS = 100;
const PATTERN = /^bkp_[0-9A-Za-z]{40}$/;

export function newToken(): string {
  return `${TOKEN_PREFIX}${randomBase62(RANDOM_CHARS)}`;
}

/** Returns the visible end of a token, or null if it does not have the form of a token. */
export function last4Of(secret: string): string | null {
  return PATTERN.test(secret) ? secret.slice(-SHOWN_LAST) : null;
}

/** Hashes a token. The salt prevents comparing two stored hashes, and the pepper prevents searching the table alone. */
export function hashToken(pepper: Uint8Array, salt: Uint8Array, secret: string): Buffer {
  return hmacSha256(pepper, 'personal token', salt, secret);
}

/** A member reads the label before approving, so it must not contain invisible characters or change the text direction. */
export function checkLabel(label: string): void {
  const isShort = label.trim() !== '' && label.length <= LABEL_MAX_CHARS;
  if (isShort && label.isWellFormed() && !/\p{C}/u.test(label)) return;
  const message = `label must have 1 to ${LABEL_MAX_CHARS} characters, without invisible ones`;
  throw new Fault('validation_failed', { details: [{ message, field: 'label' }] });
}

/** Returns each scope once, in the order of the page. Requires at least one. */
export function readScopes(names: readonly string[]): TokenScope[] {
  const scopes = TOKEN_SCOPES.filter((scope) => names.includes(scope));
  if (scopes.length > 0) return scopes;
  const message = `scopes must have at least one of ${TOKEN_SCOPES.join(', ')}`;
  throw new Fault('validation_failed', { details: [{ message, field: 'scopes' }] });
}
