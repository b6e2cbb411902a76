import { type Definition, type Reason, REASONS } from './rule.ts';
import { usesOf } from './uses.ts';

export type SilenceFacts = {
  definition: Definition;
  now: number;
  /** Null while the rule is off. */
  enabledAt: number | null;
  /** How often that which starts it came in the last 7 days. */
  arrived: number;
  /** For how many people it fired in the last 7 days, and in the 28 days before these. */
  fired: number;
  firedBefore: number;
  /** What else the ledger says of the last 7 days, in any order. */
  refusals: { reason: Reason; count: number }[];
};

export type Silence = { code: 'fires_for_nobody' | 'events_stopped'; message: string };

const QUIET_MS = 7 * 86_400_000;
/** Reasons of the ledger that refuse nobody. Who is held out got no letter, but passed every gate. */
const ENTERED: ReadonlySet<Reason> = new Set<Reason>(['fired', 'holdout']);

/** Whether a rule that is on has gone quiet in a way that nobody may have meant, and what is most likely behind it. */
export function silenceOf(facts: SilenceFacts): Silence | null {
  const { now, enabledAt, arrived, fired, firedBefore } = facts;
  if (enabledAt === null || now - enabledAt < QUIET_MS || fired > 0) return null;
  if (facts.refusals.some(({ reason, count }) => count > 0 && ENTERED.has(reason))) return null;
  if (arrived > 0) return isUndecided(facts) ? null : firesForNobody(facts);
  if (firedBefore === 0) return null;
  return {
    code: 'events_stopped',
    message: `${startWords(facts.definition)} stopped. No event arrived in the last 7 days; in the 28 days before, the rule fired ${timesWords(firedBefore)}`,
  };
}

/** What waits for a moment of its own is considered only then: of what came lately nothing may be decided yet. */
function isUndecided(facts: SilenceFacts): boolean {
  const waits = facts.definition.when.every(({ kind }) => kind !== 'event' && kind !== 'audience');
  return waits && refusalsOf(facts).length === 0;
}

function refusalsOf({ refusals }: SilenceFacts): SilenceFacts['refusals'] {
  return refusals.filter(({ reason, count }) => count > 0 && reason !== 'armed');
}

function firesForNobody(facts: SilenceFacts): Silence {
  const { definition, arrived } = facts;
  const [most] = refusalsOf(facts).toSorted((a, b) => b.count - a.count);
  const why = most
    ? `most often, ${timesWords(most.count)}, because ${REASONS[most.reason]} (${most.reason})`
    : 'the decision log has no reason';
  return {
    code: 'fires_for_nobody',
    message: `${startWords(definition)} arrived ${timesWords(arrived)} in the last 7 days, but the rule enrolled no user: ${why}`,
  };
}

function startWords(definition: Definition): string {
  const names = usesOf(definition).flatMap(({ event, starts }) => (starts ? [event] : []));
  return names.length === 0 ? 'The trigger of this rule' : [...new Set(names)].join(' or ');
}

function timesWords(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
