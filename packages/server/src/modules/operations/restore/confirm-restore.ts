import { Fault } from '../../../platform/fault.ts';
import { iso } from '../../../platform/time/clock.ts';
import {
  type AfterRestore,
  afterRestore,
  classifyRestored,
  type RestoredAt,
} from './drafts-after-restore.ts';
import { type Draft, listOpenDrafts, writeTransitions } from '../../drafts/index.ts';
import { nextEnrollmentAt, setLostTime, wakeRuns, findRunsById, type Run } from '../../rules/index.ts';
import { listProjects } from '../../workspace/index.ts';
import {
  acceptDatabase,
  lockDatabaseTimelines,
  recordIdentity,
  revokeAcceptance,
  type DatabaseTimeline,
  endEmails,
  takeSendLock,
} from '../../sending/index.ts';
import { setTimersEarlier, listTimers } from '../../../platform/locks/timers.ts';
import { takeProjectLock } from '../../../platform/locks/project-lock.ts';
import { countWaiting } from '../../ingest/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { resolveLost } from '../../outcomes/index.ts';

export type ConfirmRestoreInput = {
  /** The time up to which the database has all data. */
  restoredTo: number;
  /** When the previous server stopped; null means the first start of this database. */
  stoppedAt: number | null;
  nothingApproved: boolean;
  /** Only counts; changes nothing. */
  dryRun: boolean;
  actor: string;
};

export type RestoreConfirmation = Record<AfterRestore, number> & { restoredTo: number; stoppedAt: number };

type Deps = Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>;

/**
 * Confirms a restore: an operator states up to which time this database has all data. Every open draft is checked, in pages. A draft that
 * may have been sent in the lost time becomes `unknown` or is held for review. Then the gate opens. An interrupted confirmation can be
 * repeated: drafts that were already checked keep their result.
 */
export async function confirmRestore(db: Deps, input: ConfirmRestoreInput): Promise<RestoreConfirmation> {
  const database = await recordIdentity(db, db.clock.now());
  if (database.acceptedAt !== null)
    throw refused(
      'nothing',
      'This database was not restored, so emails are sent. There is nothing to confirm',
    );
  const { restoredTo } = input;
  const stoppedAt = input.stoppedAt ?? database.seenAt.getTime();
  checkMoments(database, { restoredTo, stoppedAt });
  const projects = (await listProjects(db)).filter(({ livemode }) => livemode);
  await checkCaughtUp(db, { projects, stoppedAt });
  const restored = { stoppedAt, seenAt: database.seenAt.getTime(), nothingApproved: input.nothingApproved };
  const counts: Record<AfterRestore, number> = { unknown: 0, review: 0, unaffected: 0 };
  // Each project is committed by itself, so the failure of one does not roll back the others.
  for (const { id } of projects) await confirmProject(db, { projectId: id, restored, input, counts });
  if (!input.dryRun)
    await db.transaction(async (tx) => {
      await lockDatabaseTimelines(tx);
      const at = db.clock.now();
      const acceptance = { at, origin: 'confirmed', restoredTo, stoppedAt, counts } as const;
      if (!(await acceptDatabase(tx, database, acceptance)))
        throw refused('nothing', 'Another process has already confirmed the restore');
    });
  return { ...counts, restoredTo, stoppedAt };
}

/** Accepts a database in which nothing was lost: a standby with all data, or a copy of a database that was stopped before. */
export async function acceptUnchanged(db: Deps): Promise<void> {
  const database = await recordIdentity(db, db.clock.now());
  const accepted = await acceptDatabase(db, database, { at: db.clock.now(), origin: 'nothing_lost' });
  if (!accepted)
    throw refused(
      'nothing',
      'This database was not restored, so emails are sent. There is nothing to confirm',
    );
}

/** Closes the gate by hand, for a copy that PostgreSQL cannot distinguish from its original, such as a restored disk. */
export async function closeGate(db: Deps): Promise<void> {
  await db.transaction(async (tx) => {
    await lockDatabaseTimelines(tx);
    const at = db.clock.now();
    await revokeAcceptance(tx, { identity: await recordIdentity(tx, at), at });
  });
}

function checkMoments(
  database: DatabaseTimeline,
  { restoredTo, stoppedAt }: { restoredTo: number; stoppedAt: number },
) {
  if (restoredTo > stoppedAt)
    throw refused(
      'until',
      `The restored moment, ${iso(restoredTo)}, is later than the end of the previous server, ${iso(stoppedAt)}`,
    );
  if (stoppedAt > database.seenAt.getTime())
    throw refused(
      'stopped_at',
      `This database has been separate since ${iso(database.seenAt.getTime())}, so the previous server had stopped by then`,
    );
}

type CaughtUpInput = { projects: { id: number }[]; stoppedAt: number };

/**
 * Every draft that time and the ingest queue still create, in suspended projects too, has to exist before drafts are classified. A running
 * enrollment is due at the time of its last batch, which is after `stoppedAt`, so it is checked separately. The users of its later batches
 * may have received their emails from the previous server.
 */
