import { sha256 } from '../../../platform/crypto/hash.ts';

/** Derives the number from the secret and not from its position, so that rotating secrets changes no number. */
export function versionOf(secret: string): number {
  return Number.parseInt(sha256(secret).slice(0, 8), 16);
}
