import { setTimeout as sleep } from 'node:timers/promises';
import { claimRow } from '../claim-store.ts';
import { lockImport, updateProgress } from '../store.ts';
import { findImport } from '../reads.ts';
import { type Import, NOTHING_COUNTED } from '../import.ts';
import { ImportHalt, type ImportSource } from '../source.ts';
import { moveImport, type MoveOptions } from '../move-import.ts';
import { checkImport } from './check-import.ts';
import { clearImport } from './clear-imports.ts';
import type { ImportDeps } from './deps.ts';
import { holdLease, LEASE_MS, releaseLease } from './lease.ts';
import { openSource } from './open-source.ts';
import { takeChunk } from './take-chunk.ts';

/** Claims the next import of any project, or only the given one if it is next. The claim lasts until the lease expires. */
export function claimImport(
  { db }: Pick<ImportDeps, 'db'>,
  only: string | null = null,
): Promise<Import | null> {
  const now = db.clock.now();
  return claimRow(db, { now: new Date(now), leaseUntil: new Date(now + LEASE_MS), only });
}

/**
 * Checks or runs an import until it ends, is stopped or paused, or belongs to another worker. Each commit contains a chunk and the progress
 * behind it, so the next worker neither repeats nor skips anything.
 */
export async function workOn(deps: ImportDeps, claimed: Import, stop: AbortSignal): Promise<void> {
  const lease = holdLease(deps, claimed, stop);
  const work = { job: claimed, failures: 0 };
  try {
    while (!(await attempt(deps, work, lease.signal)));
  } finally {
    lease.end();
    // If the import has ended or was changed, its epoch differs and this updates no row.
    await releaseLease(deps, claimed).catch((error: unknown) =>
      deps.log.warn({ err: error, import_id: claimed.id }, 'import.lease_not_released'),
    );
  }
}

/** `failures`: the number of failures since the last progress. */
type WorkState = { job: Import; failures: number };

const FAILURES_MAX = 5;

/** Returns true when this worker has nothing left to do. */
async function attempt(deps: ImportDeps, work: WorkState, signal: AbortSignal): Promise<boolean> {
  try {
    if (work.failures > 0 && !(await reloadImport(deps, work))) return true;
    const source = await openSource(deps, work.job);
    await (work.job.state === 'checking'
      ? checkThrough(deps, work, { source, signal })
      : runImport(deps, work, { source, signal }));
    return true;
  } catch (error) {
    if (signal.aborted) return true;
    work.failures += 1;
    const isFinal = error instanceof ImportHalt || work.failures > FAILURES_MAX;
    const { projectId, id } = work.job;
    deps.log.warn(
      { err: error, project_id: projectId, import_id: id },
      isFinal ? 'import.failed' : 'import.retried',
    );
    if (isFinal) return giveUp(deps, work.job, error);
    await pause(deps.pauseMs * 2 ** work.failures, signal);
    return signal.aborted;
  }
}

/**
 * Reads the row again, because a commit without an answer may have succeeded. Returns false if the import belongs to another worker now.
 */
async function reloadImport({ db }: ImportDeps, work: WorkState): Promise<boolean> {
  const row = await findImport(db, work.job);
  if (row?.epoch !== work.job.epoch) return false;
  work.job = row;
  return true;
}

type ReadInput = { source: ImportSource; signal: AbortSignal };

async function checkThrough(deps: ImportDeps, { job }: WorkState, input: ReadInput): Promise<void> {
  const check = await checkImport(deps, job, input);
  if (check)
    await moveClaimed(deps, job, {
      move: 'conclude',
      change: () => ({ check, counts: NOTHING_COUNTED, facts: {} }),
    });
}

async function runImport(deps: ImportDeps, work: WorkState, { source, signal }: ReadInput): Promise<void> {
  for await (const chunk of source.read(work.job.position, signal)) {
    for (;;) {
      signal.throwIfAborted();
      const result = await takeChunk(deps, work.job, chunk);
      if (result.state === 'taken') {
        work.job = result.job;
        work.failures = 0;
        break;
      }
      if (result.state !== 'full') return;
      if (!(await waitForQueue(deps, work.job, signal))) return;
    }
  }
  if (await moveClaimed(deps, work.job, { move: 'finish' })) await clearImport(deps.db, work.job);
}

/** Waits before the next attempt. Returns false if the import belongs to another worker now. */
async function waitForQueue({ db, pauseMs }: ImportDeps, job: Import, signal: AbortSignal): Promise<boolean> {
  const now = db.clock.now();
  const { position, counts, facts, findings } = job;
  const progress = {
    position,
    counts,
    facts,
    findings,
    at: new Date(now),
    leaseUntil: new Date(now + LEASE_MS),
  };
  const isOurs = await updateProgress(db, job, { ...progress, waitsFor: 'queue' });
  if (isOurs) await pause(pauseMs, signal);
  return isOurs;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

async function giveUp(deps: ImportDeps, job: Import, error: unknown): Promise<true> {
  const move = error instanceof ImportHalt && error.reason === 'unreadable' ? 'fail' : 'give_up';
  const problem =
    error instanceof ImportHalt
      ? error.message.slice(0, PROBLEM_MAX_CHARS)
      : `The import failed ${FAILURES_MAX + 1} times at the same position. The server log has the reason`;
  const moved = await moveClaimed(deps, job, { move, change: () => ({ problem }) });
  if (moved && move === 'fail') await clearImport(deps.db, job);
  return true;
}

const PROBLEM_MAX_CHARS = 1_000;

/** Returns null if a member changed the import or another worker has it. */
function moveClaimed(
  { db }: Pick<ImportDeps, 'db'>,
  job: Import,
  options: Pick<MoveOptions, 'move' | 'change'>,
): Promise<Import | null> {
  return db.transaction(async (tx) => {
    const row = await lockImport(tx, job);
    if (row?.epoch !== job.epoch) return null;
    return moveImport(tx, { ref: job, now: db.clock.now(), ...options });
  });
}
