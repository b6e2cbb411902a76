/**
 * Gives each item as much as it wants if there is enough for all. Otherwise shares are equal, but no item gets more than it wants; the
 * remainder goes to the others.
 */
export function shareOut<T extends { most: number }>(items: T[], total: number): T[] {
  let remaining = total;
  const shares: T[] = [];
  const inOrder = items.toSorted((a, b) => a.most - b.most);
  for (const [i, item] of inOrder.entries()) {
    const most = Math.min(item.most, Math.floor(remaining / (inOrder.length - i)));
    remaining -= most;
    if (most > 0) shares.push({ ...item, most });
  }
  return shares;
}

/** An endpoint with fewer requests in flight is not limited by slow endpoints. */
const FEW = 2;

/**
 * Like `shareOut`, but reserves the last slots for endpoints with almost nothing in flight. Slow endpoints can therefore never occupy all
 * slots, however many they are.
 */
export function shareCapacities<T extends { most: number; inFlight: number }>(
  items: T[],
  { total, reserved }: { total: number; reserved: number },
): T[] {
  const first = items.map((item) => ({
    ...item,
    most: Math.min(item.most, Math.max(0, FEW - item.inFlight)),
  }));
  const few = new Map(shareOut(indexed(first), total).map(({ index, most }) => [index, most]));
  const fewTotal = few.values().reduce((sum, most) => sum + most, 0);
  const rest = items.map((item, index) => ({ ...item, most: item.most - (few.get(index) ?? 0) }));
  const available = Math.max(0, total - fewTotal - reserved);
  const more = new Map(shareOut(indexed(rest), available).map(({ index, most }) => [index, most]));
  return items
    .map((item, index) => ({ ...item, most: (few.get(index) ?? 0) + (more.get(index) ?? 0) }))
    .filter(({ most }) => most > 0);
}

function indexed(items: { most: number }[]): { index: number; most: number }[] {
  return items.map(({ most }, index) => ({ index, most }));
}
