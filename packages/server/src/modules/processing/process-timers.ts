import { type Due, listDueNow, type StandingWrites, writeStandings } from '../audiences/index.ts';
import {
  writeDecisions,
  dropTimers,
  dueTimers,
  type Timer,
  listDueRuns,
  type Run,
  enrollmentItems,
  type EnrollmentStep,
  nextEnrollmentStep,
  recordEnrollment,
  excludeLeavers,
  loadProjectModels,
  type Model,
  nextMoment,
  applyRules,
  type EnrollmentItem,
  type PersonActivity,
  type Item,
} from '../rules/index.ts';
import { oldestLiveAt } from '../ingest/index.ts';
import { findPeople, type Person, addChanges } from '../users/index.ts';
import { dueEarlier, dueNext, holdDue } from '../../platform/locks/timers.ts';
import { newModel, takeFreeTurns, timed, type Turn } from '../../platform/locks/project-lock.ts';
import type { BatchDeps } from './process-batch.ts';
import { transitionRows } from './changes.ts';
import {
  type AudienceEvaluation,
  askAudiences,
  type PersonToEvaluate,
  type Transition,
  transitionsOf,
  unheardMoves,
  writesOf,
} from './evaluate-audiences.ts';
import { type BatchTx, inSession } from '../../platform/db/session-transactions.ts';

/** `lateMs`: how long the first due item was overdue. */
export type DueDone = { people: number; moves: number; lateMs: number };

const NOTHING: DueDone = { people: 0, moves: 0, lateMs: 0 };
export const DUE_AT_ONCE_MAX = 500;

/**
 * Evaluates the users whose memberships time alone may have changed, the longest overdue first, and does the timers, runs and enrollment
 * batch that are due. The alarm row is locked before the next time is read, so that no time is lost between the two.
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
    const due = await listAllDue({ tx, projectId, now, until, limit });
    given.db.reach?.('timers_claimed');
    const model = await withVersions({ tx, turn, now }, known, due.timers);
    const step: Step = { tx, deps, projectId, model, now };
    const answered = await answerDue(step, due);
    const writes = writesOf(answered, now);
    writes.notDue.push(...unanswered(due.dues, answered, projectId));
    const transitions = transitionsOf(answered);
    const at = new Date(now);
    const models = new Map([[projectId, model]]);
    await excludeLeavers(tx, transitions, { models, now });
    await writeStandings(tx, writes, at);
    await writeDecisions(tx, unheardMoves(answered, models, now));
    await dropTimers(tx, due.timers);
    const enrolling = await nextEnrollmentStep(tx, { projectId, model, now, until, limit });
    const people = await withCandidates(tx, due.people, enrolling);
    const items = await itemsOf(step, people, enrolling);
    const ruled = await applyRules(tx, happenedNow(step, { ...due, people }, { transitions, items }), {
      now,
      newId: deps.newId,
      isSmallest: limit === 1,
      ...(deps.slow && { slow: deps.slow }),
    });
    if (enrolling) await recordEnrollment(tx, enrolling, { decisions: ruled.decisions, now });
    await addChanges(tx, transitionRows(transitions, 'time', { at, newId: deps.newId }));
    // A run that starts in a version that was out of use keeps that version, so every process must load the definitions again.
    if (ruled.begun.some(({ ruleId, version }) => !known.rules.version(ruleId, version)))
      await newModel(tx, projectId);
    await holdDue(tx, projectId, 'process');
    await dueNext(tx, { projectId, work: 'process', nextAt: await nextMoment(tx, projectId, 'process') });
    await dueEarlier(tx, 'send', ruled.send);
    given.db.reach?.('due_committing');
    await tx.commit();
    given.db.reach?.('due_committed');
    return { people: people.length, moves: transitions.length, lateMs: Math.max(0, now - due.firstAt) };
  });
}

type Step = { tx: BatchTx; deps: BatchDeps; projectId: number; model: Model; now: number };
/** The evaluations, timers and runs that are due in a project, and their users. */
type AllDue = {
  dues: Due[];
  timers: Timer[];
  runs: Run[];
  people: Person[];
  firstAt: number;
};

/**
 * Returns the time up to which due work may run. A live record that waits may show that the user already did what an email would
 * ask for. Work that is due after the oldest waiting live record therefore runs after that record.
 */
