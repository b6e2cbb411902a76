import { setImmediate } from 'node:timers/promises';
import type { NewId } from '../../platform/ids.ts';
import { findMemberVersions, writeMemberships } from '../audiences/index.ts';
import {
  writeDecisions,
  type Model,
  type Models,
  excludeLeavers,
  applyRules,
  activitiesIn,
  type SlowRenders,
} from '../rules/index.ts';
import {
  claimDedupe,
  countEvents,
  storeEvents,
  type Total,
  isCountedFor,
  type PropertyCache,
  type NewEvent,
  type ChangedPerson,
  findErasures,
  findLift,
  findPeople,
  personKey,
  writePeople,
  isSuppressed,
} from '../users/index.ts';
import { type IngestPriority, oldestWaiting, settle, takeChunks, sendActivity } from '../ingest/index.ts';
import type { SuppressionHasher } from '../sending/index.ts';
import { setTimersEarlier, earliestPerProject } from '../../platform/locks/timers.ts';
import { withClockAhead, type ProjectLock } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import { restoreReturned } from '../outcomes/index.ts';
import { bulkChanges, liveChanges } from './changes.ts';
import {
  type RecordBatch,
  claimsOf,
  groupEvents,
  applyRecords,
  type AppliedRecords,
  slicesOf,
  sortEvents,
  takeRecords,
} from './apply-records.ts';
import {
  type AudienceEvaluation,
  affectedBy,
  evaluateAudiences,
  type PersonToEvaluate,
  earliestTimers,
  transitionsOf,
  unreportedMoves,
  writesOf,
} from './evaluate-audiences.ts';
import { type BatchResult, EMPTY_BATCH, batchResultOf } from './batch-result.ts';
import { type BatchTx, inSession } from '../../platform/db/session-transactions.ts';
import { shiftAcceptance, takeBatchLocks } from './batch-locks.ts';
import { touchedVersions } from './touched-versions.ts';

export type BatchDeps = {
  db: Database;
  newId: NewId;
  models: Models;
  propertyCache: PropertyCache;
  hasher: SuppressionHasher;
  /** Emails that took too long in earlier batches of this process. */
  slow?: SlowRenders;
};

export type BatchInput = {
  priority: IngestPriority;
  projectIds: number[];
  /** Maximum number of records per project, and of the whole batch. */
  recordsPerProject: number;
  recordsMax: number;
  /** Receives the sequence of the first record, so that the caller can identify the record behind a failure. */
  firstRecord?: FirstRecord;
};
export type FirstRecord = { seq: number | null };

const BATCH_MAX_BYTES = 4 * 1024 * 1024;

/**
 * Processes accepted records. One transaction locks some projects, takes their waiting records of one priority and applies them in memory
 * in the order of acceptance. It then writes the results table by table and removes the records from the ingest queue. Every record therefore
 * takes effect exactly once, whenever a process is killed.
 */
export function processBatch(baseDeps: BatchDeps, input: BatchInput): Promise<BatchResult> {
  return inSession(baseDeps.db, async (tx) => {
    const locks = await takeBatchLocks(tx, input.projectIds);
    const [first] = locks;
    if (!first) return EMPTY_BATCH;
    const deps = withClockAhead(baseDeps, first.aheadMs);
    const load = await loadBatch(tx, locks, { deps, input });
    if (load.batch.progress.length === 0) return EMPTY_BATCH;
    if (input.firstRecord) input.firstRecord.seq = load.batch.firstSeq;
    baseDeps.db.failpoint?.('batch_claimed');
    const { priority, recordsMax } = input;
    const now = deps.db.clock.now();
    const run: BatchRun = { tx, deps, priority, now, models: load.models, isSmallest: recordsMax === 1 };
    const applied = await applyBatch(run, load);
    baseDeps.db.failpoint?.('batch_applied');
    // Both run concurrently: the audience queries are sent while the events are being stored.
    const pending = await storeRecords(run, applied);
    const [eventWrites, audienceEvaluations] = await Promise.all([
      pending.all,
      evaluateChanged(run, applied, pending),
    ]);
    await finish(run, { applied, audienceEvaluations, batch: load.batch });
    baseDeps.db.failpoint?.('batch_committed');
    eventWrites.committed();
    return batchResultOf(load.batch, applied);
  });
}

