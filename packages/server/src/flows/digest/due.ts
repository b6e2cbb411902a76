import { type Due, listDueNow, type StandingWrites, writeStandings } from '../../features/audiences/index.ts';
import { writeDecisions } from '../../features/decisions/index.ts';
import { oldestLiveAt } from '../../features/inbox/index.ts';
import { findPeople, type Person } from '../../features/people/index.ts';
import { dropTimers, dueTimers, type Timer } from '../../features/rules/index.ts';
import { listDueRuns, type Run } from '../../features/sequences/index.ts';
import { addChanges } from '../../features/stream/index.ts';
import {
  dueEarlier,
  dueNext,
  holdDue,
  newModel,
  takeFreeTurns,
  type Turn,
} from '../../features/turns/index.ts';
import {
  enrollmentItems,
  type EnrollmentStep,
  nextEnrollmentStep,
  recordEnrollment,
  refreshCandidates,
} from '../enroll/index.ts';
import { loadProjectModels, type Model } from '../models.ts';
import { nextMoment } from '../next-due.ts';
import { timed } from '../project-time.ts';
import { applyRules, type EnrollmentItem, type Happened, type Item } from '../rules/index.ts';
import type { BatchDeps } from './batch.ts';
import { transitionRows } from './changes.ts';
import {
  type Answered,
  askAudiences,
  type Asked,
  type Transition,
  transitionsOf,
  writesOf,
} from './members.ts';
import { unheardMoves } from './not-considered.ts';
import { type BatchTx, inSession } from '../session.ts';

/** `lateMs`: for how long the first of them was due. */
export type DueDone = { people: number; moves: number; lateMs: number };

const NOTHING: DueDone = { people: 0, moves: 0, lateMs: 0 };
export const DUE_AT_ONCE_MAX = 500;

/**
 * Asks again about the people for whom time alone may have changed an answer, the longest overdue first. The place is
 * held before it is asked what comes next, so that nobody's moment is lost between the two.
 */
export function digestDue(given: BatchDeps, projectId: number, limit: number): Promise<DueDone> {
  return inSession(given.db, async (tx) => {
    const [turn] = await takeFreeTurns(tx, [projectId]);
    if (!turn) return NOTHING;
    const deps = timed(given, turn.aheadMs);
    const now = deps.db.clock.now();
    const known = (await deps.models.of(tx, [turn])).get(projectId);
    if (!known) return NOTHING;
    const until = await heardUntil(tx, { projectId, now, aheadMs: turn.aheadMs });
    const due = await listAllDue({ tx, projectId, now, until, limit, model: known });
    given.db.reach?.('due_claimed');
    const model = await withVersions({ tx, turn, now }, known, due.timers);
    const step: Step = { tx, deps, projectId, model, now };
    const answered = await answerDue(step, due);
    const writes = writesOf(answered, now);
    writes.notDue.push(...unanswered(due.dues, answered, projectId));
    const transitions = transitionsOf(answered);
    const at = new Date(now);
    await writeStandings(tx, writes, at);
    await writeDecisions(tx, unheardMoves(answered, new Map([[projectId, model]]), now));
    await dropTimers(tx, due.timers);
    const enrolling = await currentEnrollment(tx, due.enrolling, transitions);
    const items = await itemsOf(step, due.people, enrolling);
    const ruled = await applyRules(tx, happenedNow(step, due, { transitions, items }), {
      now,
      newId: deps.newId,
      isSmallest: limit === 1,
    });
    if (enrolling) await recordEnrollment(tx, enrolling, { decisions: ruled.decisions, now });
    await addChanges(tx, transitionRows(transitions, 'time', { at, newId: deps.newId }));
    // Whoever began in a version that had been out of use goes on in it, so every process has to read definitions again.
    if (ruled.begun.some(({ ruleId, version }) => !known.rules.version(ruleId, version)))
      await newModel(tx, projectId);
    await holdDue(tx, projectId, 'digest');
    await dueNext(tx, { projectId, work: 'digest', nextAt: await nextMoment(tx, projectId, 'digest') });
    await dueEarlier(tx, 'send', ruled.send);
    given.db.reach?.('due_committing');
    await tx.commit();
    given.db.reach?.('due_committed');
    return { people: due.people.length, moves: transitions.length, lateMs: Math.max(0, now - due.firstAt) };
  });
}

type Step = { tx: BatchTx; deps: BatchDeps; projectId: number; model: Model; now: number };
/** Everything that is due in a project: answers, timers, runs, and a batch of an enrollment. */
type AllDue = {
  dues: Due[];
  timers: Timer[];
  runs: Run[];
  enrolling: EnrollmentStep | null;
  people: Person[];
  firstAt: number;
};

/**
 * Time does not overtake what was accepted before: a letter for somebody who did what it asks of them, and of which only we have not
 * heard yet, would be wrong. What is due after the oldest live record that waits is looked at again behind it.
 */
async function heardUntil(
  tx: BatchTx,
  { projectId, now, aheadMs }: { projectId: number; now: number; aheadMs: number },
): Promise<number> {
  const oldest = await oldestLiveAt(tx, projectId);
  return oldest === null ? now : Math.min(now, oldest + aheadMs);
}

/** `limit`: of each kind. */
type Until = Pick<Step, 'tx' | 'projectId' | 'now' | 'model'> & { until: number; limit: number };