async function checkCaughtUp(db: Deps, { projects, stoppedAt }: CaughtUpInput): Promise<void> {
  for (const { id } of projects) {
    const { live, bulk } = await countWaiting(db, id);
    const dueAt = (await listTimers(db, id)).find(({ work }) => work === 'process')?.nextAt ?? null;
    if (live + bulk > 0 || (dueAt !== null && dueAt.getTime() <= stoppedAt))
      throw refused(
        'behind',
        `Project ${id} has not processed all records up to ${iso(stoppedAt)}. Let the server run for a moment, then confirm again`,
      );
    if ((await nextEnrollmentAt(db, id)) !== null)
      throw refused(
        'behind',
        `Project ${id} is still enrolling members of an audience. Wait for the enrollment to end or disable its rule, then confirm again`,
      );
  }
}

type ProjectRestore = {
  projectId: number;
  restored: RestoredAt;
  input: ConfirmRestoreInput;
  counts: Record<AfterRestore, number>;
};

const PAGE = 500;

async function confirmProject(db: Deps, project: ProjectRestore): Promise<void> {
  for (let after: string | null = null; ;) {
    const page: string | null = await db.transaction((tx) =>
      confirmPage(tx, project, { after, now: db.clock.now() }),
    );
    if (page === null) return;
    after = page;
  }
}

async function confirmPage(
  tx: Tx,
  { projectId, restored, input, counts }: ProjectRestore,
  { after, now }: { after: string | null; now: number },
): Promise<string | null> {
  await takeProjectLock(tx, projectId);
  await takeSendLock(tx, projectId);
  const drafts = await listOpenDrafts(tx, { projectId, ruleId: null, after, limit: PAGE });
  const runs = await runsOf(tx, projectId, drafts);
  const classified = drafts.map((draft) => {
    const run = runs.get(draft.runId ?? '');
    const isNew = run !== undefined && isNewEvent(run, restored.stoppedAt);
    const found = draft.reason === 'restored' ? 'review' : classifyRestored(draft, restored, isNew);
    counts[found] += 1;
    return { draft, found };
  });
  if (!input.dryRun) await write(tx, { projectId, classified, restored, input, now });
  return drafts.length < PAGE ? null : (drafts.at(-1)?.id ?? null);
}

async function runsOf(tx: Tx, projectId: number, drafts: Draft[]): Promise<Map<string, Run>> {
  const keys = drafts.flatMap(({ runId }) => (runId === null ? [] : [{ projectId, id: runId }]));
  return new Map((await findRunsById(tx, keys)).map((run) => [run.id, run]));
}

/** Only an event carries its own time. Audience joins and approaching dates happen on any server, when its clock gets there. */
function isNewEvent({ anchor }: Run, stoppedAt: number): boolean {
  return anchor.kind === 'event' && Math.min(anchor.occurredAt, anchor.acceptedAt) > stoppedAt;
}

type RestoreWrite = {
  projectId: number;
  classified: { draft: Draft; found: AfterRestore }[];
  restored: RestoredAt;
  input: ConfirmRestoreInput;
  now: number;
};

async function write(tx: Tx, { projectId, classified, restored, input, now }: RestoreWrite): Promise<void> {
  const detail = { restored_to: iso(input.restoredTo), stopped_at: iso(restored.stoppedAt) };
  const context = { now, actor: input.actor, detail };
  const moved = classified
    // Skip drafts that an interrupted confirmation already holds.
    .filter(({ draft }) => draft.reason !== 'restored')
    .flatMap(({ draft, found }) => afterRestore(draft, found, context) ?? []);
  await writeTransitions(tx, moved);
  const ended = moved.filter(({ draft }) => draft.endedAt !== null);
  const ends = ended.map(({ draft }) => ({
    projectId,
    draftId: draft.id,
    epoch: null,
    sendResult: { result: 'unknown' as const, reason: 'possibly_sent' },
    isAgain: false,
  }));
  await endEmails(tx, { at: now, ends });
  await resolveLost(tx, { projectId, drafts: ended.map(({ draft }) => draft), now });
  const affected = classified
    .filter(({ found }) => found !== 'unaffected')
    .flatMap(({ draft }) => runOf(draft));
  await setLostTime(tx, { projectId, ids: affected, lostMs: restored.stoppedAt - input.restoredTo });
  const runs = ended.flatMap(({ draft }) => runOf(draft));
  const awake = await wakeRuns(tx, { projectId, ids: runs, at: now });
  if (awake.length > 0) await setTimersEarlier(tx, 'process', [{ projectId, nextAt: new Date(now) }]);
}

/** Returns the run that waits for the draft. No run waits for an email that is resent. */
function runOf({ runId, resendOf }: Draft): string[] {
  return resendOf === null && runId !== null ? [runId] : [];
}

function refused(field: string, message: string): Fault {
  return new Fault('conflict', { details: [{ message, field }] });
}
