import { sha256 } from '../../base/hash.ts';

/** A number that belongs to the secret and not to its place, so that turning secrets over changes no number. */
export function versionOf(secret: string): number {
  return Number.parseInt(sha256(secret).slice(0, 8), 16);
}
