import { iso } from '../clock.ts';
import { evaluate } from './evaluate.ts';
import type { Facts, Predicate } from './predicate.ts';
import { type AudienceNames, sentenceOf } from './sentence.ts';

export type Explained = {
  sentence: string;
  holds: boolean;
  /** Until when that is certain; null where time alone never changes it. */
  until: string | null;
  conditions?: Explained[];
};

/** The answer for one person, and under each group the answers that it was put together from. */
export function explain(predicate: Predicate, facts: Facts, names: AudienceNames): Explained {
  const { holds, until } = evaluate(predicate, facts);
  const explained = {
    sentence: sentenceOf(predicate, names),
    holds,
    until: until === null ? null : iso(until),
  };
  const parts = partsOf(predicate);
  return parts.length === 0
    ? explained
    : { ...explained, conditions: parts.map((part) => explain(part, facts, names)) };
}

/** The opposite of a single condition is a sentence of its own; that of a group is explained by the group. */
function partsOf(predicate: Predicate): Predicate[] {
  if (predicate.kind === 'all' || predicate.kind === 'any') return predicate.of;
  if (predicate.kind !== 'not') return [];
  return partsOf(predicate.of).length > 0 ? [predicate.of] : [];
}
