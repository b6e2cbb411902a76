import type { DraftListed } from '@beckon/contract/dashboard';
import { type Fold, foldOf } from './folds.ts';
import { type Group, groupOf, type Moment } from './groups.ts';

export type Item =
  | { kind: 'head'; group: Group }
  | { kind: 'fold'; fold: Fold }
  | { kind: 'row'; row: DraftListed };

/** The rows in order, with a title before each group. A fold stands where its first draft would be, with its drafts behind it if it is open. */
export function itemsOf(
  rows: DraftListed[],
  moment: Moment,
  folds: ReadonlyMap<string, Fold> = new Map(),
): Item[] {
  const items: Item[] = [];
  const placed = new Set<Fold>();
  let before: Group | null = null;
  for (const row of rows) {
    const group = groupOf(row, moment);
    if (group !== before) items.push({ kind: 'head', group });
    before = group;
    const fold = foldOf(row, folds);
    if (!fold) items.push({ kind: 'row', row });
    else if (!placed.has(fold)) {
      placed.add(fold);
      items.push({ kind: 'fold', fold });
      if (fold.isOpen) for (const inside of fold.rows) items.push({ kind: 'row', row: inside });
    }
  }
  return items;
}

/** Returns the rows of the items, in their order: keys move between these. */
export function rowsOf(items: Item[]): DraftListed[] {
  return items.flatMap((item) => (item.kind === 'row' ? [item.row] : []));
}
