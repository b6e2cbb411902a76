import { randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { readFacts } from '../facts.ts';
import { codeOf } from '../failure.ts';
import { readPidFile } from '../postmaster.ts';
import { commandOf, isAtWork } from '../process-command.ts';
import { fallbackFolderFor, type Product } from '../product.ts';
import { waitUntil } from '../wait-until.ts';

/** Returns a name that cannot be mistaken for a backup. It contains the pid of the process that writes it. */
export function draftNameOf(name: string): string {
  return `.${name}.part-${process.pid}`;
}

const DRAFT = /^\.backup-.*\.part-(\d+)$/;

/** Removes partial backups of killed processes. Called before a new one is begun. */
export async function sweepBackupDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const maker = DRAFT.exec(name)?.[1];
    if (maker === undefined || isAtWork(Number(maker))) continue;
    const path = join(folder, name);
    // Each container numbers its processes from one: a partial backup with our own pid may belong to another container, which backs up its
    // own installation.
    if (Number(maker) === process.pid && (await lastTouched(path)) > Date.now() - STILL_MS) continue;
    await rm(path, { recursive: true, force: true });
  }
}

const STILL_MS = 2 * 60_000;

async function lastTouched(path: string): Promise<number> {
  const within = await readdir(path, { recursive: true });
  const at = (name: string): Promise<number> =>
    stat(join(path, name)).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
  return Math.max(...(await Promise.all(['', ...within].map(at))));
}

const ENDS_WITHIN_MS = 20_000;

/** Returns a temporary folder beside `target`, in which it is built. The name contains the pid of its process. */
export function restoreDraftOf(target: string): string {
  return `${target}.restore-${process.pid}-${randomBytes(4).toString('hex')}`;
}

const RESTORE_DRAFT = /\.restore-(\d+)-[0-9a-f]{8}$/;

/** Removes the remains of killed restores: a folder, and perhaps a PostgreSQL that runs in it. Called before a new folder is created. */
export async function sweepRestoreDrafts(target: string, product: Product): Promise<void> {
  const names = await readdir(dirname(target)).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
    return [];
  });
  for (const name of names) {
    const maker = RESTORE_DRAFT.exec(name)?.[1];
    const isOurs = maker !== undefined && name.startsWith(`${basename(target)}.restore-`);
    if (isOurs && !isAtWork(Number(maker))) await dropRestoreDraft(join(dirname(target), name), product);
  }
}

export async function dropRestoreDraft(draft: string, product: Product): Promise<void> {
  const data = resolve(draft, readFacts(draft)?.data ?? 'postgres');
  const pid = readPidFile(data)?.pid;
  if (pid && (await commandOf(pid))?.includes(`-D ${data} `)) {
    process.kill(pid, 'SIGQUIT');
    const hasEnded = async (): Promise<true | undefined> =>
      (await commandOf(pid)) === null ? true : undefined;
    await waitUntil(hasEnded, { everyMs: 20, forMs: ENDS_WITHIN_MS });
  }
  await rm(draft, { recursive: true, force: true });
  const fallbackFolder = fallbackFolderFor(draft, product);
  if (data.startsWith(fallbackFolder)) await rm(fallbackFolder, { recursive: true, force: true });
}
