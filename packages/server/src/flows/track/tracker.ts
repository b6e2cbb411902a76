import { coalesce } from '../../base/coalesce.ts';
import type { Log } from '../../base/log.ts';
import { addHits, type Hit, type LinkPlace, listTargets } from '../../features/outcomes/index.ts';
import type { Database } from '../../io/db/index.ts';

/** What a link of a letter needs of us: where it leads, at once, and that somebody notes who followed it. */
export type Tracker = {
  /** Null where there is no such letter or link any more; it throws where the database does not answer. */
  targetOf(place: LinkPlace): Promise<string | null>;
  /** Written down with all that come meanwhile; nobody waits for it. */
  note(hit: Hit): void;
  /** Everything noted before is written, or reported as lost. */
  close(): Promise<void>;
};

const ROUND_MAX = 1_000;
/** The links of a page of letters are asked for together; whoever clicks waits no longer than this. */
const TARGET_WITHIN_MS = 5_000;
const WRITTEN_WITHIN_MS = 20_000;
/** A database that is away for a moment costs no hit. */
const AGAIN_MS = [100, 500, 2_000];
/** A flood that the database cannot follow is not kept in memory either: it is counted, and said. */
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
