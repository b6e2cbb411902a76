import {
  findWindowResults,
  type AudienceVersion,
  findVersionTimers,
  findMemberVersions,
  type Latest,
  missingTotals,
  type ConditionFacts,
  personFacts,
  windowLookups,
  type MembershipWrites,
  totalKey,
} from '../audiences/index.ts';
import type { Decision, Model } from '../rules/index.ts';
import { findTotals, type NewEvent, type Person, type PersonChange, type Total } from '../users/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { addEvaluations, noWrites } from './membership-writes.ts';
import {
  canChange,
  evaluateMemberships,
  type MembershipState,
  type MembershipEvaluation,
} from './evaluate-membership.ts';

/** A user for whom some versions have to be evaluated. */
export type PersonToEvaluate = {
  person: Person;
  model: Pick<Model, 'audiences'>;
  versions: readonly AudienceVersion[];
  /** The user's memberships in these versions and in those that they refer to, if already known. */
  members?: ReadonlySet<number>;
  /** True if the times stored for this user have passed; see `evaluateMemberships`. */
  isDue?: boolean;
};

export type AudienceEvaluation = PersonToEvaluate & { evaluations: MembershipEvaluation[] };

type EvaluateAudiencesOptions = {
  now: number;
  /** Totals that this batch is counting: whose they are, and the pending result. */
  totals?: { of: Pick<Total, 'projectId' | 'userId' | 'name'>[]; counted: Promise<Total[]> };
  /** The latest occurrence in this batch of each event of each user. */
  latest?: Latest;
};

/** The database fetches the data of the next slice while this one is evaluated. */
const SLICE = 250;

/**
 * Evaluates audiences for users. Everything that the versions depend on is fetched set-wise, however many users, projects and versions
 * there are. Then each user is evaluated in memory. Processing, timers and builds all use this function.
 */
export async function evaluateAudiences(
  tx: Tx,
  people: PersonToEvaluate[],
  options: EvaluateAudiencesOptions,
): Promise<AudienceEvaluation[]> {
  const pending = people.filter(({ versions }) => versions.length > 0);
  const counting = new Set(options.totals?.of.map(totalKey));
  const slices: Promise<AudienceEvaluation[]>[] = [];
  for (let from = 0; from < pending.length; from += SLICE)
    slices.push(evaluateSlice(tx, pending.slice(from, from + SLICE), { ...options, counting }));
  return (await Promise.all(slices)).flat();
}

type SliceOptions = EvaluateAudiencesOptions & { counting: ReadonlySet<string> };

async function evaluateSlice(
  tx: Tx,
  slice: PersonToEvaluate[],
  options: SliceOptions,
): Promise<AudienceEvaluation[]> {
  const { memberships, factsOf } = await loadFacts(tx, slice, options);
  return slice.map((entry, i) => {
    const { person, versions, isDue = false } = entry;
    const membership = memberships[i] ?? NO_MEMBERSHIP;
    const facts = factsOf(person);
    const input = { userId: person.userId, now: options.now, membership, isDue, facts };
    return { ...entry, evaluations: evaluateMemberships(versions, input) };
  });
}

/** `memberships` has the order of the users that were passed in. */
type LoadedFacts = { memberships: MembershipState[]; factsOf: (person: Person) => ConditionFacts };

export async function loadFacts(
  tx: Tx,
  slice: PersonToEvaluate[],
  options: SliceOptions,
): Promise<LoadedFacts> {
  const { now, latest, counting, totals } = options;
  const people = slice.map(({ person: { projectId, userId }, versions }) => ({
    projectId,
    userId,
    versions,
  }));
  const hasMembers = slice.every(({ members }) => members !== undefined);
  const [members, timers, windows, found, counted = []] = await Promise.all([
    hasMembers ? [] : findMemberVersions(tx, people),
    findVersionTimers(tx, people),
    findWindowResults(tx, windowLookups(slice), { now, ...(latest && { latest }) }),
    findTotals(tx, missingTotals(slice, counting)),
    totals?.counted,
  ]);
  const memberships = slice.map((entry, i): MembershipState => ({
    members: entry.members ?? members[i] ?? NO_MEMBERS,
    timers: timers[i] ?? NO_TIMERS,
  }));
  return {
    memberships,
    factsOf: personFacts(windows, [...found, ...counted]),
  };
}

