import type { AudienceVersion } from '../audiences/index.ts';
import { evaluate } from '../../platform/predicate/evaluate.ts';
import type { Facts } from '../../platform/predicate/predicate.ts';
import { compareBytes } from '../../platform/text/byte-order.ts';

/** The stored state of one user: the versions that the user is in, and the timers at which the user must be evaluated again. */
export type MembershipState = { members: { has(versionId: number): boolean }; timers: Map<number, number> };

export type MembershipEvaluation = {
  version: AudienceVersion;
  matches: boolean;
  wasMember: boolean;
  move: 'joined' | 'left' | 'none';
  /** The next time at which the answer may change by time alone, or null if it never does. */
  dueAt: number | null;
  storedDueAt: number | null;
  timer: 'set' | 'remove' | 'keep';
};

export type MembershipInput = {
  /** Membership of other audiences is looked up here, in the results of this call first and then in `membership`. */
  facts: Omit<Facts, 'now' | 'isMember'>;
  membership: MembershipState;
  userId: string;
  now: number;
  /** The stored timers of these versions fired. Each is replaced with its next one or removed. */
  isDue?: boolean;
};

/**
 * Evaluates one user for the versions, in the order of the model. A version that is not built up to this user is skipped.
 */
export function evaluateMemberships(
  versions: readonly AudienceVersion[],
  person: MembershipInput,
): MembershipEvaluation[] {
  const evaluations = new Map<number, MembershipEvaluation>();
  let references: AudienceVersion['references'] = NO_REFERENCES;
  // One object for all versions of a user: a batch evaluates some thousand versions.
  const facts = factsOf(person, (audienceId) => {
    const reference = references.get(audienceId);
    if (reference === undefined) return false;
    return evaluations.get(reference)?.matches ?? person.membership.members.has(reference);
  });
  for (const version of versions) {
    if (!covers(version, person.userId)) continue;
    ({ references } = version);
    evaluations.set(version.versionId, evaluateMembership(version, facts, { evaluations, person }));
  }
  return [...evaluations.values()];
}

const NO_REFERENCES: AudienceVersion['references'] = new Map();

type Evaluations = Map<number, MembershipEvaluation>;

function factsOf({ facts, now }: MembershipInput, isMember: Facts['isMember']): Facts {
  return {
    now,
    email: facts.email,
    trait: (key) => facts.trait(key),
    total: (event) => facts.total(event),
    nth: (query) => facts.nth(query),
    sum: (query) => facts.sum(query),
    isMember,
  };
}

function evaluateMembership(
  version: AudienceVersion,
  facts: Facts,
  { evaluations, person }: { evaluations: Evaluations; person: MembershipInput },
): MembershipEvaluation {
  const { matches, until } = evaluate(version.predicate, facts);
  const wasMember = person.membership.members.has(version.versionId);
  const storedDueAt = person.membership.timers.get(version.versionId) ?? null;
  const dueAt = version.timed ? earliest([until, ...[...version.references.values()].map(dueOf)]) : null;
  const move = matches === wasMember ? 'none' : matches ? 'joined' : 'left';
  return {
    version,
    matches,
    wasMember,
    move,
    dueAt,
    storedDueAt,
    timer: timerMove(dueAt, storedDueAt, person.isDue ?? false),
  };

  /** Returns the time at which the answer of the referenced audience may change. The answer to a reference is valid only until then. */
  function dueOf(reference: number): number | null {
    const evaluation = evaluations.get(reference);
    return evaluation ? evaluation.dueAt : (person.membership.timers.get(reference) ?? null);
  }
}

/**
 * Decides what happens to a stored timer. One that is too early costs one needless evaluation, while moving it with every event would cost
 * a write each time. So it stays, fires, and is then replaced.
 */
function timerMove(
  dueAt: number | null,
  storedDueAt: number | null,
  isDue: boolean,
): MembershipEvaluation['timer'] {
  if (dueAt === null) return isDue && storedDueAt !== null ? 'remove' : 'keep';
  if (storedDueAt === null || dueAt < storedDueAt) return 'set';
  return isDue && dueAt > storedDueAt ? 'set' : 'keep';
}

function earliest(moments: (number | null)[]): number | null {
  return moments.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a), null);
}

type HappenedEvent = { name: string; properties: Record<string, unknown> };

/**
 * Returns whether these events can change the answer of a version, given that nothing else about the user changed. Most events only
 * confirm what is known: a member of "came three times in 30 days" stays a member after another visit. The timer stored for the user stays
 * valid too. At worst it fires too early and causes one needless evaluation.
 */
export function canChange(
  { directions }: Pick<AudienceVersion, 'directions'>,
  isMember: boolean,
  events: readonly HappenedEvent[],
): boolean {
  return events.some(({ name, properties }) => {
    const direction = directions.get(name);
    if (!direction) return false;
    if (direction.trend === 'both' || isMember === (direction.trend === 'down')) return true;
    return direction.notNegative.some((property) => isNegative(properties, property));
  });
}

function isNegative(properties: Record<string, unknown>, property: string): boolean {
  const value = Object.hasOwn(properties, property) ? properties[property] : undefined;
  return typeof value === 'number' && value < 0;
}

/** Returns whether the version answers for this user. A user beyond `builtTo` is evaluated by the builder when it gets there. */
export function covers(version: Pick<AudienceVersion, 'state' | 'builtTo'>, userId: string): boolean {
  if (version.state === 'served') return true;
  return version.builtTo !== null && compareBytes(userId, version.builtTo) <= 0;
}
