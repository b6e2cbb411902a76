import { setTimeout as sleep } from 'node:timers/promises';
import { claimRow, lockImport, updateProgress } from '../store.ts';
import { findImport } from '../reads.ts';
import { type Import, NOTHING_COUNTED } from '../import.ts';
import { ImportHalt, type ImportSource } from '../source.ts';
import { moveImport, type MoveOptions } from '../move-import.ts';
import { checkImport } from './check-import.ts';
import { clearImport } from './clear-imports.ts';
import type { ImportDeps } from './deps.ts';
import { holdLease, LEASE_MS, leaveLease } from './lease.ts';
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
  const worked = { one: claimed, troubles: 0 };
  try {
    while (!(await tried(deps, worked, lease.signal)));
  } finally {
    lease.end();
    // If the import has ended or was changed, its epoch differs and this updates no row.
    await leaveLease(deps, claimed).catch((error: unknown) =>
      deps.log.warn({ err: error, import_id: claimed.id }, 'import.lease_not_released'),
    );
  }
}

/** `troubles`: the number of failures since the last progress. */
type Worked = { one: Import; troubles: number };

const TROUBLES_MAX = 5;

/** Returns true when this worker has nothing left to do. */
async function tried(deps: ImportDeps, worked: Worked, signal: AbortSignal): Promise<boolean> {
  try {
    if (worked.troubles > 0 && !(await reloadImport(deps, worked))) return true;
    const source = await openSource(deps, worked.one);
    await (worked.one.state === 'checking'
      ? checkThrough(deps, worked, { source, signal })
      : bring(deps, worked, { source, signal }));
    return true;
  } catch (error) {
    if (signal.aborted) return true;
    worked.troubles += 1;
    const isFinal = error instanceof ImportHalt || worked.troubles > TROUBLES_MAX;
    const { projectId, id } = worked.one;
    deps.log.warn(
      { err: error, project_id: projectId, import_id: id },
      isFinal ? 'import.failed' : 'import.retried',
    );
    if (isFinal) return giveUp(deps, worked.one, error);
    await pause(deps.pauseMs * 2 ** worked.troubles, signal);
    return signal.aborted;
  }
}

/**
 * Reads the row again, because a commit without an answer may have succeeded. Returns false if the import belongs to another worker now.
 */
async function reloadImport({ db }: ImportDeps, worked: Worked): Promise<boolean> {
  const row = await findImport(db, worked.one);
  if (row?.epoch !== worked.one.epoch) return false;
  worked.one = row;
  return true;
}

type Reading = { source: ImportSource; signal: AbortSignal };

async function checkThrough(deps: ImportDeps, { one }: Worked, reading: Reading): Promise<void> {
  const check = await checkImport(deps, one, reading);
  if (check)
    await moveClaimed(deps, one, {
      move: 'conclude',
      change: () => ({ check, counts: NOTHING_COUNTED, facts: {} }),
    });
}

async function bring(deps: ImportDeps, worked: Worked, { source, signal }: Reading): Promise<void> {
  for await (const chunk of source.read(worked.one.place, signal)) {
    for (;;) {
      signal.throwIfAborted();
      const taken = await takeChunk(deps, worked.one, chunk);
      if (taken.state === 'taken') {
        worked.one = taken.one;
        worked.troubles = 0;
        break;
      }
      if (taken.state !== 'full') return;
      if (!(await waitForQueue(deps, worked.one, signal))) return;
    }
  }
  if (await moveClaimed(deps, worked.one, { move: 'finish' })) await clearImport(deps.db, worked.one);
}

/** Waits before the next attempt. Returns false if the import belongs to another worker now. */
async function waitForQueue({ db, pauseMs }: ImportDeps, one: Import, signal: AbortSignal): Promise<boolean> {
  const now = db.clock.now();
  const { place, counts, facts, findings } = one;
  const progress = {
    place,
    counts,
    facts,
    findings,
    at: new Date(now),
    leaseUntil: new Date(now + LEASE_MS),
  };
  const isOurs = await updateProgress(db, one, { ...progress, waitsFor: 'queue' });
  if (isOurs) await pause(pauseMs, signal);
  return isOurs;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

async function giveUp(deps: ImportDeps, one: Import, error: unknown): Promise<true> {
  const move = error instanceof ImportHalt && error.reason === 'unreadable' ? 'fail' : 'give_up';
  const problem =
    error instanceof ImportHalt
      ? error.message.slice(0, PROBLEM_MAX_CHARS)
      : `The import failed ${TROUBLES_MAX + 1} times at the same place. The server log has the reason`;
  const moved = await moveClaimed(deps, one, { move, change: () => ({ problem }) });
  if (moved && move === 'fail') await clearImport(deps.db, one);
  return true;
}

const PROBLEM_MAX_CHARS = 1_000;

/** Returns null if a member changed the import or another worker has it. */
function moveClaimed(
  { db }: Pick<ImportDeps, 'db'>,
  one: Import,
  wanted: Pick<MoveOptions, 'move' | 'change'>,
): Promise<Import | null> {
  return db.transaction(async (tx) => {
    const row = await lockImport(tx, one);
    if (row?.epoch !== one.epoch) return null;
    return moveImport(tx, { ref: one, now: db.clock.now(), ...wanted });
  });
}