const NO_MEMBERS: ReadonlySet<number> = new Set();
const NO_TIMERS = new Map<number, number>();
const NO_MEMBERSHIP: MembershipState = { members: NO_MEMBERS, timers: NO_TIMERS };

/** Returns what to write after the evaluations; new members join now. */
export function writesOf(audienceEvaluations: AudienceEvaluation[], now: number): MembershipWrites {
  const writes = noWrites();
  const since = new Date(now);
  for (const { person, evaluations } of audienceEvaluations)
    addEvaluations(writes, { projectId: person.projectId, userId: person.userId, evaluations, since });
  return writes;
}

/** Returns, for each project, the earliest of the newly stored due times. */
export function earliestTimers(writes: MembershipWrites): { projectId: number; nextAt: Date }[] {
  const earliestByProject = new Map<number, Date>();
  for (const { projectId, at } of writes.newTimers) {
    const earliest = earliestByProject.get(projectId);
    if (!earliest || at < earliest) earliestByProject.set(projectId, at);
  }
  return [...earliestByProject].map(([projectId, nextAt]) => ({ projectId, nextAt }));
}

/** A join or leave in a served version, which rules and the change stream see. */
export type Transition = {
  projectId: number;
  userId: string;
  audienceId: string;
  move: 'joined' | 'left';
};

export function transitionsOf(audienceEvaluations: AudienceEvaluation[]): Transition[] {
  return audienceEvaluations.flatMap(({ person, evaluations }) =>
    evaluations.flatMap(({ version, move }) =>
      move === 'none' || version.state !== 'served'
        ? []
        : [{ projectId: person.projectId, userId: person.userId, audienceId: version.audienceId, move }],
    ),
  );
}

type Move = { audienceId: string; move: 'joined' | 'left' };

/** A change of definition is neither a join nor a leave. Rules with such a trigger log it as the reason why no run began. */
export function definitionChangeDecisions(
  { rules }: Pick<Model, 'rules'>,
  { projectId, userId }: Pick<Person, 'projectId' | 'userId'>,
  { audienceId, move, now }: Move & { now: number },
): Decision[] {
  return rules.onMove(audienceId, move).map(({ rule }) => ({
    projectId,
    userId,
    ruleId: rule.id,
    key: '',
    reason: 'definition_change',
    detail: { audience_id: audienceId, move },
    at: now,
  }));
}

/**
 * Returns decisions for users whom a record or time moved into or out of a version that is not served yet. Users who made the same move in
 * the served version are left out. When the new version is served, they are already in or out, so the build reports nothing about them.
 */
export function unreportedMoves(
  audienceEvaluations: AudienceEvaluation[],
  models: Map<number, Model>,
  now: number,
): Decision[] {
  return audienceEvaluations.flatMap(({ person, evaluations }) => {
    const model = models.get(person.projectId);
    const moves = evaluations.filter(({ move }) => move !== 'none');
    const isReported = (change: (typeof moves)[number]): boolean =>
      moves.some(
        ({ version, move }) =>
          version.state === 'served' &&
          version.audienceId === change.version.audienceId &&
          move === change.move,
      );
    return moves.flatMap((change) => {
      if (!model || change.move === 'none' || isReported(change)) return [];
      return definitionChangeDecisions(model, person, {
        audienceId: change.version.audienceId,
        move: change.move,
        now,
      });
    });
  });
}

type ChangeFacts = { change: PersonChange; members: ReadonlySet<number>; events: NewEvent[] };

/** Returns the versions whose evaluation may change with a user. */
export function affectedBy(
  { audiences }: Model,
  { change, members, events }: ChangeFacts,
): PersonToEvaluate['versions'] {
  const { isNew, emailChanged: email, before } = change;
  const names = new Set(events.map(({ name }) => name));
  const touched = audiences.touchedBy({ isNew, events: names, traits: before.keys(), email });
  if (isNew || names.size === 0) return touched;
  const unconditional = new Set(
    before.size > 0 || email ? audiences.touchedBy({ isNew, events: [], traits: before.keys(), email }) : [],
  );
  return touched.filter(
    (version) => unconditional.has(version) || canChange(version, members.has(version.versionId), events),
  );
}
