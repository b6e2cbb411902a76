const MEMORY_MS = 60_000;
const PROJECTS_MAX = 1_000;
const SHORTEST_S = 5;
const LONGEST_S = 60;
/** What a client is told before we have seen the queue move. */
const UNKNOWN_S = 10;

/**
 * How long a client with a full queue should wait: as long as the queue needs for one chunk, at the pace at which it
 * was seen to shrink between two refusals. Only an estimate, so it lives in memory.
 */
export function createDrainRate(chunk: number): (projectId: number, waiting: number, now: number) => number {
  const seen = new Map<number, { waiting: number; at: number }>();
  return function retryAfterS(projectId, waiting, now) {
    const before = seen.get(projectId);
    seen.delete(projectId);
    seen.set(projectId, { waiting, at: now });
    const oldest = seen.keys().next().value;
    if (seen.size > PROJECTS_MAX && oldest !== undefined) seen.delete(oldest);
    if (!before || now - before.at > MEMORY_MS) return UNKNOWN_S;
    const perSecond = ((before.waiting - waiting) / Math.max(1, now - before.at)) * 1_000;
    const seconds = perSecond > 0 ? chunk / perSecond : LONGEST_S;
    return Math.ceil(Math.min(LONGEST_S, Math.max(SHORTEST_S, seconds)));
  };
}
