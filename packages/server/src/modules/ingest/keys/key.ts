import { API_KEY_PATTERN } from '@beckon/contract';
import { Fault } from '../../../platform/fault.ts';
import { hmacSha256, randomBase62 } from '../../../platform/crypto/hash.ts';

/** A key whose secret was correct when it was looked up. Only the database shows if it is still active. */
export type VerifiedKey = { id: string; projectId: number; last4: string; livemode: boolean };

export type KeyVerification = { state: 'live' | 'suspended'; key: VerifiedKey } | { state: 'unknown' };
export type ApiKeyState = 'live' | 'suspended' | 'revoked';

/** `test` is for the sandbox of a project. */
export type KeyEnvironment = 'live' | 'test';

export const SALT_BYTES = 16;
const RANDOM_CHARS = 40;
const SHOWN_LAST = 4;
const LABEL_MAX_CHARS = 100;

export function newSecret(env: KeyEnvironment): string {
  return `sk_${env}_${randomBase62(RANDOM_CHARS)}`;
}

/** Returns the readable parts of a secret, or undefined if it cannot be a Beckon key. */
export function readSecret(secret: string): { env: string; last4: string } | undefined {
  const parts = API_KEY_PATTERN.exec(secret);
  return parts ? { env: parts[1] as string, last4: secret.slice(-SHOWN_LAST) } : undefined;
}

/** The salt prevents comparing stored hashes. The pepper prevents searching for secrets with the table alone. */
export function hashSecret(pepper: Uint8Array, salt: Uint8Array, secret: string): Buffer {
  return hmacSha256(pepper, salt, secret);
}

/** Returns the only parts of a secret that are ever shown again: the first 8 characters, which are the prefix, and the last 4. */
export function displayKey(env: string, last4: string): string {
  return `sk_${env}_…${last4}`;
}

export function checkLabel(label: string): void {
  if (label.length >= 1 && label.length <= LABEL_MAX_CHARS && label.isWellFormed() && !/\p{Cc}/u.test(label))
    return;
  const message = `label must have 1 to ${LABEL_MAX_CHARS} characters, without control characters`;
  throw new Fault('validation_failed', { details: [{ message, field: 'label' }] });
}
