import { IDEMPOTENCY_WINDOW_MS } from '@beckon/contract';
import { deleteAnswers } from '../features/idempotency/index.ts';
import type { Database } from '../io/db/index.ts';
import type { Job } from './timetable.ts';

const EVERY_MS = 60_000;
/** Somebody who just lost against an answer still reads it, and no step of a clock may delete one that counts. */
const MARGIN_MS = 2 * 60 * 60 * 1_000;
/** A few milliseconds of work: no accept ever waits behind it for long. */
const STEP = 1_000;

/** Idempotency keys are forgotten after 24 hours. They count as absent before that; this only gives the space back. */
export function forgetAnswers(db: Pick<Database, 'query' | 'prepared' | 'clock'>): Job {
  return {
    name: 'delete_idempotency_keys',
    everyMs: EVERY_MS,
    async run(stopping) {
      const before = new Date(db.clock.now() - IDEMPOTENCY_WINDOW_MS - MARGIN_MS);
      let from: Date | null = null;
      while (!stopping()) {
        const { deleted, reached } = await deleteAnswers(db, { before, from, limit: STEP });
        if (deleted < STEP) return;
        from = reached;
      }
    },
  };
}
