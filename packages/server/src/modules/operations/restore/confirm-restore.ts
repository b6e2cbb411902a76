import { Fault } from '../../../platform/fault.ts';
import { iso } from '../../../platform/time/clock.ts';
import { type AfterRestore, afterRestore, judgeRestored, type RestoredAt } from './drafts-after-restore.ts';
import { type Draft, listOpenDrafts, writeMoved } from '../../drafts/index.ts';
import { nextEnrollmentAt, doubtRuns, wakeRuns, findRunsById, type Run } from '../../rules/index.ts';
import { listProjects } from '../../workspace/index.ts';
import {
  acceptPlace,
  lockLineage,
  noteHere,
  takeBackAcceptance,
  type Lineage,
  endMessages,
  takeSendTurn,
} from '../../sending/index.ts';
import { dueEarlier, duesOf } from '../../../platform/locks/timers.ts';
import { takeTurn } from '../../../platform/locks/project-lock.ts';
import { countWaiting } from '../../ingest/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { resolveLost } from '../../outcomes/index.ts';

export type Confirming = {
  /** The time up to which the database has all data. */
  restoredTo: number;
  /** When the previous server stopped; null means the first start of this database. */
  stoppedAt: number | null;
  nothingApproved: boolean;
  /** Only counts; changes nothing. */
  dryRun: boolean;
  actor: string;
};

export type Confirmed = Record<AfterRestore, number> & { restoredTo: number; stoppedAt: number };

type Deps = Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>;

/**
 * Confirms a restore: an operator states up to which time this database has all data. Every open draft is checked, in pages. A draft that
 * may have been sent in the lost time becomes `unknown` or is held for review. Then the gate opens. An interrupted confirmation can be
 * repeated: drafts that were already checked keep their result.
 */
export async function confirmRestore(db: Deps, confirming: Confirming): Promise<Confirmed> {
  const place = await noteHere(db, db.clock.now());
  if (place.acceptedAt !== null)
    throw refused(
      'nothing',
      'This database was not restored, so emails are sent. There is nothing to confirm',
    );
  const { restoredTo } = confirming;
  const stoppedAt = confirming.stoppedAt ?? place.seenAt.getTime();
  checkMoments(place, { restoredTo, stoppedAt });
  const projects = (await listProjects(db)).filter(({ livemode }) => livemode);
  await checkCaughtUp(db, { projects, stoppedAt });
  const restored = { stoppedAt, seenAt: place.seenAt.getTime(), nothingApproved: confirming.nothingApproved };
  const counts: Record<AfterRestore, number> = { unknown: 0, review: 0, unaffected: 0 };
  // Each project is committed by itself, so the failure of one does not roll back the others.
  for (const { id } of projects) await ofProject(db, { projectId: id, restored, confirming, counts });
  if (!confirming.dryRun)
    await db.transaction(async (tx) => {
      await lockLineage(tx);
      const at = db.clock.now();
      const said = { at, how: 'confirmed', restoredTo, stoppedAt, counts } as const;
      if (!(await acceptPlace(tx, place, said)))
        throw refused('nothing', 'Another process has already confirmed the restore');
    });
  return { ...counts, restoredTo, stoppedAt };
}

/** Accepts a database in which nothing was lost: a standby with all data, or a copy of a database that was stopped before. */
export async function acceptUnchanged(db: Deps): Promise<void> {
  const place = await noteHere(db, db.clock.now());
  const accepted = await acceptPlace(db, place, { at: db.clock.now(), how: 'nothing_lost' });
  if (!accepted)
    throw refused(
      'nothing',
      'This database was not restored, so emails are sent. There is nothing to confirm',
    );
}

/** Closes the gate by hand, for a copy that PostgreSQL cannot distinguish from its original, such as a restored disk. */
export async function closeGate(db: Deps): Promise<void> {
  await db.transaction(async (tx) => {
    await lockLineage(tx);
    const at = db.clock.now();
    await takeBackAcceptance(tx, { place: await noteHere(tx, at), at });
  });
}

function checkMoments(place: Lineage, { restoredTo, stoppedAt }: { restoredTo: number; stoppedAt: number }) {
  if (restoredTo > stoppedAt)
    throw refused(
      'until',
      `The restored moment, ${iso(restoredTo)}, is later than the end of the previous server, ${iso(stoppedAt)}`,
    );
  if (stoppedAt > place.seenAt.getTime())
    throw refused(
      'stopped_at',
      `This database has been separate since ${iso(place.seenAt.getTime())}, so the previous server had stopped by then`,
    );
}

type Lagging = { projects: { id: number }[]; stoppedAt: number };

/**
 * Every draft that time and the ingest queue still create, in suspended projects too, has to exist before drafts are judged. A running
 * enrollment is due at the time of its last batch, which is after `stoppedAt`, so it is checked separately. The users of its later batches
 * may have received their emails from the previous server.
 */
