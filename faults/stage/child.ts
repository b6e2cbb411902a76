import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A process of ours that said `ready` with what others have to know of it. */
export type Child = { process: ChildProcess; facts: Record<string, string> };
export type Launch = {
  name: string;
  /** Of the repository. */
  script: string;
  env: Record<string, string>;
  /** Where its log goes, as `<name>.log`. */
  dir: string;
  /** What it says when it is ready; what follows is read as `name=value` words. */
  readyWhen: string;
  onSpawn?: (child: ChildProcess) => void;
};

/** However the run ends, nobody whom it started outlives it. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

const REPOSITORY = join(import.meta.dirname, '../..');

/** Resolves when it is ready, and rejects when it ends before. */
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
