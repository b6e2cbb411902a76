/**
 * Gives each as much as it wants where there is enough for all, and else the same to each, but to none more than it wants:
 * what those leave who want little goes to the others.
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

/** Whoever has so many under way waits for nobody slow. */
const FEW = 2;

/**
 * The same, but the last places are kept for those who have next to nothing under way: endpoints that take their time never
 * have all of them, however many they are.
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