type BatchScope = { tx: BatchTx; deps: BatchDeps; priority: IngestPriority; isSmallest: boolean };
type BatchRun = BatchScope & { now: number; models: Map<number, Model> };
type BatchLoad = { batch: RecordBatch; models: Map<number, Model>; oldestOtherPriority: Map<number, number> };

async function loadBatch(
  tx: BatchTx,
  locks: ProjectLock[],
  { deps, input }: { deps: BatchDeps; input: BatchInput },
): Promise<BatchLoad> {
  const projectIds = locks.map(({ projectId }) => projectId);
  const { priority, recordsPerProject, recordsMax } = input;
  const [chunks, oldestOtherPriority, erasures, models] = await tx.together(() =>
    Promise.all([
      takeChunks(tx, {
        projectIds,
        priority,
        ofEach: recordsPerProject,
        ofAll: recordsMax,
        bytes: BATCH_MAX_BYTES,
      }),
      oldestWaiting(tx, projectIds, priority === 'live' ? 'bulk' : 'live'),
      findErasures(tx, projectIds),
      deps.models.of(tx, locks),
    ]),
  );
  const accepted = shiftAcceptance(chunks, deps.db.aheadMs);
  const batch = takeRecords(accepted, { recordsPerProject, bytesPerProject: BATCH_MAX_BYTES, erasures });
  return { batch, models, oldestOtherPriority };
}

type AppliedBatch = AppliedRecords & { members: Map<string, ReadonlySet<number>> };

/** Loads the users, determines which events are new, and loads the memberships that a record could affect. */
async function applyBatch(
  { tx, deps, models }: BatchRun,
  { batch, oldestOtherPriority }: BatchLoad,
): Promise<AppliedBatch> {
  const emails =
    batch.records.some(({ kind }) => kind === 'users') ||
    [...models.values()].some(({ audiences }) => audiences.usesEmail);
  const touched = touchedVersions(batch, models);
  const slices = slicesOf(batch);
  // The claims come first, because no event is applied without them.
  const lookups = tx.together(() => ({
    claims: claimDedupe(tx, claimsOf(batch.records)),
    people: slices.map(({ people }) => findPeople(tx, people, { emails })),
    memberships: findMemberVersions(tx, touched),
  }));
  // A failure is thrown below, and the others that follow from it have no other listener.
  for (const lookup of [lookups.claims, ...lookups.people, lookups.memberships]) lookup.catch(() => {});
  const input = { fresh: await lookups.claims, newId: deps.newId, oldestOtherPriority, pause: setImmediate };
  const applied: AppliedRecords = { people: new Map(), events: [] };
  // While a slice is applied here, the database looks up the next one.
  for (const [i, { records }] of slices.entries())
    await applyRecords(records, { ...input, applied, people: (await lookups.people[i]) ?? [] });
  if (slices.length > 1) sortEvents(applied);
  const memberships = await lookups.memberships;
  const members = new Map(touched.map((person, i) => [personKey(person), memberships[i] ?? NO_MEMBERS]));
  return { ...applied, members };
}

const NO_MEMBERS: ReadonlySet<number> = new Set();

type PendingWrites = {
  /** The events that count towards a total, and the resulting totals. */
  of: NewEvent[];
  counted: Promise<Total[]>;
  all: Promise<{ committed(): void }>;
};

