import { chmod, lchown, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EmbeddedFailure } from './failure.ts';

export type Account = { name: string; uid: number; gid: number };

const CANDIDATES = ['postgres', 'nobody'];

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * PostgreSQL refuses to run as root, so root uses an account that owns nothing else of ours. In a plain user's folder it uses that user,
 * who may later start the server without root. initdb requires an account with a name.
 */
export async function chooseAccount(owner: number): Promise<Account> {
  const accounts = parseAccounts(await readFile('/etc/passwd', 'utf8'));
  const ownerAccount = accounts.find(({ uid }) => uid !== 0 && uid === owner);
  if (ownerAccount) return ownerAccount;
  for (const name of CANDIDATES) {
    const account = accounts.find((candidate) => candidate.name === name && candidate.uid !== 0);
    if (account) return account;
  }
  throw new EmbeddedFailure(
    'no_account',
    `As root the embedded PostgreSQL needs a user "postgres" or "nobody" in /etc/passwd, and there is neither. ` +
      `Create one, start the server as another user, or set DATABASE_URL`,
  );
}

export function parseAccounts(passwd: string): Account[] {
  return passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    if (!name || !uid || !gid || name.startsWith('#')) return [];
    // macOS writes the uid of the account `nobody` as -2; the kernel takes the same number unsigned.
    return [{ name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }];
  });
}

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
  permission: number,
): boolean {
  const shift = file.uid === account.uid ? 6 : file.gid === account.gid ? 3 : 0;
  return ((file.mode >> shift) & permission) === permission;
}

/** Returns every folder from the root down. The path must be real, because a link would hide folders. */
export function stepsTo(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [...stepsTo(parent), folder];
}

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
  const below = entries.map((entry) => ({
    path: join(entry.parentPath, entry.name),
    isLink: entry.isSymbolicLink(),
  }));
  return [{ path: folder, isLink: false }, ...below];
}

/** Uses chmod, because a narrow umask of root would make the folders inaccessible. */
export async function makeFallbackFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(dirname(folder), 0o755);
  await chmod(folder, 0o711);
}
