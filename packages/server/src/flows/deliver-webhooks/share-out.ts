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
