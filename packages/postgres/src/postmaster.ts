import { execFile } from 'node:child_process';
import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { program } from './binaries.ts';
import { codeOf } from './failure.ts';
import type { Home } from './home.ts';
import { commandOf, isAlive } from './process-command.ts';
import { draftOf } from './sweep-partials.ts';
import { waitUntil } from './wait-until.ts';

/** The content of `postmaster.pid`. PostgreSQL writes it line by line, so an early reader may see less. */
export type PidFile = {
  text: string;
  /** 0 while the file is still empty. */
  pid: number;
  port: number;
  status: 'starting' | 'ready' | 'stopping';
};

type PostmasterState =
  /** No process runs. The file of a dead process may exist; PostgreSQL removes it itself. */
  | { kind: 'none' }
  /** The file names an unrelated process (its pid was reused): PostgreSQL would refuse to start. */
  | { kind: 'stale'; file: PidFile }
  /** `sure`: the command line of the process names our folder. Otherwise only a login with our password can prove it. */
  | { kind: 'running'; file: PidFile; sure: boolean };

export async function findPostmaster(data: string): Promise<PostmasterState> {
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

const run = promisify(execFile);

/** Fast (roll back and write all data), then immediate (recovery at the next start), then by force. */
const STEPS = [
  { signal: 'INT', forMs: 30_000 },
  { signal: 'QUIT', forMs: 10_000 },
  { signal: 'KILL', forMs: 5_000 },
] as const;
const LOOK_EVERY_MS = 10;

/** Requires the exclusive users' lock. Returns the strongest signal used; the process has ended then. */
export async function stopPostmaster(home: Home, pid: number): Promise<'INT' | 'QUIT' | 'KILL' | 'none'> {
  for (const { signal, forMs } of STEPS) {
    await sendSignal(home, { pid, signal });
    const gone = async (): Promise<true | undefined> => ((await commandOf(pid)) === null ? true : undefined);
    if (await waitUntil(gone, { everyMs: LOOK_EVERY_MS, forMs })) return signal;
  }
  return 'none';
}

export async function sendSignal(
  home: Home,
  to: { pid: number; signal: 'INT' | 'QUIT' | 'KILL' },
): Promise<void> {
  if (process.platform === 'win32') {
    // On Windows, Node.js can only kill a process. PostgreSQL listens on its own pipe, which pg_ctl uses.
    await run(program(home.native, 'pg_ctl'), ['kill', to.signal, String(to.pid)]).catch(() => {});
    return;
  }
  try {
    process.kill(to.pid, `SIG${to.signal}`);
  } catch (error) {
    home.log.debug({ pid: to.pid, err: error }, 'postgres.gone_before_signal');
  }
}
