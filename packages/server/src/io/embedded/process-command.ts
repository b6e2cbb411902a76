import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { codeOf } from './failure.ts';

const run = promisify(execFile);

/**
 * The command line of a process: null where there is none (a zombie counts as none: it holds its pid, but nothing else), undefined where
 * it lives and cannot be asked. Not the working directory: a container's root may read that of its own uid only.
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

/** Whether another process is still at a draft of this maker: our own number is that of a dead one, as long as we have begun none. */
export function isAtWork(maker: number): boolean {
  // Each container counts from one: whoever comes after a killed command has its number.
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
