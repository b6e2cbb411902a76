import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Account } from './account.ts';

export const READ = 4;
export const ENTER = 1;

/**
 * Returns the first folder on the path to `folder`, including itself, that the account may not enter; undefined if it may enter all. It
 * checks mode bits: a real check would need a process of that account, before we know whether it can run any.
 */
export async function findClosedFolder(folder: string, account: Account): Promise<string | undefined> {
  for (const step of stepsTo(folder)) {
    if (!permits(await stat(step), account, ENTER)) return step;
  }
  return undefined;
}

/** Supplementary groups do not count, because Node.js drops them when it changes the uid of a child. */
export function permits(
  file: { uid: number; gid: number; mode: number },
  account: Account,
  wanted: number,
): boolean {
  const shift = file.uid === account.uid ? 6 : file.gid === account.gid ? 3 : 0;
  return ((file.mode >> shift) & wanted) === wanted;
}

/** Returns every folder from the root down. The path must be real, because a link would hide folders. */
export function stepsTo(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [...stepsTo(parent), folder];
}
