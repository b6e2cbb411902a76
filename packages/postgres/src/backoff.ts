/**
 * Grows exponentially up to a bound. The random half keeps processes that failed together from retrying together. The server has the same
 * function in its platform, which does not import this package, and this package imports no other one.
 */
export function backoffMs(attempt: number, { baseMs, maxMs }: { baseMs: number; maxMs: number }): number {
  const ceiling = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
  return Math.round(ceiling / 2 + (ceiling / 2) * Math.random());
}
