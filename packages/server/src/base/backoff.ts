/** Exponential, bounded, with full jitter in its upper half, so that those who failed together do not return together. */
export function backoffMs(
  attempt: number,
  bounds: { baseMs: number; maxMs: number },
  random = Math.random,
): number {
  const ceiling = Math.min(bounds.maxMs, bounds.baseMs * 2 ** Math.min(attempt, 30));
  return Math.round(ceiling / 2 + (ceiling / 2) * random());
}
