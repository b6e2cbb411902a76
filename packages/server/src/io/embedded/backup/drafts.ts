import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAtWork } from '../process-command.ts';

/** A name that nobody takes for a backup; the number in it is whose work it is. */
export function draftNameOf(name: string): string {
  return `.${name}.part-${process.pid}`;
}

const DRAFT = /^\.backup-.*\.part-(\d+)$/;

/** What whoever was killed at it has left half done; called before our own is begun. */
export async function sweepBackupDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const maker = DRAFT.exec(name)?.[1];
    if (maker === undefined || isAtWork(Number(maker))) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}
