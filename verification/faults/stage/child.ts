import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A child process that printed `ready` with the facts that others need. */
export type Child = { process: ChildProcess; facts: Record<string, string> };
export type Launch = {
  name: string;
  /** The path in the repository. */
  script: string;
  env: Record<string, string>;
  /** The directory of its log, `<name>.log`. */
  dir: string;
  /** The line that it prints when it is ready. The rest of the line is parsed as `name=value` words. */
  readyWhen: string;
  onSpawn?: (child: ChildProcess) => void;
};

/** No child process outlives the run, however it ends. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

const REPOSITORY = join(import.meta.dirname, '../../..');

/** Resolves when the process is ready, and rejects if it exits before. */
export async function launch({ name, script, env, dir, ...rest }: Launch): Promise<Child> {
  const log = openSync(join(dir, `${name}.log`), 'a');
  const child = spawn(process.execPath, [script], {
    cwd: REPOSITORY,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', log],
  });
  closeSync(log);
  running.add(child);
  child.once('exit', () => running.delete(child));
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error(`${name} has no standard streams`);
  stdin.on('error', () => {});
  rest.onSpawn?.(child);
  const lines = createInterface({ input: stdout });
  for await (const line of lines) {
    if (!line.includes(rest.readyWhen)) continue;
    stdout.resume();
    const words = line.split(' ').flatMap((word) => {
      const at = word.indexOf('=');
      return at > 0 ? [[word.slice(0, at), word.slice(at + 1)]] : [];
    });
    return { process: child, facts: Object.fromEntries(words) as Record<string, string> };
  }
  throw new Error(`${name} ended before it was ready: see ${join(dir, `${name}.log`)}`);
}

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
