import { isoOrNull } from '../time/clock.ts';
import { evaluate } from './evaluate.ts';
import type { Facts, Predicate } from './predicate.ts';
import { type AudienceNames, sentenceOf } from './sentence.ts';

export type Explained = {
  sentence: string;
  holds: boolean;
  /** The end of certainty; null if time alone never changes the answer. */
  until: string | null;
  conditions?: Explained[];
};

/** Returns the answer for one user, and for each group the answers that it consists of. */
export function explain(predicate: Predicate, facts: Facts, names: AudienceNames): Explained {
  const { holds, until } = evaluate(predicate, facts);
  const explained = {
    sentence: sentenceOf(predicate, names),
    holds,
    until: isoOrNull(until),
  };
  const parts = partsOf(predicate);
  return parts.length === 0
    ? explained
    : { ...explained, conditions: parts.map((part) => explain(part, facts, names)) };
}

/** A negated single condition has its own sentence. A negated group is explained by the group. */
function partsOf(predicate: Predicate): Predicate[] {
  if (predicate.kind === 'all' || predicate.kind === 'any') return predicate.of;
  if (predicate.kind !== 'not') return [];
  return partsOf(predicate.of).length > 0 ? [predicate.of] : [];
}
