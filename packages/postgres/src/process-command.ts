import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { codeOf } from './failure.ts';

const run = promisify(execFile);

/**
 * Returns the command line of a process: null if it has ended, undefined if it runs but cannot be inspected. A zombie counts as ended,
 * because it holds only its pid. It does not use the working directory, because a container's root can read that of its own uid only.
 */
export async function commandOf(pid: number): Promise<string | null | undefined> {
  if (!isAlive(pid)) return null;
  if (process.platform === 'linux') return readCommand(pid);
  if (process.platform === 'win32') return undefined;
  const { stdout } = await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }));
  return stdout.trim() === '' ? null : stdout.trim();
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/**
 * Returns whether another process still writes a temporary folder of this pid. Our own pid counts as that of a dead process until we create
 * one.
 */
export function isAtWork(maker: number): boolean {
  // Each container numbers its processes from one, so a process started after a killed command has the same pid.
  return maker !== process.pid && isAlive(maker);
}

async function readCommand(pid: number): Promise<string | null | undefined> {
  try {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    return command === '' ? null : command.replaceAll('\0', ' ').trim();
  } catch (error) {
    return ['ENOENT', 'ESRCH'].includes(codeOf(error)) ? null : undefined;
  }
}
