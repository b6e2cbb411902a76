import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export function hasTool(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export type ToolRun = { code: number | null; output: string; isTimedOut: boolean };

const OUT_MAX = 20 * 1024 * 1024;

/** Runs an external program with a time limit and keeps its output up to a limit. */
export async function runTool(
  program: string,
  args: string[],
  { seconds, cwd, input }: { seconds: number; cwd?: string; input?: string },
): Promise<ToolRun> {
  const child = spawn(program, args, {
    ...(cwd === undefined ? {} : { cwd }),
    // A process group of its own, so that its child processes end with it.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, HOME: cwd ?? process.env['HOME'], TERM: 'dumb' },
  });
  // The answer to a prompt of the program.
  child.stdin.on('error', () => {}).end(input ?? '');
  const chunks: Buffer[] = [];
  let size = 0;
  const keep = (bytes: Buffer): void => {
    size += bytes.length;
    if (size <= OUT_MAX) chunks.push(bytes);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  let isTimedOut = false;
  const end = (signal: NodeJS.Signals): void => {
    isTimedOut = true;
    try {
      process.kill(-(child.pid ?? 0), signal);
    } catch {
      // The process ended at this very moment.
    }
  };
  const soft = setTimeout(() => end('SIGINT'), seconds * 1_000);
  const hard = setTimeout(() => end('SIGKILL'), (seconds + 15) * 1_000);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(soft);
  clearTimeout(hard);
  return { code, output: Buffer.concat(chunks).toString(), isTimedOut };
}
