import type { DraftListed } from '@beckon/contract/dashboard';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useApi } from '../../api/index.ts';
import { useZone } from '../../parts/index.ts';
import { useMinute } from '../../parts/ticking.ts';
import { type Fold, foldOf, foldsOf } from './folds.ts';
import { type Item, itemsOf, rowsOf } from './items.ts';

const route = getRouteApi('/p/$project/review');

export type Folded = {
  items: Item[];
  /** The rows that are not in a closed fold. */
  rows: DraftListed[];
  toggle: (fold: Fold) => void;
  /** The list ends in a closed fold: more rows are loaded only on request, because they may all belong to it. */
  endsFolded: boolean;
};

/** Groups the rows by their deadline, and folds held ones by their reason. The groups are updated every minute, not every second. */
export function useFolded(rows: DraftListed[]): Folded {
  const { draft: named, filter } = route.useSearch();
  const counts = useApi('GET /projects/:project/drafts/counts', {
    query: filter === undefined ? {} : { filter },
  });
  const heldBy = counts.data?.data.held_by;
  const zone = useZone();
  const now = useMinute();
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const folds = useMemo(
    () => foldsOf(rows, { heldBy: heldBy ?? [], toggled, named }),
    [rows, heldBy, toggled, named],
  );
  const items = useMemo(() => itemsOf(rows, { now, zone }, folds), [rows, now, zone, folds]);
  const last = rows.at(-1);
  return {
    items,
    rows: useMemo(() => rowsOf(items), [items]),
    toggle: ({ reason, isOpen }) => setToggled((was) => new Map([...was, [reason, !isOpen]])),
    endsFolded: last !== undefined && foldOf(last, folds)?.isOpen === false,
  };
}
