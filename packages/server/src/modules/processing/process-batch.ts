import { setImmediate } from 'node:timers/promises';
import type { NewId } from '../../platform/ids.ts';
import { type AskedPerson, findAskedMembers, writeStandings, canChange } from '../audiences/index.ts';
import {
  writeDecisions,
  type Model,
  type Models,
  excludeLeavers,
  applyRules,
  happenedIn,
  type SlowRenders,
} from '../rules/index.ts';
import {
  claimDedupe,
  countEvents,
  storeEvents,
  type Total,
  isCountedFor,
  type KnownProperties,
  type NewEvent,
  type ChangedPerson,
  findErasures,
  findLift,
  findPeople,
  type PersonId,
  personKey,
  writePeople,
  isSuppressed,
  type PersonChange,
  sendChanges,
} from '../users/index.ts';
import { type IngestPriority, oldestWaiting, settle, takeChunks } from '../ingest/index.ts';
import type { SuppressionHasher } from '../sending/index.ts';
import { dueEarlier, firstOfEach } from '../../platform/locks/timers.ts';
import { timed, type Turn } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import { restoreReturned } from '../outcomes/index.ts';
import { bulkChanges, liveChanges } from './changes.ts';
import { type RecordBatch, claimsOf, doneBy, fold, type Folded, gather } from './apply-records.ts';
import {
  type AudienceEvaluation,
  askAudiences,
  type PersonToEvaluate,
  firstDues,
  transitionsOf,
  unheardMoves,
  writesOf,
} from './evaluate-audiences.ts';
import { type Digested, NOTHING_DIGESTED, summaryOf } from './batch-result.ts';
import { type BatchTx, inSession } from '../../platform/db/session-transactions.ts';
import { acceptedLater, takeTurnsOfBatch } from './batch-locks.ts';

export type BatchDeps = {
  db: Database;
  newId: NewId;
  models: Models;
  known: KnownProperties;
  hasher: SuppressionHasher;
  /** Emails that took too long in earlier batches of this process. */
  slow?: SlowRenders;
};

export type BatchAsk = {
  priority: IngestPriority;
  projectIds: number[];
  /** Maximum number of records per project, and of the whole batch. */
  ofEach: number;
  ofAll: number;
  /** Receives the sequence of the first record, so that the caller can identify the record behind a failure. */
  tried?: Tried;
};
export type Tried = { seq: number | null };

const BATCH_MAX_BYTES = 4 * 1024 * 1024;

/**
 * Processes accepted records. One transaction locks some projects, takes their waiting records of one priority and applies them in memory
 * in the order of acceptance. It then writes the results table by table and removes the records from the inbox. Every record therefore
 * takes effect exactly once, whenever a process is killed.
 */
export function digestBatch(given: BatchDeps, asked: BatchAsk): Promise<Digested> {
  return inSession(given.db, async (tx) => {
    const turns = await takeTurnsOfBatch(tx, asked.projectIds);
    const [first] = turns;
    if (!first) return NOTHING_DIGESTED;
    const deps = timed(given, first.aheadMs);
    const taken = await take(tx, turns, { deps, asked });
    if (taken.batch.taken.length === 0) return NOTHING_DIGESTED;
    if (asked.tried) asked.tried.seq = taken.batch.firstSeq;
    given.db.reach?.('batch_claimed');
    const { priority, ofAll } = asked;
    const now = deps.db.clock.now();
    const run: Run = { tx, deps, priority, now, models: taken.models, isSmallest: ofAll === 1 };
    const folded = await foldBatch(run, taken);
    given.db.reach?.('digest_folded');
    // Both run concurrently: the audience queries are sent while the events are being stored.
    const storing = await storeFolded(run, folded);
    const [stored, answered] = await Promise.all([storing.all, answerFor(run, folded, storing)]);
    await finish(run, { folded, answered, batch: taken.batch });
    given.db.reach?.('digest_committed');
    stored.committed();
    return summaryOf(taken.batch, folded);
  });
}

type Asking = { tx: BatchTx; deps: BatchDeps; priority: IngestPriority; isSmallest: boolean };
type Run = Asking & { now: number; models: Map<number, Model> };
type Took = { batch: RecordBatch; models: Map<number, Model>; oldestElsewhere: Map<number, number> };

async function take(
  tx: BatchTx,
  turns: Turn[],
  { deps, asked }: { deps: BatchDeps; asked: BatchAsk },
): Promise<Took> {
  const projectIds = turns.map(({ projectId }) => projectId);
  const { priority, ofEach, ofAll } = asked;
  const [chunks, oldestElsewhere, erasures, models] = await tx.together(() =>
    Promise.all([
      takeChunks(tx, { projectIds, priority, ofEach, ofAll, bytes: BATCH_MAX_BYTES }),
      oldestWaiting(tx, projectIds, priority === 'live' ? 'bulk' : 'live'),
      findErasures(tx, projectIds),
      deps.models.of(tx, turns),
    ]),
  );
  const accepted = acceptedLater(chunks, deps.db.aheadMs);
  const batch = gather(accepted, { ofEach, bytesOfEach: BATCH_MAX_BYTES, erasures });
  return { batch, models, oldestElsewhere };
}

type FoldedBatch = Folded & { members: Map<string, ReadonlySet<number>> };

