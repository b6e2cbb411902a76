import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { commandOf, isAlive } from './process-command.ts';

/** Inside a temporary folder: the pid of the process that fills it, which may outlive the Node.js process that started it. */
export const INITDB_PID = 'initdb.pid';

/** Returns a name beside `path` for an incomplete file. A later start reads the pid in it to see whether it is still being written. */
export function draftOf(path: string): string {
  return `${path}.init-${process.pid}-${randomBytes(4).toString('hex')}`;
}

const DRAFT = /\.init-(\d+)-[0-9a-f]{8}$/;
/** A temporary folder is complete within seconds. After this time its pid belongs to another process. */
export const DRAFT_MAX_AGE_MS = 10 * 60 * 1000;

/** Removes temporary files of crashed processes in these folders, but none that are still being written. */
export async function sweepDrafts(folders: string[], nowMs: number): Promise<string[]> {
  const swept: string[] = [];
  for (const folder of new Set(folders)) {
    for (const name of await readdir(folder).catch(() => [])) {
      const maker = DRAFT.exec(name)?.[1];
      const path = join(folder, name);
      if (maker === undefined || (await isBeingMade(path, { maker: Number(maker), nowMs }))) continue;
      await rm(path, { recursive: true, force: true });
      swept.push(basename(path));
    }
  }
  return swept;
}

async function isBeingMade(path: string, facts: { maker: number; nowMs: number }): Promise<boolean> {
  const draft = await stat(path).catch(() => undefined);
  if (!draft) return false;
  if (isAlive(facts.maker) && facts.nowMs - draft.mtimeMs < DRAFT_MAX_AGE_MS) return true;
  const initdb = Number(await readFile(join(path, INITDB_PID), 'utf8').catch(() => ''));
  if (!initdb) return false;
  const command = await commandOf(initdb);
  return command === undefined || (command?.includes(path) ?? false);
}
