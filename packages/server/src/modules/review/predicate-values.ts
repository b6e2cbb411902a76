import { iso } from '../../platform/time/clock.ts';
import type { Facts, Predicate } from '../../platform/predicate/predicate.ts';

/** Returns the values found for a user by the single parts of a condition, keyed by what each part reads. */
export function valuesOf(
  predicate: Predicate,
  facts: Facts,
  names: (audienceId: string) => string | undefined,
): Record<string, unknown> {
  switch (predicate.kind) {
    case 'all':
    case 'any':
      return Object.assign({}, ...predicate.of.map((child) => valuesOf(child, facts, names))) as Record<
        string,
        unknown
      >;
    case 'not':
      return valuesOf(predicate.of, facts, names);
    case 'trait':
      return { [predicate.trait]: facts.trait(predicate.trait) ?? null };
    case 'user':
      return { email: facts.email };
    case 'sum':
    case 'count':
    case 'first':
    case 'last':
      return countedOf(predicate, facts);
    case 'audience':
      return { [nameOr(names, predicate.audienceId)]: facts.isMember(predicate.audienceId) };
    default:
      return predicate satisfies never;
  }
}

/** Counts within a time window are not kept in the totals, so only the sentence mentions them. */
function countedOf(predicate: Extract<Predicate, { event: string }>, facts: Facts): Record<string, unknown> {
  if (predicate.kind === 'sum' || (predicate.kind === 'count' && predicate.window !== null)) return {};
  const total = facts.total(predicate.event);
  if (!total) return { [predicate.event]: { count: 0 } };
  const { count, firstAt, lastAt } = total;
  return { [predicate.event]: { count, first: iso(firstAt), last: iso(lastAt) } };
}

function nameOr(names: (audienceId: string) => string | undefined, id: string): string {
  return names(id) ?? id;
}
