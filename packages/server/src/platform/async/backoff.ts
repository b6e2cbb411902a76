/** Exponential and bounded, with full jitter in its upper half, so that jobs that failed together do not retry together. */
export function backoffMs(
  attempt: number,
  bounds: { baseMs: number; maxMs: number },
  random = Math.random,
): number {
  const ceiling = Math.min(bounds.maxMs, bounds.baseMs * 2 ** Math.min(attempt, 30));
  return Math.round(ceiling / 2 + (ceiling / 2) * random());
}
