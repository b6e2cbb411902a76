import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './failure.ts';
import { commandOf, isAlive } from './process-command.ts';
import { draftOf } from './sweep-partials.ts';

/** The content of `postmaster.pid`. PostgreSQL writes it line by line, so an early reader may see less. */
export type PidFile = {
  text: string;
  /** 0 while the file is still empty. */
  pid: number;
  port: number;
  status: 'starting' | 'ready' | 'stopping';
};

export type Sighting =
  /** No process runs. The file of a dead process may exist; PostgreSQL removes it itself. */
  | { kind: 'none' }
  /** The file names an unrelated process (its pid was reused): PostgreSQL would refuse to start. */
  | { kind: 'stale'; file: PidFile }
  /** `sure`: the command line of the process names our folder. Otherwise only a login with our password can prove it. */
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
 * Removes a file that names an unrelated process. The file is moved first and checked afterwards: if another starter has written a good one
 * since the first check, it is moved back.
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
