import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Account } from './account.ts';

export const READ = 4;
export const ENTER = 1;

/**
 * The first folder on the way to `folder`, itself included, that the account may not enter; undefined where the way is open.
 * Judged by mode bits: asking the kernel would need a process under that account, before we know that it can run any.
 */
export async function findClosedFolder(folder: string, account: Account): Promise<string | undefined> {
  for (const step of stepsTo(folder)) {
    if (!permits(await stat(step), account, ENTER)) return step;
  }
  return undefined;
}

/** Groups beyond the first do not count: Node drops them when it changes the uid of a child. */
export function permits(
  file: { uid: number; gid: number; mode: number },
  account: Account,
  wanted: number,
): boolean {
  const shift = file.uid === account.uid ? 6 : file.gid === account.gid ? 3 : 0;
  return ((file.mode >> shift) & wanted) === wanted;
}

/** Every folder from the root down; the path must be a real one, or a link would hide folders. */
export function stepsTo(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [...stepsTo(parent), folder];
}
