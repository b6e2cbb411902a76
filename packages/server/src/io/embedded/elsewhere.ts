import { chmod, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256 } from '../../base/hash.ts';

/** Stands on every Linux, belongs to root, is open to all, and survives a reboot. */
const ELSEWHERE = '/var/lib/beckon';
const HASH_LETTERS = 16;

/** Where root puts what the account of PostgreSQL could not reach below DATA_DIR. */
export function elsewhereFor(realDataDir: string): string {
  return join(ELSEWHERE, sha256(realDataDir).slice(0, HASH_LETTERS));
}

/** With chmod, because a narrow umask of root would close the folders again. */
export async function makeElsewhere(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(dirname(folder), 0o755);
  await chmod(folder, 0o711);
}