async function checkCaughtUp(db: Deps, { projects, stoppedAt }: Lagging): Promise<void> {
  for (const { id } of projects) {
    const { live, bulk } = await countWaiting(db, id);
    const due = (await duesOf(db, id)).find(({ work }) => work === 'process')?.nextAt ?? null;
    if (live + bulk > 0 || (due !== null && due.getTime() <= stoppedAt))
      throw refused(
        'behind',
        `Project ${id} has not processed all records up to ${iso(stoppedAt)}. Let the server run for a moment, then confirm again`,
      );
    if ((await nextEnrollmentAt(db, id)) !== null)
      throw refused(
        'behind',
        `Project ${id} is still enrolling members of an audience. Wait for the enrollment to end or turn off its rule, then confirm again`,
      );
  }
}

type OfProject = {
  projectId: number;
  restored: RestoredAt;
  confirming: Confirming;
  counts: Record<AfterRestore, number>;
};

const PAGE = 500;

async function ofProject(db: Deps, of: OfProject): Promise<void> {
  for (let after: string | null = null; ;) {
    const page: string | null = await db.transaction((tx) => ofPage(tx, of, { after, now: db.clock.now() }));
    if (page === null) return;
    after = page;
  }
}

async function ofPage(
  tx: Tx,
  { projectId, restored, confirming, counts }: OfProject,
  { after, now }: { after: string | null; now: number },
): Promise<string | null> {
  await takeTurn(tx, projectId);
  await takeSendTurn(tx, projectId);
  const drafts = await listOpenDrafts(tx, { projectId, ruleId: null, after, limit: PAGE });
  const runs = await runsOf(tx, projectId, drafts);
  const judged = drafts.map((draft) => {
    const run = runs.get(draft.runId ?? '');
    const isNew = run !== undefined && isUnheardOf(run, restored.stoppedAt);
    const found = draft.reason === 'restored' ? 'review' : judgeRestored(draft, restored, isNew);
    counts[found] += 1;
    return { draft, found };
  });
  if (!confirming.dryRun) await write(tx, { projectId, judged, restored, confirming, now });
  return drafts.length < PAGE ? null : (drafts.at(-1)?.id ?? null);
}

async function runsOf(tx: Tx, projectId: number, drafts: Draft[]): Promise<Map<string, Run>> {
  const keys = drafts.flatMap(({ runId }) => (runId === null ? [] : [{ projectId, id: runId }]));
  return new Map((await findRunsById(tx, keys)).map((run) => [run.id, run]));
}

/** Only an event carries its own time. Audience joins and approaching dates happen on any server, when its clock gets there. */
function isUnheardOf({ anchor }: Run, stoppedAt: number): boolean {
  return anchor.kind === 'event' && Math.min(anchor.occurredAt, anchor.acceptedAt) > stoppedAt;
}

type Writing = {
  projectId: number;
  judged: { draft: Draft; found: AfterRestore }[];
  restored: RestoredAt;
  confirming: Confirming;
  now: number;
};

async function write(tx: Tx, { projectId, judged, restored, confirming, now }: Writing): Promise<void> {
  const detail = { restored_to: iso(confirming.restoredTo), stopped_at: iso(restored.stoppedAt) };
  const doubting = { now, actor: confirming.actor, detail };
  const moved = judged
    // Skip drafts that an interrupted confirmation already holds.
    .filter(({ draft }) => draft.reason !== 'restored')
    .flatMap(({ draft, found }) => afterRestore(draft, found, doubting) ?? []);
  await writeMoved(tx, moved);
  const ended = moved.filter(({ draft }) => draft.endedAt !== null);
  const ends = ended.map(({ draft }) => ({
    projectId,
    draftId: draft.id,
    epoch: null,
    state: 'unknown' as const,
    reason: 'possibly_sent',
    reply: null,
    relayId: null,
  }));
  await endMessages(tx, { at: now, ends });
  await resolveLost(tx, { projectId, drafts: ended.map(({ draft }) => draft), now });
  const doubted = judged.filter(({ found }) => found !== 'unaffected').flatMap(({ draft }) => runOf(draft));
  await doubtRuns(tx, { projectId, ids: doubted, lostMs: restored.stoppedAt - confirming.restoredTo });
  const runs = ended.flatMap(({ draft }) => runOf(draft));
  const awake = await wakeRuns(tx, { projectId, ids: runs, at: now });
  if (awake.length > 0) await dueEarlier(tx, 'process', [{ projectId, nextAt: new Date(now) }]);
}

/** Returns the run that waits for the draft. No run waits for an email that is resent. */
function runOf({ runId, resendOf }: Draft): string[] {
  return resendOf === null && runId !== null ? [runId] : [];
}

function refused(field: string, message: string): Fault {
  return new Fault('conflict', { details: [{ message, field }] });
}
