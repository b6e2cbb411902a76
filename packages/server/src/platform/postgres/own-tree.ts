import { chmod, lchown, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Account } from './account.ts';

/** Gives a whole tree to the account, without following links. */
export async function giveTree(folder: string, account: Account): Promise<void> {
  for (const { path } of await listTree(folder)) await lchown(path, account.uid, account.gid);
}

/** Makes a tree readable and executable for all users; for programs only. */
export async function openTree(folder: string): Promise<void> {
  for (const { path, isLink } of await listTree(folder)) if (!isLink) await chmod(path, 0o755);
}

async function listTree(folder: string): Promise<{ path: string; isLink: boolean }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const below = entries.map((one) => ({
    path: join(one.parentPath, one.name),
    isLink: one.isSymbolicLink(),
  }));
  return [{ path: folder, isLink: false }, ...below];
}
