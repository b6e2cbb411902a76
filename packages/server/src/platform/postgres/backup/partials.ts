import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../time/clock.ts';
import { isAtWork } from '../process-command.ts';

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
    if (Number(maker) === process.pid && (await lastTouched(path)) > systemClock.now() - STILL_MS) continue;
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