/** Loads the users, determines which events are new, and loads the memberships that a record could affect. */
async function foldBatch({ tx, deps, models }: Run, { batch, oldestElsewhere }: Took): Promise<FoldedBatch> {
  const emails =
    batch.records.some(({ kind }) => kind === 'users') ||
    [...models.values()].some(({ audiences }) => audiences.asksEmail);
  const touched = touchedBy(batch, models);
  const [known, fresh, standings] = await tx.together(() =>
    Promise.all([
      findPeople(tx, [...batch.people.values()], { emails }),
      claimDedupe(tx, claimsOf(batch.records)),
      findAskedMembers(tx, touched),
    ]),
  );
  const members = new Map(touched.map((one, i) => [personKey(one), standings[i] ?? NOWHERE]));
  const input = { known, fresh, newId: deps.newId, oldestElsewhere, pause: setImmediate };
  return { ...(await fold(batch.records, input)), members };
}

const NOWHERE: ReadonlySet<number> = new Set();

/** Selects the editions by what was sent. A duplicate event or an unchanged trait costs an unnecessary query. */
function touchedBy({ records }: RecordBatch, models: Map<number, Model>): AskedPerson[] {
  const sent = new Map<string, PersonId & { events: Set<string>; traits: Set<string>; email: boolean }>();
  for (const record of records) {
    const { projectId, userId } = record;
    let one = sent.get(record.person);
    if (!one)
      sent.set(
        record.person,
        (one = { projectId, userId, events: new Set(), traits: new Set(), email: false }),
      );
    if (record.kind === 'events') one.events.add(record.event.name);
    else {
      one.email ||= record.user.email !== undefined;
      for (const key of Object.keys(record.user.traits ?? {})) one.traits.add(key);
    }
  }
  return [...sent.values()].flatMap(({ projectId, userId, ...touch }) => {
    const editions = models.get(projectId)?.audiences.touchedBy({ isNew: false, ...touch }) ?? [];
    return editions.length > 0 ? [{ projectId, userId, editions }] : [];
  });
}

type Storing = {
  /** The events that count towards a total, and the resulting totals. */
  of: NewEvent[];
  counted: Promise<Total[]>;
  all: Promise<{ committed(): void }>;
};

/** Resolves when the events are sent: later statements of the batch read them. */
async function storeFolded(run: Run, { events, people }: Folded): Promise<Storing> {
  const { tx, deps, now, models } = run;
  const of = events.filter((event) => isCounted(models, event));
  const storing = { receivedAt: new Date(now), known: deps.known };
  const { stored } = events.length > 0 ? await storeEvents(tx, events, storing) : NO_EVENTS;
  const counted = of.length > 0 ? countEvents(tx, of) : NO_TOTALS;
  const written = writeChanged(run, [...people.values()]);
  return { of, counted, all: Promise.all([stored, counted, written]).then(([properties]) => properties) };
}

async function writeChanged({ tx, deps, now, models }: Run, changed: ChangedPerson[]): Promise<void> {
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
async function answerFor(
  { tx, now, models }: Run,
  folded: FoldedBatch,
  totals: Storing,
): Promise<AudienceEvaluation[]> {
  const { byPerson, latest } = doneBy(folded.events);
  const asked: PersonToEvaluate[] = [];
  for (const [key, { person, change }] of folded.people) {
    const model = models.get(person.projectId);
    if (!model) throw new Error(`the definitions of project ${person.projectId} were not read`);
    if (model.audiences.editions.length === 0) continue;
    const members = folded.members.get(key) ?? NOWHERE;
    const editions = turnedBy(model, { change, members, events: byPerson.get(key) ?? [] });
    if (editions.length > 0) asked.push({ person, model, editions, members });
  }
  return askAudiences(tx, asked, { now, totals, latest });
}

type Turning = { change: PersonChange; members: ReadonlySet<number>; events: NewEvent[] };

function turnedBy({ audiences }: Model, { change, members, events }: Turning): PersonToEvaluate['editions'] {
  const { isNew, emailChanged: email, before } = change;
  const names = new Set(events.map(({ name }) => name));
  const touched = audiences.touchedBy({ isNew, events: names, traits: before.keys(), email });
  if (isNew) return touched;
  const anyway = new Set(
    before.size > 0 || email ? audiences.touchedBy({ isNew, events: [], traits: before.keys(), email }) : [],
  );
  return touched.filter(
    (edition) => anyway.has(edition) || canChange(edition, members.has(edition.edition), events),
  );
}

type Ending = { folded: Folded; answered: AudienceEvaluation[]; batch: RecordBatch };

/** Locks the queue rows last, together with the COMMIT, so that accepting waits for nothing else of a batch. */
async function finish(run: Run, { folded, answered, batch }: Ending): Promise<void> {
  const { tx, deps, priority, now, models } = run;
  const at = new Date(now);
  const writes = writesOf(answered, now);
  const transitions = transitionsOf(answered);
  const changes = (priority === 'live' ? liveChanges : bulkChanges)(folded, transitions, {
    at,
    newId: deps.newId,
  });
  const { written } = await sendChanges(tx, changes);
  await excludeLeavers(tx, transitions, { models, now });
  await writeStandings(tx, writes, at);
  await writeDecisions(tx, unheardMoves(answered, models, now));
  const { events, people } = folded;
  const happened = happenedIn({
    people: people.values(),
    events,
    moves: transitions,
    models,
    priority,
    records: batch.records,
  });
  const ruled = await applyRules(tx, happened, {
    now,
    newId: deps.newId,
    isSmallest: run.isSmallest,
    ...(deps.slow && { slow: deps.slow }),
  });
  deps.db.reach?.('digest_committing');
  await tx.together(() =>
    Promise.all([
      written,
      dueEarlier(tx, 'process', firstOfEach([...firstDues(writes), ...ruled.digest])),
      dueEarlier(tx, 'send', ruled.send),
      settle(tx, batch.taken),
      tx.commit(),
    ]),
  );
}
