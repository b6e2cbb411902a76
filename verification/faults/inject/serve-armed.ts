import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FailpointHook } from '../../../packages/server/src/platform/failpoints.ts';
import { type Config, loadConfig } from '../../../packages/server/src/main/config.ts';
import { readRelease } from '../../../packages/server/src/main/release.ts';
import { serve } from '../../../packages/server/src/main/serve.ts';
import { openJournal } from '../journal.ts';
import { type Armed, createTrap, parseArmed } from './arm.ts';

/** Failpoints at which no work is under way. */
const IDLE_POINTS = ['job_started', 'stopping'];
const ENDS_WITHIN_MS = 10_000;

/** Returns the file with the armed failpoint of a process, which reads it on SIGUSR2. */
export function armPath(dir: string, pid: number): string {
  return join(dir, `arm-${pid}`);
}

/** Runs `serve` in a process that can be made to die, fail or stall at a failpoint. */
export async function serveArmed(): Promise<void> {
  const config = loadConfig(process.env, (path) => readFileSync(path, 'utf8'));
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const stopped = Promise.withResolvers<void>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve());
  const server = await serve(config, {
    logTo: 'stderr',
    print,
    release: readRelease(),
    failpoint: listenForArms(config),
  });
  print(`Beckon is ready at ${server.url}`);
  await stopped.promise;
  setTimeout(() => process.exit(1), ENDS_WITHIN_MS).unref();
  await server.stop();
  process.exit();
}

function listenForArms(config: Config): FailpointHook {
  const trap = createTrap({
    databasePort: Number(new URL(config.database?.url ?? 'postgres://embedded:0').port),
    onReached: (armed) => write(config, armed),
  });
  process.on('SIGUSR2', () => {
    const path = armPath(config.dataDir, process.pid);
    trap.set(existsSync(path) ? parseArmed(readFileSync(path, 'utf8')) : null);
  });
  return trap.failpoint;
}

/** Writes to disk before the action, because a killed process can report nothing. */
function write({ dataDir, roles }: Config, { action, point }: Armed): void {
  const journal = openJournal(dataDir, `armed-${process.pid}`);
  const inFlight = IDLE_POINTS.includes(point) ? 0 : 1;
  const detail = `${action} at ${point}`;
  journal.write({
    kind: 'fault',
    at: Date.now(),
    code: 'F1',
    detail,
    victim: [...roles].join('+'),
    inFlight,
  });
  journal.close();
}
