import type { ClockAdvanced, ProjectClock } from '@beckon/contract/dashboard';
import { randomUUID } from 'node:crypto';
import { iso } from '../../platform/time/clock.ts';
import { parseDuration } from '../../platform/time/time-text.ts';
import { Fault } from '../../platform/fault.ts';
import type { NewId } from '../../platform/ids.ts';
import type { TokenKeys } from '../../platform/crypto/email-token.ts';
import type { Log } from '../../platform/log.ts';
import { ensurePartitions, isPartitioned, SANDBOX_MONTHS_AHEAD } from '../users/index.ts';
import { findPair } from '../workspace/index.ts';
import { countSandbox, endAdvance, takeAdvance } from './store.ts';
import { takeSendLock, type SuppressionHasher } from '../sending/index.ts';
import { listTimers } from '../../platform/locks/timers.ts';
import { readProjectLock, takeProjectLock } from '../../platform/locks/project-lock.ts';
import { setClockAhead, lockTimer } from '../../platform/locks/store.ts';
import type { Database } from '../../platform/db/database.ts';
import { createProcessor } from '../processing/index.ts';
import { createSender, type SendServices } from '../delivery/index.ts';
import { type Engine, settle } from './run-due-work.ts';
import { testInboxTransport } from '../review/index.ts';

export type AdvanceDeps = {
  db: Database;
  log: Log;
  newId: NewId;
  sendServices: SendServices;
  tokenKeys: TokenKeys;
  hasher: SuppressionHasher;
};

const DAY_MS = 86_400_000;
const ADVANCE_MAX_MS = 366 * DAY_MS;
/**
 * How far the clock may be ahead of real time in total: a trial of a year, and a month for what follows it. Each month up to there has a
 * partition of `event`, which costs every project planning time, so all sandboxes share one limit.
 */
const AHEAD_MAX_DAYS = 400;
const AHEAD_MAX_MS = AHEAD_MAX_DAYS * DAY_MS;
/** An advance that takes longer stops where it is, before its caller gives up. */
const WORK_MAX_MS = 25_000;
const STEPS_MAX = 100_000;
/** How long the lease of a killed process lasts. */
const LEASE_MS = 10_000;
const RENEW_EVERY_MS = 2_000;

/** Reads how far to advance: forward, and at most a year at a time. */
export function readAdvance(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms <= ADVANCE_MAX_MS) return ms;
  const message = 'advance must be a whole number and s, m, h or d, such as 90m or 7d, and at most 366d';
  throw new Fault('validation_failed', { details: [{ message, field: 'advance' }] });
}

/**
 * Advances the clock of a sandbox.
 *
 * It moves from one due time to the next, as real time would, and does what is due there and everything that follows. It returns when
 * nothing is left to do at the last one. Completed work stays, whatever stops the advance: the clock then shows the time that it reached.
 * `onStart` is called before the first change.
 */
export async function advanceClock(
  deps: AdvanceDeps,
  { projectId, ms, onStart }: { projectId: number; ms: number; onStart?: () => void },
): Promise<ClockAdvanced> {
  const { db } = deps;
  await requireOpen(db, projectId);
  const run: AdvanceRun = {
    ...deps,
    projectId,
    holder: randomUUID(),
    steps: 0,
    endsAt: performance.now() + WORK_MAX_MS,
    leasedAt: 0,
  };
  if (!(await renewLease(run)))
    throw conflict('The clock of this sandbox is already being advanced. Try again when it has finished');
  try {
    const before = await countSandbox(db, projectId);
    const { aheadMs } = await readProjectLock(db, projectId);
    if (aheadMs + ms > AHEAD_MAX_MS) throw tooFar(aheadMs);
    onStart?.();
    await advanceTo(run, aheadMs + ms);
    const after = await countSandbox(db, projectId);
    return {
      now: iso(db.clock.now() + aheadMs + ms),
      advanced_ms: ms,
      drafts: after.drafts - before.drafts,
      emails: after.emails - before.emails,
    };
  } finally {
    await endAdvance(db, run);
  }
}

/** Returns the time of a project. */
export async function findClock(
  db: Pick<Database, 'query' | 'prepared' | 'clock'>,
  projectId: number,
): Promise<ProjectClock> {
  const { aheadMs } = await readProjectLock(db, projectId);
  return { now: iso(db.clock.now() + aheadMs), ahead_ms: aheadMs };
}

