import { createInterface } from 'node:readline';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { silentLog } from '../../src/platform/log.ts';
import { openDatabase } from '../../src/platform/db/database.ts';
import { startImporter } from '../../src/modules/imports/run/importer.ts';
import { importDeps } from '../factories/imports.ts';

/**
 * An import worker in a process of its own, to be killed. Its clock is so far ahead of the others' that the leases of workers killed before
 * have expired.
 */
export type ImportWorker = { kill(): Promise<void> };

export async function spawnImporter(databaseUrl: string, aheadMs: number): Promise<ImportWorker> {
  const self = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [self, databaseUrl, String(aheadMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (!child.stdout) throw new Error('a child without a voice');
  const ended = once(child, 'exit').then(() => {
    throw new Error('a worker ended before it was at work');
  });
  await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  ended.catch(() => undefined);
  return { kill: () => killed(child) };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = once(child, 'exit');
  child.kill('SIGKILL');
  await over;
}

async function work(url: string, aheadMs: number): Promise<void> {
  const db = await openDatabase({
    connection: () => ({ connectionString: url }),
    clock: { now: () => Date.now() + aheadMs },
    log: silentLog,
  });
  startImporter(importDeps(db));
  process.stdout.write('at work\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await work(process.argv[2] ?? '', Number(process.argv[3]));
