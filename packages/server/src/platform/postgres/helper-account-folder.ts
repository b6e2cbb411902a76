import { chmod, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256 } from '../crypto/hash.ts';

/** It exists on every Linux, belongs to root, is readable by all users, and survives a reboot. */
const ELSEWHERE = '/var/lib/beckon';
const HASH_LETTERS = 16;

/** Returns the folder for files that the account of PostgreSQL could not reach below DATA_DIR. Only root uses it. */
export function elsewhereFor(realDataDir: string): string {
  return join(ELSEWHERE, sha256(realDataDir).slice(0, HASH_LETTERS));
}

/** Uses chmod, because a narrow umask of root would make the folders inaccessible. */
export async function makeElsewhere(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(dirname(folder), 0o755);
  await chmod(folder, 0o711);
}
