import { covers, type Edition } from './model.ts';
import { evaluate } from '../../platform/predicate/evaluate.ts';
import type { Facts } from '../../platform/predicate/predicate.ts';

/** The stored state of one user: the editions that the user is in, and the timers at which the user must be evaluated again. */
export type MembershipState = { members: { has(edition: number): boolean }; dues: Map<number, number> };

export type MembershipEvaluation = {
  edition: Edition;
  holds: boolean;
  was: boolean;
  move: 'joined' | 'left' | 'none';
  /** The next time at which the answer may change by time alone, or null if it never does. */
  dueAt: number | null;
  dueWas: number | null;
  due: 'set' | 'remove' | 'keep';
};

export type MembershipInput = {
  /** Membership of other audiences is looked up here, in the results of this call first and then in `standing`. */
  facts: Omit<Facts, 'now' | 'isMember'>;
  standing: MembershipState;
  userId: string;
  now: number;
  /** The stored timers of these editions fired. Each is replaced with its next one or removed. */
  fired?: boolean;
};

/**
 * Evaluates one user for the editions, in the order of the model. An edition that is not built up to this user is skipped. The builder
 * passes the edition that it builds through `builtUpTo`.
 */
export function judge(editions: Edition[], person: MembershipInput): MembershipEvaluation[] {
  const verdicts = new Map<number, MembershipEvaluation>();
  const facts = factsOf(person);
  for (const edition of editions) {
    if (covers(edition, person.userId))
      verdicts.set(edition.edition, judgeOne(edition, facts, { verdicts, person }));
  }
  return [...verdicts.values()];
}

/** Returns the edition as it will be when all users up to this one are built. */
export function builtUpTo(edition: Edition, userId: string): Edition {
  return { ...edition, builtTo: userId };
}

type Verdicts = Map<number, MembershipEvaluation>;

function factsOf({ facts, now }: MembershipInput): Omit<Facts, 'isMember'> {
  return {
    now,
    email: facts.email,
    trait: (key) => facts.trait(key),
    total: (event) => facts.total(event),
    nth: (question) => facts.nth(question),
    sum: (question) => facts.sum(question),
  };
}

function judgeOne(
  edition: Edition,
  facts: Omit<Facts, 'isMember'>,
  { verdicts, person }: { verdicts: Verdicts; person: MembershipInput },
): MembershipEvaluation {
  const { holds, until } = evaluate(edition.predicate, { ...facts, isMember });
  const was = person.standing.members.has(edition.edition);
  const dueWas = person.standing.dues.get(edition.edition) ?? null;
  const dueAt = edition.timed ? earliest([until, ...[...edition.references.values()].map(dueOf)]) : null;
  const move = holds === was ? 'none' : holds ? 'joined' : 'left';
  return { edition, holds, was, move, dueAt, dueWas, due: dueMove(dueAt, dueWas, person.fired ?? false) };

  function isMember(audienceId: string): boolean {
    const reference = edition.references.get(audienceId);
    if (reference === undefined) return false;
    return verdicts.get(reference)?.holds ?? person.standing.members.has(reference);
  }

  /** Returns the time at which the answer of the referenced audience may change. The answer to a reference is valid only until then. */
  function dueOf(reference: number): number | null {
    const judged = verdicts.get(reference);
    return judged ? judged.dueAt : (person.standing.dues.get(reference) ?? null);
  }
}

/**
 * Decides what happens to a stored timer. One that is too early costs one needless evaluation, while moving it with every event would cost
 * a write each time. So it stays, fires, and is then replaced.
 */
function dueMove(dueAt: number | null, dueWas: number | null, fired: boolean): MembershipEvaluation['due'] {
  if (dueAt === null) return fired && dueWas !== null ? 'remove' : 'keep';
  if (dueWas === null || dueAt < dueWas) return 'set';
  return fired && dueAt > dueWas ? 'set' : 'keep';
}

function earliest(moments: (number | null)[]): number | null {
  return moments.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a), null);
}

type HappenedEvent = { name: string; properties: Record<string, unknown> };

/**
 * Returns whether these events can change the answer of an edition, given that nothing else about the user changed. Most events only
 * confirm what is known: a member of "came three times in 30 days" stays a member after another visit. The timer stored for the user stays
 * valid too. At worst it fires too early and causes one needless evaluation.
 */
export function canChange(
  { directions }: Pick<Edition, 'directions'>,
  isMember: boolean,
  events: readonly HappenedEvent[],
): boolean {
  return events.some(({ name, properties }) => {
    const direction = directions.get(name);
    if (!direction) return false;
    if (direction.way === 'both' || isMember === (direction.way === 'down')) return true;
    return direction.notNegative.some((property) => isNegative(properties, property));
  });
}

function isNegative(properties: Record<string, unknown>, property: string): boolean {
  const value = Object.hasOwn(properties, property) ? properties[property] : undefined;
  return typeof value === 'number' && value < 0;
}
