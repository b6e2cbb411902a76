import { coalesce } from '../../../platform/async/coalesce.ts';
import type { Log } from '../../../platform/log.ts';
import { addHits } from './add-hits.ts';
import type { Hit } from '../../outcomes/index.ts';
import { type LinkPlace, listTargets } from './hit-reads.ts';
import type { Database } from '../../../platform/db/database.ts';

/** Serves tracked links: returns their target at once, and records each hit. */
export type Tracker = {
  /** Returns null if the email or the link no longer exists. Throws if the database does not answer. */
  targetOf(place: LinkPlace): Promise<string | null>;
  /** Writes a hit together with all others that arrive in that time. The caller does not wait. */
  note(hit: Hit): void;
  /** Resolves when everything noted before is written, or logged as lost. */
  close(): Promise<void>;
};

const ROUND_MAX = 1_000;
/** Concurrent lookups share a query. A click waits no longer than this. */
const TARGET_WITHIN_MS = 5_000;
const WRITTEN_WITHIN_MS = 20_000;
/** Retries, so that no hit is lost when the database is unavailable for a moment. */
const AGAIN_MS = [100, 500, 2_000];
/** Hits above this number, which the database cannot keep up with, are not kept in memory. They are counted and logged. */
const WAITING_MAX = 20_000;
const SAY_EVERY_MS = 10_000;

export function createTracker({ db, log }: { db: Database; log: Log }): Tracker {
  const state = { waiting: new Set<Promise<void>>(), number: 0, dropped: 0, saidAt: -Infinity };
  const target = coalesce<LinkPlace, string | null>({
    keyOf: ({ projectId, messageId, link }) => `${projectId} ${messageId} ${link}`,
    roundMax: ROUND_MAX,
    timeLimitMs: TARGET_WITHIN_MS,
    answer: (places) => listTargets(db, places),
  });
  const write = coalesce<{ number: number; hit: Hit }, true>({
    keyOf: ({ number }) => String(number),
    roundMax: ROUND_MAX,
    timeLimitMs: WRITTEN_WITHIN_MS,
    async answer(round) {
      await written(
        db,
        round.map(({ hit }) => hit),
      );
      return round.map(() => true as const);
    },
  });

  function drop(reason: unknown): void {
    state.dropped += 1;
    if (performance.now() - state.saidAt < SAY_EVERY_MS) return;
    log.warn({ hits: state.dropped, err: reason }, 'hits.lost');
    state.dropped = 0;
    state.saidAt = performance.now();
  }

  return {
    targetOf: (place) => target(place),
    note(hit) {
      if (state.waiting.size >= WAITING_MAX) return drop(new Error(`${WAITING_MAX} hits wait`));
      state.number += 1;
      const noted = write({ number: state.number, hit }).then(() => {}, drop);
      state.waiting.add(noted);
      void noted.finally(() => state.waiting.delete(noted));
    },
    async close() {
      await Promise.all(state.waiting);
      if (state.dropped > 0) log.warn({ hits: state.dropped }, 'hits.lost');
    },
  };
}

async function written(db: Database, hits: Hit[]): Promise<void> {
  for (const againMs of [...AGAIN_MS, null]) {
    try {
      return await db.transaction((tx) => addHits(tx, hits));
    } catch (error) {
      if (againMs === null) throw error;
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  }
}
