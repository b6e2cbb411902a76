import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../async/backoff.ts';
import { ensureRunning, type Running } from './ensure-running.ts';
import { codeOf, EmbeddedFailure } from './failure.ts';
import { type Hold, takeHold } from './hold.ts';
import type { Home } from './home.ts';
import { isLocked, lockedBy } from './lock-cluster.ts';
import { removeStalePidFile, sightPostmaster } from './postmaster.ts';
import { START_MAX_MS } from './start-postmaster.ts';

const REACH_MAX_MS = 20_000;
const REACH_BACKOFF = { baseMs: 20, maxMs: 500 };
/** A process that cannot be inspected and rejects our login for this long is not our postmaster. */
const UNSURE_MAX_MS = 10_000;
/** PostgreSQL fills its pid file immediately after it creates it. An empty one is left over from a power failure. */
const EMPTY_MAX_MS = 2_000;
const STARTING_UP = '57P03';

/**
 * Acquires a share in the users' lock of a running PostgreSQL, which no other process may then stop. If PostgreSQL is being stopped, it
 * waits for the end and starts it again.
 */
export async function acquireHold(home: Home, signal?: AbortSignal): Promise<Hold> {
  const begun = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    const running = await ensureRunning(home, signal);
    const taken = await takeHold(home, running);
    if (taken.kind === 'held') return taken.hold;
    const elapsedMs = performance.now() - begun;
    const why = taken.kind === 'later' ? taken.why : 'another PostgreSQL answers on its port';
    if (taken.kind === 'foreign' || isForeign(running, { elapsedMs, why }))
      await forgetForeign(home, running);
    if (elapsedMs > (codeOf(why) === STARTING_UP ? START_MAX_MS : REACH_MAX_MS)) {
      throw new EmbeddedFailure(
        'cannot_start',
        `PostgreSQL of ${home.dataDir} cannot be reached: ${String(why)}`,
        why,
      );
    }
    await pause(backoffMs(attempt, REACH_BACKOFF), undefined, { signal });
  }
}

/** Tries once to join a running PostgreSQL; returns undefined if that is impossible now. */
export async function joinRunning(home: Home): Promise<Hold | undefined> {
  const seen = await sightPostmaster(home.data);
  if (seen.kind !== 'running' || seen.file.status !== 'ready') return undefined;
  const taken = await takeHold(home, seen);
  return taken.kind === 'held' ? taken.hold : undefined;
}

function isForeign(running: Running, seen: { elapsedMs: number; why: unknown }): boolean {
  if (running.sure || codeOf(seen.why) === STARTING_UP) return false;
  return seen.elapsedMs > (running.file.pid === 0 ? EMPTY_MAX_MS : UNSURE_MAX_MS);
}

async function forgetForeign(home: Home, running: Running): Promise<void> {
  if (await isLocked(home)) throw lockedBy(home.data);
  home.log.warn({ pid: running.file.pid, data_dir: home.data }, 'postgres.stale_pid_removed');
  removeStalePidFile(home.data, running.file);
}