/** Resolves when the events are sent: later statements of the batch read them. */
async function storeRecords(run: BatchRun, { events, people }: AppliedRecords): Promise<PendingWrites> {
  const { tx, deps, now, models } = run;
  const of = events.filter((event) => isCounted(models, event));
  const options = { receivedAt: new Date(now), propertyCache: deps.propertyCache };
  const { stored } = events.length > 0 ? await storeEvents(tx, events, options) : NO_EVENTS;
  const counted = of.length > 0 ? countEvents(tx, of) : NO_TOTALS;
  const written = writeChanged(run, [...people.values()]);
  return {
    of,
    counted,
    all: Promise.all([stored, counted, written]).then(([eventWrites]) => eventWrites),
  };
}

async function writeChanged({ tx, deps, now, models }: BatchRun, changed: ChangedPerson[]): Promise<void> {
  for (const { person, change } of changed) {
    // A later suppression in the same batch may have made this query unnecessary.
    if (change.liftUnknown && !isSuppressed(person)) await findLift(tx, person);
  }
  await Promise.all([writePeople(tx, changed), restoreReturned(tx, { ...deps, changed, now, models })]);
}

const NO_TOTALS: Promise<Total[]> = Promise.resolve([]);
const NO_EVENTS = { stored: Promise.resolve({ committed: (): void => {} }) };

function isCounted(models: Map<number, Model>, { projectId, name, userId }: NewEvent): boolean {
  return isCountedFor(models.get(projectId)?.counted.get(name), userId);
}

/** Evaluates audiences for users whose events or traits can have changed an evaluation, and for new users. */
async function evaluateChanged(
  { tx, now, models }: BatchRun,
  applied: AppliedBatch,
  totals: PendingWrites,
): Promise<AudienceEvaluation[]> {
  const { byPerson, latest } = groupEvents(applied.events);
  const people: PersonToEvaluate[] = [];
  for (const [key, { person, change }] of applied.people) {
    const model = models.get(person.projectId);
    if (!model) throw new Error(`the definitions of project ${person.projectId} were not read`);
    if (model.audiences.versions.length === 0) continue;
    const members = applied.members.get(key) ?? NO_MEMBERS;
    const versions = affectedBy(model, { change, members, events: byPerson.get(key) ?? [] });
    if (versions.length > 0) people.push({ person, model, versions, members });
  }
  return evaluateAudiences(tx, people, { now, totals, latest });
}

type BatchOutput = { applied: AppliedRecords; audienceEvaluations: AudienceEvaluation[]; batch: RecordBatch };

/** Locks the queue rows last, together with the COMMIT, so that accepting waits for nothing else of a batch. */
async function finish(run: BatchRun, { applied, audienceEvaluations, batch }: BatchOutput): Promise<void> {
  const { tx, deps, priority, now, models } = run;
  const at = new Date(now);
  const writes = writesOf(audienceEvaluations, now);
  const transitions = transitionsOf(audienceEvaluations);
  const changes = (priority === 'live' ? liveChanges : bulkChanges)(applied, transitions, {
    at,
    newId: deps.newId,
  });
  const { written } = await sendActivity(tx, changes);
  await excludeLeavers(tx, transitions, { models, now });
  await writeMemberships(tx, writes, at);
  await writeDecisions(tx, unreportedMoves(audienceEvaluations, models, now));
  const { events, people } = applied;
  const activities = activitiesIn({
    people: people.values(),
    events,
    moves: transitions,
    models,
    priority,
    records: batch.records,
  });
  const rulesResult = await applyRules(tx, activities, {
    now,
    newId: deps.newId,
    isSmallest: run.isSmallest,
    ...(deps.slow && { slow: deps.slow }),
  });
  deps.db.failpoint?.('batch_committing');
  await tx.together(() =>
    Promise.all([
      written,
      setTimersEarlier(
        tx,
        'process',
        earliestPerProject([...earliestTimers(writes), ...rulesResult.processTimers]),
      ),
      setTimersEarlier(tx, 'send', rulesResult.sendTimers),
      settle(tx, batch.progress),
      tx.commit(),
    ]),
  );
}
