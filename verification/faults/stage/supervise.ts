import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Role, Victim } from '../fault.ts';
import { ended, launch } from './child.ts';

export type Supervised = Victim & {
  start(): Promise<void>;
  /** Stops the process with SIGTERM without a restart. */
  stop(): Promise<void>;
};
export type Supervision = {
  name: string;
  role: Role;
  url: string | null;
  env: Record<string, string>;
  dir: string;
  inFlight: (pid: number) => Promise<number>;
};

const SCRIPT = 'verification/faults/stage/product-process.ts';
const AGAIN_AFTER_MS = 200;
const READY_WITHIN_MS = 90_000;
/** A process that does not exit on SIGTERM is killed after this time, as a service manager would. */
const TERM_WITHIN_MS = 30_000;

/** Runs one process of the product and restarts it whenever it exits, until it is stopped. */
export function supervise({ name, role, url, env, dir, inFlight }: Supervision): Supervised {
  let extraEnv: Record<string, string> = {};
  let child: ChildProcess | null = null;
  let running: Promise<void> = Promise.resolve();
  let ready = Promise.withResolvers<void>();
  let stopping = false;

  async function run(): Promise<void> {
    try {
      const launchedChild = await launch({
        name,
        script: SCRIPT,
        env: { ...env, ...extraEnv },
        dir,
        readyWhen: 'Beckon is ready',
        onSpawn: (spawned) => (child = spawned),
      });
      ready.resolve();
      await ended(launchedChild.process);
    } catch {
      // It exited before it was ready, as it does while the database is down.
    }
    child = null;
    ready = Promise.withResolvers();
  }

  async function superviseLoop(): Promise<void> {
    while (!stopping) {
      await run();
      if (!stopping) await pause(AGAIN_AFTER_MS);
    }
  }

  function signal(signalName: NodeJS.Signals): void {
    child?.kill(signalName);
  }

  async function endProcess(signalName: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const target = child;
    if (!target) return;
    signal(signalName);
    // A process stopped by SIGSTOP handles no other signal.
    target.kill('SIGCONT');
    const limit = setTimeout(() => target.kill('SIGKILL'), TERM_WITHIN_MS);
    await ended(target);
    clearTimeout(limit);
    while (child === target) await pause(5);
  }

  async function untilReady(): Promise<void> {
    const giveUpAt = Date.now() + READY_WITHIN_MS;
    while (Date.now() < giveUpAt) {
      const isReady = await Promise.race([ready.promise.then(() => true), pause(500, false)]);
      if (isReady && child) return;
    }
    throw new Error(
      `${name} was not ready within ${READY_WITHIN_MS / 1_000} seconds: see ${dir}/${name}.log`,
    );
  }

  return {
    name,
    role,
    url,
    pid: () => child?.pid ?? null,
    inFlight: () => (child?.pid === undefined ? Promise.resolve(0) : inFlight(child.pid)),
    signal,
    async restart(signalName, newEnv) {
      if (newEnv) extraEnv = { ...extraEnv, ...newEnv };
      await endProcess(signalName);
      await untilReady();
    },
    ready: untilReady,
    async start() {
      stopping = false;
      running = superviseLoop();
      await untilReady();
    },
    async stop() {
      stopping = true;
      await endProcess('SIGTERM');
      await running;
    },
  };
}
