import type { Facts, NthQuery, WindowSum } from '../../platform/predicate/predicate.ts';
import { matchesWhere } from '../../platform/predicate/compare.ts';
import type { PersonId } from '../users/index.ts';
import { type ActiveRule, type Anchor, evaluateWindowAsOf } from '../rules/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** The time of the occurrence one before the nth newest, by question key. After one more event, it is the nth newest. */
export type EarlierOccurrences = Map<string, number | null>;

/** Answers the questions that the conditions of these rules contain about their own trigger events. */
export async function findEarlierOccurrences(
  tx: Tx,
  rules: ActiveRule[],
  { projectId, userId, now }: PersonId & { now: number },
): Promise<EarlierOccurrences> {
  const queries = new Map<string, NthQuery>();
  for (const { definition, conditions } of rules) {
    const starting = new Set(definition.when.map((trigger) => ('event' in trigger ? trigger.event : '')));
    for (const query of conditions.mentions.flatMap((mention) => [...mention.queries.values()]))
      if (query.kind === 'nth' && query.nth > 1 && starting.has(query.event)) queries.set(query.key, query);
  }
  const found: EarlierOccurrences = new Map();
  for (const query of queries.values()) {
    const earlierQuery = { ...query, nth: query.nth - 1 };
    const [value] = await evaluateWindowAsOf(tx, earlierQuery, [{ projectId, userId, by: now }]);
    found.set(query.key, value?.at ?? null);
  }
  return found;
}

/** Returns the facts after one more event. Audiences that the user would join by it are left out. */
export function withNextEvent(
  facts: Facts,
  { name, properties }: Anchor,
  earlier: EarlierOccurrences,
): Facts {
  const { now } = facts;
  return {
    ...facts,
    total(event) {
      const total = facts.total(event);
      if (event !== name) return total;
      return { count: (total?.count ?? 0) + 1, firstAt: total?.firstAt ?? now, lastAt: now };
    },
    nth(query) {
      const { event, window, nth, key } = query;
      if (event !== name || !matchesWhere(window.where, properties)) return facts.nth(query);
      return nth === 1 ? now : (earlier.get(key) ?? null);
    },
    sum(query): WindowSum {
      const sum = facts.sum(query);
      const { event, window, property } = query;
      const value = Object.hasOwn(properties, property) ? properties[property] : undefined;
      const adds = event === name && matchesWhere(window.where, properties) && typeof value === 'number';
      return adds ? { sum: sum.sum + value, oldestAt: sum.oldestAt ?? now } : sum;
    },
  };
}
