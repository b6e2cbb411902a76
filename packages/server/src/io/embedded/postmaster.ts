import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './failure.ts';
import { commandOf, isAlive } from './process-command.ts';
import { draftOf } from './sweep-drafts.ts';

/** What `postmaster.pid` says. PostgreSQL writes it line by line, so an early reader may see less. */
export type PidFile = {
  text: string;
  /** 0 while the file is still empty. */
  pid: number;
  port: number;
  status: 'starting' | 'ready' | 'stopping';
};

export type Sighting =
  /** Nothing runs. A file of a dead process may lie there; PostgreSQL takes it away itself. */
  | { kind: 'none' }
  /** The file names a process that is none of ours (its number was used again): PostgreSQL would refuse to start. */
  | { kind: 'stale'; file: PidFile }
  /** `sure`: the process says itself that it serves our folder. Otherwise only a login with our password can tell. */
  | { kind: 'running'; file: PidFile; sure: boolean };

export async function sightPostmaster(data: string): Promise<Sighting> {
  const file = readPidFile(data);
  if (!file) return { kind: 'none' };
  if (file.pid === 0) return { kind: 'running', file, sure: false };
  const command = await commandOf(file.pid);
  if (command === null) return isAlive(file.pid) ? { kind: 'stale', file } : { kind: 'none' };
  if (command === undefined) return { kind: 'running', file, sure: false };
  if (!command.includes('postgres')) return { kind: 'stale', file };
  return { kind: 'running', file, sure: command.includes(`-D ${data} `) };
}

export function readPidFile(data: string): PidFile | undefined {
  try {
    return parsePidFile(readFileSync(pidFilePath(data), 'utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function parsePidFile(text: string): PidFile {
  const lines = text.split('\n').map((line) => line.trim());
  const status = lines[7] === 'ready' || lines[7] === 'stopping' ? lines[7] : 'starting';
  return { text, pid: wholeNumber(lines[0]), port: wholeNumber(lines[3]), status };
}

/**
 * Takes a file away that names somebody else's process. It is moved first and looked at then: between our look and our
 * hand another starter may have put a good one there, and that one goes back.
 */
export function removeStalePidFile(data: string, stale: PidFile): void {
  const path = pidFilePath(data);
  const aside = draftOf(path);
  try {
    renameSync(path, aside);
    if (readFileSync(aside, 'utf8') !== stale.text) linkSync(aside, path);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(codeOf(error))) throw error;
  }
  rmSync(aside, { force: true });
}

function pidFilePath(data: string): string {
  return join(data, 'postmaster.pid');
}

function wholeNumber(text: string | undefined): number {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : 0;
}