async function heardUntil(
  tx: BatchTx,
  { projectId, now, aheadMs }: { projectId: number; now: number; aheadMs: number },
): Promise<number> {
  const oldest = await oldestLiveAt(tx, projectId);
  return oldest === null ? now : Math.min(now, oldest + aheadMs);
}

/** `limit`: per kind. */
type Until = Pick<Step, 'tx' | 'projectId' | 'now'> & { until: number; limit: number };

async function listAllDue({ tx, projectId, now, until, limit }: Until): Promise<AllDue> {
  const at = new Date(until);
  const [dues, timers, runs] = await Promise.all([
    listDueNow(tx, { projectId, now: at, limit }),
    dueTimers(tx, { projectId, now: at, limit }),
    listDueRuns(tx, { projectId, now: until, limit }),
  ]);
  const users = new Set([...dues, ...timers, ...runs].map(({ userId }) => userId));
  const people = await findPeople(
    tx,
    [...users].map((userId) => ({ projectId, userId })),
  );
  const moments = [dues[0]?.at.getTime(), timers[0]?.at, runs[0]?.nextAt ?? undefined];
  const firstAt = Math.min(now, ...moments.filter((moment) => moment !== undefined));
  return { dues, timers, runs, people, firstAt };
}

/** Loads the rule versions of these timers that have no active runs, and so are not in the model. */
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

function answerDue({ tx, model, now }: Step, { dues, people }: AllDue): Promise<AudienceEvaluation[]> {
  const byUser = Map.groupBy(dues, ({ userId }) => userId);
  const asked = people.map((person): PersonToEvaluate => ({
    person,
    model,
    fired: true,
    editions: editionsOf(model, byUser.get(person.userId) ?? []),
  }));
  return askAudiences(tx, asked, { now });
}

/** Adds the members to enroll to the users for whom something else is due. */
async function withCandidates(
  tx: BatchTx,
  people: Person[],
  enrolling: EnrollmentStep | null,
): Promise<Person[]> {
  const known = new Set(people.map(({ userId }) => userId));
  const others = (enrolling?.candidates ?? []).filter(({ userId }) => !known.has(userId));
  const projectId = enrolling?.enrollment.projectId;
  if (projectId === undefined || others.length === 0) return people;
  const found = await findPeople(
    tx,
    others.map(({ userId }) => ({ projectId, userId })),
  );
  return [...people, ...found];
}

/** Returns the members to enroll, by user id. */
function itemsOf(
  { tx, model, now }: Step,
  people: Person[],
  enrolling: EnrollmentStep | null,
): Promise<Map<string, EnrollmentItem>> {
  return enrolling ? enrollmentItems(tx, enrolling, { model, people, now }) : Promise.resolve(new Map());
}

type Brought = { transitions: Transition[]; items: Map<string, EnrollmentItem> };

/** Returns what happened to each user, for the rules, in the order in which it was due. */
function happenedNow({ model, now }: Step, due: AllDue, { transitions, items }: Brought): PersonActivity[] {
  const happened = new Map(
    due.people.map((person): [string, PersonActivity] => [
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
 * Lists the editions of these dues in the order of the model, with the editions that they refer to. A referenced edition is due at
 * the same time and must be evaluated first.
 */
function editionsOf(model: Model, dues: Due[]): PersonToEvaluate['editions'] {
  const wanted = new Set<number>();
  const add = (number: number): void => {
    if (wanted.has(number)) return;
    wanted.add(number);
    for (const reference of model.audiences.byNumber.get(number)?.references.values() ?? []) add(reference);
  };
  for (const { edition } of dues) add(edition);
  return model.audiences.editions.filter(({ edition }) => wanted.has(edition));
}

/** Lists the dues without an evaluation, of a retired edition or an erased user, which are deleted. */
function unanswered(
  dues: Due[],
  answered: AudienceEvaluation[],
  projectId: number,
): StandingWrites['notDue'] {
  const done = new Set(
    answered.flatMap(({ person, verdicts }) =>
      verdicts.map(({ edition }) => `${edition.edition} ${person.userId}`),
    ),
  );
  return dues
    .filter(({ edition, userId }) => !done.has(`${edition} ${userId}`))
    .map(({ edition, userId }) => ({ projectId, edition, userId }));
}
