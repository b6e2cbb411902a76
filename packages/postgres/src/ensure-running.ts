import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from './backoff.ts';
import { EmbeddedFailure } from './failure.ts';
import type { Home } from './home.ts';
import { isLocked, lockedBy } from './lock-cluster.ts';
import { type PidFile, removeStalePidFile, findPostmaster } from './postmaster.ts';
import { START_MAX_MS, startPostmaster } from './start-postmaster.ts';
import { waitUntil } from './wait-until.ts';

export type RunningPostmaster = { file: PidFile; sure: boolean };

/** Obstacles to a start (another starter, the backends of a dead postmaster) disappear soon. */
const CONTENDED_MAX_MS = 20_000;
const CONTENDED_BACKOFF = { baseMs: 50, maxMs: 1_000 };
const LOOK_EVERY_MS = 10;

/** Adopts a running postmaster, waits for one that is starting or stopping, and otherwise starts one. */
export async function ensureRunning(home: Home, signal?: AbortSignal): Promise<RunningPostmaster> {
  const contendedUntil = performance.now() + CONTENDED_MAX_MS;
  for (let attempt = 0; ; attempt += 1) {
    signal?.throwIfAborted();
    const running = await settle(home, signal);
    if (running) return running;
    const begun = performance.now();
    const start = await startPostmaster(home, { signal });
    if (start.kind === 'started') {
      home.log.info(
        {
          pid: start.file.pid,
          port: start.file.port,
          data_dir: home.data,
          ms: Math.round(performance.now() - begun),
        },
        'postgres.started',
      );
      return { file: start.file, sure: true };
    }
    if (start.kind === 'failed' || performance.now() > contendedUntil) {
      if (start.kind === 'later' && start.isLocked) throw lockedBy(home.data);
      throw new EmbeddedFailure('cannot_start', `PostgreSQL of ${home.dataDir} does not start: ${start.why}`);
    }
    home.log.debug({ reason: start.why, attempt }, 'postgres.start_contended');
    await pause(backoffMs(attempt, CONTENDED_BACKOFF), undefined, { signal });
  }
}

/** Returns undefined once no process runs or appears to. */
async function settle(home: Home, signal: AbortSignal | undefined): Promise<RunningPostmaster | undefined> {
  const settled = await waitUntil(() => look(home), { everyMs: LOOK_EVERY_MS, forMs: START_MAX_MS, signal });
  if (settled) return settled === 'none' ? undefined : settled;
  throw new EmbeddedFailure('cannot_start', `PostgreSQL of ${home.dataDir} has been starting for too long`);
}

async function look(home: Home): Promise<RunningPostmaster | 'none' | undefined> {
  const seen = await findPostmaster(home.data);
  if (seen.kind === 'none') return 'none';
  if (seen.kind === 'stale') {
    // The pid may be one of another container; the start that follows detects that.
    if (await isLocked(home)) return 'none';
    removeStalePidFile(home.data, seen.file);
    home.log.warn({ pid: seen.file.pid, data_dir: home.data }, 'postgres.stale_pid_removed');
    return undefined;
  }
  return !seen.sure || seen.file.status === 'ready' ? { file: seen.file, sure: seen.sure } : undefined;
}
