import { type Definition, type Reason, REASONS } from './rule.ts';
import { usesOf } from './uses.ts';

export type SilenceFacts = {
  definition: Definition;
  now: number;
  /** Null while the rule is disabled. */
  enabledAt: number | null;
  /** How often its trigger arrived in the last 7 days. */
  arrived: number;
  /** The number of users for whom it fired in the last 7 days, and in the 28 days before. */
  fired: number;
  firedBefore: number;
  /** The other decisions of the last 7 days, in any order. */
  refusals: { reason: Reason; count: number }[];
};

export type Silence = { code: 'no_enrollments' | 'events_stopped'; message: string };

const QUIET_MS = 7 * 86_400_000;
/** Decisions that are not refusals. A user in the holdout group gets no email, but passed every check. */
const ENTERED: ReadonlySet<Reason> = new Set<Reason>(['fired', 'holdout']);

/** Returns whether an enabled rule stopped firing, probably by mistake, and the most likely cause. */
export function silenceOf(facts: SilenceFacts): Silence | null {
  const { now, enabledAt, arrived, fired, firedBefore } = facts;
  if (enabledAt === null || now - enabledAt < QUIET_MS || fired > 0) return null;
  if (facts.refusals.some(({ reason, count }) => count > 0 && ENTERED.has(reason))) return null;
  if (arrived > 0) return isUndecided(facts) ? null : noEnrollments(facts);
  if (firedBefore === 0) return null;
  return {
    code: 'events_stopped',
    message: `${startWords(facts.definition)} did not arrive in the last 7 days. The rule fired ${timesWords(firedBefore)} in the 28 days before.`,
  };
}

/** A rule that waits for a time decides only then, so recent events may have no decision yet. */
function isUndecided(facts: SilenceFacts): boolean {
  const waits = facts.definition.when.every(({ kind }) => kind !== 'event' && kind !== 'audience');
  return waits && refusalsOf(facts).length === 0;
}

function refusalsOf({ refusals }: SilenceFacts): SilenceFacts['refusals'] {
  return refusals.filter(({ reason, count }) => count > 0 && reason !== 'starts_later');
}

function noEnrollments(facts: SilenceFacts): Silence {
  const { definition, arrived } = facts;
  const [most] = refusalsOf(facts).toSorted((a, b) => b.count - a.count);
  const why = most
    ? `Most common reason (${timesWords(most.count)}): ${REASONS[most.reason]}.`
    : 'The decision log has no reason.';
  return {
    code: 'no_enrollments',
    message: `${startWords(definition)} arrived ${timesWords(arrived)} in the last 7 days, and the rule enrolled no user. ${why}`,
  };
}

function startWords(definition: Definition): string {
  const names = usesOf(definition).flatMap(({ event, starts }) => (starts ? [event] : []));
  return names.length === 0 ? 'The trigger of this rule' : [...new Set(names)].join(' or ');
}

function timesWords(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
