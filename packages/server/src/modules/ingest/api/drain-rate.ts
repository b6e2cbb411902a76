const MEMORY_MS = 60_000;
const PROJECTS_MAX = 1_000;
/** Shorter than a full queue lasts anywhere: a longer pause would let it run dry. */
const SHORTEST_S = 1;
const LONGEST_S = 60;
/** Retry-After before any change of the queue was observed. */
const UNKNOWN_S = 10;

/** Two observations closer together than this say nothing about the rate: records leave the queue in batches. */
const APART_MS = 1_000;

export type DrainRate = {
  /** Adds records that were accepted. */
  add(projectId: number, records: number, now: number): void;
  retryAfterS(projectId: number, waiting: number, now: number): number;
};

/**
 * Estimates how long a client with a full queue should wait: as long as the queue needs for one chunk. The rate counts the records that
 * waited at an observation or were accepted since, and no longer wait. Before its first refusal a queue counts as empty, so the rate is
 * rather too low. It is only an estimate, so it stays in memory.
 */
export function createDrainRate(chunk: number): DrainRate {
  type Observation = {
    waiting: number;
    at: number;
    added: number;
    /** After a refusal. */ reportedS: number | null;
  };
  const seen = new Map<number, Observation>();
  function sightOf(projectId: number, now: number): Observation | undefined {
    const sight = seen.get(projectId);
    return sight && now - sight.at <= MEMORY_MS ? sight : undefined;
  }
  function keep(projectId: number, sight: Observation): void {
    seen.delete(projectId);
    seen.set(projectId, sight);
    const oldest = seen.keys().next().value;
    if (seen.size > PROJECTS_MAX && oldest !== undefined) seen.delete(oldest);
  }
  return {
    add(projectId, records, now) {
      const sight = sightOf(projectId, now);
      if (sight) sight.added += records;
      else keep(projectId, { waiting: 0, at: now, added: records, reportedS: null });
    },
    retryAfterS(projectId, waiting, now) {
      const before = sightOf(projectId, now);
      if (before && before.reportedS !== null && now - before.at < APART_MS) return before.reportedS;
      const reportedS = before ? estimate(before, waiting, now) : UNKNOWN_S;
      keep(projectId, { waiting, at: now, added: 0, reportedS });
      return reportedS;
    },
  };

  function estimate(before: Observation, waiting: number, now: number): number {
    const gone = before.waiting + before.added - waiting;
    if (gone <= 0) return before.reportedS === null ? UNKNOWN_S : LONGEST_S;
    const seconds = chunk / ((gone / Math.max(1, now - before.at)) * 1_000);
    return Math.ceil(Math.min(LONGEST_S, Math.max(SHORTEST_S, seconds)));
  }
}
