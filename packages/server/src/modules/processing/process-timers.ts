import { type MembershipWrites, writeMemberships } from '../audiences/index.ts';
import {
  writeDecisions,
  dropTimers,
  listDueTimers,
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
import { insertActivity } from '../ingest/index.ts';
import { findPeople, type Person } from '../users/index.ts';
import { setTimersEarlier } from '../../platform/locks/timers.ts';
import { takeFreeProjectLocks, withClockAhead, type ProjectLock } from '../../platform/locks/project-lock.ts';
import { incrementModel, lockTimer, setTimer } from '../../platform/locks/store.ts';
import type { BatchDeps } from './process-batch.ts';
import { transitionRows } from './changes.ts';
import {
  type AudienceEvaluation,
  evaluateAudiences,
  type PersonToEvaluate,
  type Transition,
  transitionsOf,
  unreportedMoves,
  writesOf,
} from './evaluate-audiences.ts';
import { type BatchTx, inSession } from '../../platform/db/session-transactions.ts';
import { type AudienceTimer, listDueAudienceTimers } from './audience-timers.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** `lateMs`: how long the first due item was overdue. */
export type TimersResult = { people: number; moves: number; lateMs: number };

const EMPTY: TimersResult = { people: 0, moves: 0, lateMs: 0 };
export const TIMERS_AT_ONCE_MAX = 500;

/**
 * Evaluates the users whose memberships time alone may have changed, the longest overdue first, and does the timers, runs and enrollment
 * batch that are due. The alarm row is locked before the next time is read, so that no time is lost between the two.
 */
export function processTimers(baseDeps: BatchDeps, projectId: number, limit: number): Promise<TimersResult> {
  return inSession(baseDeps.db, async (tx) => {
    const [lock] = await takeFreeProjectLocks(tx, [projectId]);
    if (!lock) return EMPTY;
    const deps = withClockAhead(baseDeps, lock.aheadMs);
    const now = deps.db.clock.now();
    const baseModel = (await deps.models.of(tx, [lock])).get(projectId);
    if (!baseModel) return EMPTY;
    const until = await timersUntil(tx, { projectId, now, aheadMs: lock.aheadMs });
    const due = await listAllDue({ tx, projectId, now, until, limit });
    baseDeps.db.failpoint?.('timers_claimed');
    const model = await withVersions({ tx, lock, now }, baseModel, due.timers);
    const step: Step = { tx, deps, projectId, model, now };
    const audienceEvaluations = await evaluateDue(step, due);
    const writes = writesOf(audienceEvaluations, now);
    writes.staleTimers.push(...unevaluated(due.audienceTimers, audienceEvaluations, projectId));
    const transitions = transitionsOf(audienceEvaluations);
    const at = new Date(now);
    const models = new Map([[projectId, model]]);
    await excludeLeavers(tx, transitions, { models, now });
    await writeMemberships(tx, writes, at);
    await writeDecisions(tx, unreportedMoves(audienceEvaluations, models, now));
    await dropTimers(tx, due.timers);
    const enrolling = await nextEnrollmentStep(tx, { projectId, model, now, until, limit });
    const people = await withCandidates(tx, due.people, enrolling);
    const items = await itemsOf(step, people, enrolling);
    const rulesResult = await applyRules(
      tx,
      activitiesNow(step, { ...due, people }, { transitions, items }),
      {
        now,
        newId: deps.newId,
        isSmallest: limit === 1,
        ...(deps.slow && { slow: deps.slow }),
      },
    );
    if (enrolling) await recordEnrollment(tx, enrolling, { decisions: rulesResult.decisions, now });
    await insertActivity(tx, transitionRows(transitions, 'time', { at, newId: deps.newId }));
    // A run that starts in a version that was out of use keeps that version, so every process must load the definitions again.
    if (rulesResult.begun.some(({ ruleId, version }) => !baseModel.rules.version(ruleId, version)))
      await incrementModel(tx, projectId);
    await lockTimer(tx, projectId, 'process');
    await setTimer(tx, { projectId, work: 'process', nextAt: await nextMoment(tx, projectId, 'process') });
    await setTimersEarlier(tx, 'send', rulesResult.sendTimers);
    baseDeps.db.failpoint?.('timers_committing');
    await tx.commit();
    baseDeps.db.failpoint?.('timers_committed');
    return { people: people.length, moves: transitions.length, lateMs: Math.max(0, now - due.firstAt) };
  });
}

type Step = { tx: BatchTx; deps: BatchDeps; projectId: number; model: Model; now: number };
/** The evaluations, timers and runs that are due in a project, and their users. */
type AllDue = {
  audienceTimers: AudienceTimer[];
  timers: Timer[];
  runs: Run[];
  people: Person[];
  firstAt: number;
};

/**
 * Returns the time up to which due work may run. A live record that waits may show that the user already did what an email would
 * ask for. Work that is due after the oldest waiting live record therefore runs after that record.
 */
async function timersUntil(
  tx: BatchTx,
  { projectId, now, aheadMs }: { projectId: number; now: number; aheadMs: number },
): Promise<number> {
  const oldest = await oldestLiveAt(tx, projectId);
  return oldest === null ? now : Math.min(now, oldest + aheadMs);
}

/** `limit`: per kind. */
type DueQuery = Pick<Step, 'tx' | 'projectId' | 'now'> & { until: number; limit: number };

async function listAllDue({ tx, projectId, now, until, limit }: DueQuery): Promise<AllDue> {
  const at = new Date(until);
  const [audienceTimers, timers, runs] = await Promise.all([
    listDueAudienceTimers(tx, { projectId, now: at, limit }),
    listDueTimers(tx, { projectId, now: at, limit }),
    listDueRuns(tx, { projectId, now: until, limit }),
  ]);
  const users = new Set([...audienceTimers, ...timers, ...runs].map(({ userId }) => userId));
  const people = await findPeople(
    tx,
    [...users].map((userId) => ({ projectId, userId })),
  );
  const moments = [audienceTimers[0]?.at.getTime(), timers[0]?.at, runs[0]?.nextAt ?? undefined];
  const firstAt = Math.min(now, ...moments.filter((moment) => moment !== undefined));
  return { audienceTimers, timers, runs, people, firstAt };
}

/** Loads the rule versions of these timers that have no active runs, and so are not in the model. */
async function withVersions(
  { tx, lock, now }: { tx: BatchTx; lock: ProjectLock; now: number },
  model: Model,
  timers: Timer[],
): Promise<Model> {
  const { rules } = model;
  const older = timers.filter(
    ({ ruleId, version }) => rules.byId.has(ruleId) && !rules.version(ruleId, version),
  );
  if (older.length === 0) return model;
  const loaded = await loadProjectModels(tx, [lock], { now, versions: older });
  return loaded.get(lock.projectId) ?? model;
}

function evaluateDue(
  { tx, model, now }: Step,
  { audienceTimers, people }: AllDue,
): Promise<AudienceEvaluation[]> {
  const byUser = Map.groupBy(audienceTimers, ({ userId }) => userId);
  const pending = people.map((person): PersonToEvaluate => ({
    person,
    model,
    isDue: true,
    versions: versionsOf(model, byUser.get(person.userId) ?? []),
  }));
  return evaluateAudiences(tx, pending, { now });
}

/** Adds the members to enroll to the users for whom something else is due. */
async function withCandidates(
  tx: BatchTx,
  people: Person[],
  enrolling: EnrollmentStep | null,
): Promise<Person[]> {
  const knownIds = new Set(people.map(({ userId }) => userId));
  const others = (enrolling?.candidates ?? []).filter(({ userId }) => !knownIds.has(userId));
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

type TimerEffects = { transitions: Transition[]; items: Map<string, EnrollmentItem> };

/** Returns what happened to each user, for the rules, in the order in which it was due. */
function activitiesNow(
  { model, now }: Step,
  due: AllDue,
  { transitions, items }: TimerEffects,
): PersonActivity[] {
  const activities = new Map(
    due.people.map((person): [string, PersonActivity] => [
      person.userId,
      { person, model, items: [], isWatched: false },
    ]),
  );
  const add = (userId: string, item: Item, isWatched: boolean): void => {
    const activity = activities.get(userId);
    activity?.items.push(item);
    if (activity) activity.isWatched ||= isWatched;
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
  return [...activities.values()].filter(({ items }) => items.length > 0);
}

/**
 * Lists the versions of these dues in the order of the model, with the versions that they refer to. A referenced version is due at
 * the same time and must be evaluated first.
 */
function versionsOf(model: Model, audienceTimers: AudienceTimer[]): PersonToEvaluate['versions'] {
  const numbers = new Set<number>();
  const add = (number: number): void => {
    if (numbers.has(number)) return;
    numbers.add(number);
    for (const reference of model.audiences.byId.get(number)?.references.values() ?? []) add(reference);
  };
  for (const { versionId } of audienceTimers) add(versionId);
  return model.audiences.versions.filter(({ versionId }) => numbers.has(versionId));
}

/** Lists the dues without an evaluation, of a retired version or an erased user, which are deleted. */
function unevaluated(
  audienceTimers: AudienceTimer[],
  audienceEvaluations: AudienceEvaluation[],
  projectId: number,
): MembershipWrites['staleTimers'] {
  const evaluatedKeys = new Set(
    audienceEvaluations.flatMap(({ person, evaluations }) =>
      evaluations.map(({ version }) => `${version.versionId} ${person.userId}`),
    ),
  );
  return audienceTimers
    .filter(({ versionId, userId }) => !evaluatedKeys.has(`${versionId} ${userId}`))
    .map(({ versionId, userId }) => ({ projectId, versionId, userId }));
}

/** Returns when the oldest waiting live record was accepted, in real time, or null if none waits. Reads a table of the ingest module. */
async function oldestLiveAt(tx: Tx, projectId: number): Promise<number | null> {
  const rows = await tx.prepared<{ accepted_at: Date }>({
    name: 'ingest_queue.oldest_live',
    text: `SELECT accepted_at FROM beckon.ingest_queue WHERE project_id = $1 AND priority = 'live' ORDER BY seq LIMIT 1`,
    values: [projectId],
  });
  return rows[0]?.accepted_at.getTime() ?? null;
}