type AdvanceRun = AdvanceDeps & {
  projectId: number;
  holder: string;
  steps: number;
  endsAt: number;
  leasedAt: number;
};

async function requireOpen(db: Database, projectId: number): Promise<void> {
  const { livemode, isClosed, isSuspended } = await findPair(db, projectId);
  if (livemode) throw conflict('Only a sandbox has a test clock, and this is a production project');
  if (isClosed) throw conflict('This sandbox is closed. Turn on the setting `sandbox` of its project');
  if (isSuspended) throw conflict('The project of this sandbox is suspended');
}

function renewLease(run: AdvanceRun): Promise<boolean> {
  const { db, projectId, holder } = run;
  const now = db.clock.now();
  run.leasedAt = performance.now();
  return takeAdvance(db, { projectId, holder, now: new Date(now), until: new Date(now + LEASE_MS) });
}

async function advanceTo(run: AdvanceRun, targetMs: number): Promise<void> {
  const { db, log, newId, hasher, sendServices, tokenKeys, projectId } = run;
  const transport = testInboxTransport(db);
  const engine: Engine = {
    db,
    projectId,
    processor: createProcessor({ db, log, newId, hasher }),
    sender: createSender({ db, log, newId, sendServices, tokenKeys, transport }),
  };
  for (let isThere = false; !isThere;) {
    await settleOrThrow(run, engine);
    const { aheadMs } = await readProjectLock(db, projectId);
    isThere = aheadMs >= targetMs;
    if (!isThere) await moveTo(run, Math.min(targetMs, aheadMs + (await nextIn(engine))));
  }
}

/** Returns the time until the next work is due, apart from webhooks. */
async function nextIn({ db, projectId }: Engine): Promise<number> {
  const timers = await listTimers(db, projectId);
  const moments = timers.flatMap(({ work, nextAt }) =>
    work === 'webhooks' || !nextAt ? [] : nextAt.getTime(),
  );
  return Math.max(0, Math.min(...moments, Infinity) - db.clock.now());
}

async function settleOrThrow(run: AdvanceRun, engine: Engine): Promise<void> {
  run.steps += 1;
  const isSettled = await settle(engine, () => canContinue(run));
  if (isSettled) return;
  const { aheadMs } = await readProjectLock(run.db, run.projectId);
  const now = iso(run.db.clock.now() + aheadMs);
  throw conflict(`The advance reached its work limit at ${now}. Advance again to continue`);
}

/** Returns false at the limits of time and steps, or if another process took over after the lease expired. */
async function canContinue(run: AdvanceRun): Promise<boolean> {
  const now = performance.now();
  if (now >= run.endsAt || run.steps > STEPS_MAX) return false;
  return now - run.leasedAt < RENEW_EVERY_MS || renewLease(run);
}

/** Changes the time with both locks held, so that each worker uses a single time in its transaction. */
async function moveTo({ db, projectId }: AdvanceRun, aheadMs: number): Promise<void> {
  await keepPartitions(db, db.clock.now() + aheadMs);
  await db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    await takeSendLock(tx, projectId);
    await lockTimer(tx, projectId, 'process');
    await lockTimer(tx, projectId, 'send');
    await setClockAhead(tx, { projectId, aheadMs });
  });
}

const TRIES = 20;
const RETRY_MS = 50;

/** Makes the partition for the month of the new time. Making one gives way to transactions that use events, and is retried. */
async function keepPartitions(db: Database, now: number): Promise<void> {
  for (let attempt = 1; !(await isPartitioned(db, now)); attempt += 1) {
    try {
      await ensurePartitions(db, now, SANDBOX_MONTHS_AHEAD);
    } catch (error) {
      if (attempt === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

function tooFar(aheadMs: number): Fault {
  const remainingDays = Math.max(0, Math.floor((AHEAD_MAX_MS - aheadMs) / DAY_MS));
  const message = `The clock of a sandbox can be at most ${AHEAD_MAX_DAYS} days ahead of real time. ${
    remainingDays === 0 ? 'It cannot be advanced by another day' : `Advance it by ${remainingDays}d at most`
  }`;
  return new Fault('validation_failed', { details: [{ message, field: 'advance' }] });
}

function conflict(message: string): Fault {
  return new Fault('conflict', { details: [{ message, field: 'project' }] });
}
