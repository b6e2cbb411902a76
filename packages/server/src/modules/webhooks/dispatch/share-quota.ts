/**
 * Gives each item as much as it wants if there is enough for all. Otherwise shares are equal, but no item gets more than it wants; the
 * remainder goes to the others.
 */
export function shareOut<T extends { most: number }>(wanted: T[], total: number): T[] {
  let left = total;
  const shares: T[] = [];
  const inOrder = wanted.toSorted((a, b) => a.most - b.most);
  for (const [i, one] of inOrder.entries()) {
    const most = Math.min(one.most, Math.floor(left / (inOrder.length - i)));
    left -= most;
    if (most > 0) shares.push({ ...one, most });
  }
  return shares;
}

/** An endpoint with fewer requests in flight is not limited by slow endpoints. */
const FEW = 2;

/**
 * Like `shareOut`, but reserves the last slots for endpoints with almost nothing in flight. Slow endpoints can therefore never occupy all
 * slots, however many they are.
 */
export function shareRooms<T extends { most: number; inFlight: number }>(
  wanted: T[],
  { total, reserved }: { total: number; reserved: number },
): T[] {
  const first = wanted.map((one) => ({ ...one, most: Math.min(one.most, Math.max(0, FEW - one.inFlight)) }));
  const few = new Map(shareOut(indexed(first), total).map(({ index, most }) => [index, most]));
  const taken = few.values().reduce((sum, most) => sum + most, 0);
  const rest = wanted.map((one, index) => ({ ...one, most: one.most - (few.get(index) ?? 0) }));
  const left = Math.max(0, total - taken - reserved);
  const more = new Map(shareOut(indexed(rest), left).map(({ index, most }) => [index, most]));
  return wanted
    .map((one, index) => ({ ...one, most: (few.get(index) ?? 0) + (more.get(index) ?? 0) }))
    .filter(({ most }) => most > 0);
}

function indexed(wanted: { most: number }[]): { index: number; most: number }[] {
  return wanted.map(({ most }, index) => ({ index, most }));
}
