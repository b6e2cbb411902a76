import { REVIEW_ACTIONS, type ReviewAction, type ReviewTally } from '@beckon/contract/dashboard';
import type { TallyRow } from './list-decided.ts';

type Viewer = { actor: string; names: ReadonlyMap<string, string> };

/** Groups the counts by member: the one who asks first, then by number of drafts. */
export function membersOfTally(rows: TallyRow[], { actor, names }: Viewer): ReviewTally['members'] {
  const byActor = new Map<string, Record<ReviewAction, number>>();
  for (const row of rows) {
    const counts = byActor.get(row.actor) ?? noneOfEach();
    counts[row.action] += row.drafts;
    byActor.set(row.actor, counts);
  }
  return [...byActor]
    .map(([by, counts]) => ({ by: names.get(by) ?? by, mine: by === actor, ...counts }))
    .toSorted((a, b) => Number(b.mine) - Number(a.mine) || sumOf(b) - sumOf(a) || (a.by < b.by ? -1 : 1));
}

function noneOfEach(): Record<ReviewAction, number> {
  return { approve: 0, edit: 0, skip: 0, postpone: 0 };
}

function sumOf(counts: Record<ReviewAction, number>): number {
  return REVIEW_ACTIONS.reduce((sum, action) => sum + counts[action], 0);
}
