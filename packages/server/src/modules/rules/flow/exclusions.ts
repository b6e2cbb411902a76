import type { ExcludedUsers } from '@beckon/contract/dashboard';
import { type Reason, REASONS } from '../definitions/rule.ts';

const NO_REFUSAL: ReadonlySet<string> = new Set(['fired', 'starts_later']);

/** Returns why users were not enrolled, the most frequent reason first. The decision log also records what happened to emails. */
export function exclusionsOf(reasons: Map<string, number>): ExcludedUsers[] {
  return [...reasons]
    .flatMap(([reason, count]) =>
      isReason(reason) && !NO_REFUSAL.has(reason) ? [{ reason, sentence: REASONS[reason], count }] : [],
    )
    .toSorted((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}

function isReason(reason: string): reason is Reason {
  return Object.hasOwn(REASONS, reason);
}