async function listAllDue({ tx, projectId, model, now, until, limit }: Until): Promise<AllDue> {
  const at = new Date(until);
  const [dues, timers, runs, enrolling] = await Promise.all([
    listDueNow(tx, { projectId, now: at, limit }),
    dueTimers(tx, { projectId, now: at, limit }),
    listDueRuns(tx, { projectId, now: until, limit }),
    nextEnrollmentStep(tx, { projectId, model, now, until, limit }),
  ]);
  const concerned = [...dues, ...timers, ...runs, ...(enrolling?.candidates ?? [])];
  const users = new Set(concerned.map(({ userId }) => userId));
  const people = await findPeople(
    tx,
    [...users].map((userId) => ({ projectId, userId })),
  );
  const moments = [dues[0]?.at.getTime(), timers[0]?.at, runs[0]?.nextAt ?? undefined];
  const firstAt = Math.min(now, ...moments.filter((moment) => moment !== undefined));
  return { dues, timers, runs, enrolling, people, firstAt };
}

/**
 * A timer may have been set by a version of its rule that nobody is under way in any more.
 */
async function withVersions(
  { tx, turn, now }: { tx: BatchTx; turn: Turn; now: number },
  model: Model,
  timers: Timer[],
): Promise<Model> {
  const { rules } = model;
  const older = timers.filter(
    ({ ruleId, version }) => rules.byId.has(ruleId) && !rules.version(ruleId, version),
  );
  if (older.length === 0) return model;
  const loaded = await loadProjectModels(tx, [turn], { now, versions: older });
  return loaded.get(turn.projectId) ?? model;
}

function answerDue({ tx, model, now }: Step, { dues, people }: AllDue): Promise<Answered[]> {
  const byUser = Map.groupBy(dues, ({ userId }) => userId);
  const asked = people.map((person): Asked => ({
    person,
    model,
    fired: true,
    editions: editionsOf(model, byUser.get(person.userId) ?? []),
  }));
  return askAudiences(tx, asked, { now });
}

/** The enrollment batch without the memberships that end in this very transaction. */
async function currentEnrollment(
  tx: BatchTx,
  enrolling: EnrollmentStep | null,
  transitions: Transition[],
): Promise<EnrollmentStep | null> {
  if (!enrolling) return null;
  const audienceOf = new Map(
    enrolling.candidates.map(({ userId, audience }) => [userId, audience.audienceId]),
  );
  const isLeft = transitions.some(
    ({ userId, audienceId, move }) => move === 'left' && audienceOf.get(userId) === audienceId,
  );
  return isLeft ? refreshCandidates(tx, enrolling) : enrolling;
}

/** By user id, the members to enroll. */
function itemsOf(
  { tx, model, now }: Step,
  people: Person[],
  enrolling: EnrollmentStep | null,
): Promise<Map<string, EnrollmentItem>> {
  return enrolling ? enrollmentItems(tx, enrolling, { model, people, now }) : Promise.resolve(new Map());
}

type Brought = { transitions: Transition[]; items: Map<string, EnrollmentItem> };

/** What the rules hear of it, in the order in which it was due. */
function happenedNow({ model, now }: Step, due: AllDue, { transitions, items }: Brought): Happened[] {
  const happened = new Map(
    due.people.map((person): [string, Happened] => [
      person.userId,
      { person, model, items: [], isWatched: false },
    ]),
  );
  const add = (userId: string, item: Item, isWatched: boolean): void => {
    const one = happened.get(userId);
    one?.items.push(item);
    if (one) one.isWatched ||= isWatched;
  };
  for (const { userId, audienceId, move } of transitions)
    add(
      userId,
      { kind: 'move', audienceId, move, by: 'record', cause: { seq: null, acceptedAt: now } },
      model.rules.watches.audiences.has(audienceId),
    );
  for (const run of due.runs) add(run.userId, { kind: 'run', run }, true);
  for (const timer of due.timers) add(timer.userId, { kind: 'timer', timer }, false);
  for (const [userId, item] of items) add(userId, item, false);
  return [...happened.values()].filter(({ items }) => items.length > 0);
}

/**
 * In the order of the model, with those that they refer to: whose moment is the same, and whose answer must be new before
 * theirs can be.
 */
function editionsOf(model: Model, dues: Due[]): Asked['editions'] {
  const wanted = new Set<number>();
  const add = (number: number): void => {
    if (wanted.has(number)) return;
    wanted.add(number);
    for (const reference of model.audiences.byNumber.get(number)?.references.values() ?? []) add(reference);
  };
  for (const { edition } of dues) add(edition);
  return model.audiences.editions.filter(({ edition }) => wanted.has(edition));
}

/** A moment that nobody answers for, of an edition that is retired or a person who is gone, goes. */
function unanswered(dues: Due[], answered: Answered[], projectId: number): StandingWrites['notDue'] {
  const done = new Set(
    answered.flatMap(({ person, verdicts }) =>
      verdicts.map(({ edition }) => `${edition.edition} ${person.userId}`),
    ),
  );
  return dues
    .filter(({ edition, userId }) => !done.has(`${edition} ${userId}`))
    .map(({ edition, userId }) => ({ projectId, edition, userId }));
}
