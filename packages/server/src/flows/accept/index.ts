import { IDEMPOTENCY_WINDOW_MS } from '@beckon/contract';
import type { Log } from '../../base/log.ts';
import { findAnswers } from '../../features/idempotency/index.ts';
import type { Database } from '../../io/db/index.ts';
import { againstStored, type Entry, type Lane, onceName, type Verdict } from './entry.ts';
import { createFlusher, type FlusherOptions } from './flusher.ts';

export type { Entry, Lane, Reply, Verdict } from './entry.ts';

/** The first journey: what is answered 2xx is durable, once. */
export type Accept = {
  /** Durable, or decided otherwise, when it resolves; a Fault `server_error` where the database cannot be had. */
  store(entry: Entry, lane: Lane): Promise<Verdict>;
  /** For a request about to be refused: the answer that its Idempotency-Key has already, if any. */
  recall(projectId: number, once: { key: Buffer; fingerprint: Buffer }): Promise<Verdict | null>;
  drain(): Promise<void>;
};

export type AcceptOptions = { db: Database; log: Log } & Pick<FlusherOptions, 'onFlush' | 'beforeCommit'>;

/** A flush of live requests: enough to amortise a commit, not so much that the first waits for the last. */
const LIVE = { requests: 1_000, bytes: 4 * 1024 * 1024 };
/** One bulk request is a flush of its own: its project's cap is decided for it alone. */
const BULK = { requests: 1, bytes: Number.MAX_SAFE_INTEGER };

export function createAccept(options: AcceptOptions): Accept {
  const flushers = {
    live: createFlusher({ ...options, lane: 'live', limits: LIVE }),
    bulk: createFlusher({ ...options, lane: 'bulk', limits: BULK }),
  };
  const recall: Accept['recall'] = async (projectId, once) => {
    const name = onceName(projectId, once.key);
    await Promise.all([flushers.live.settled(name), flushers.bulk.settled(name)]);
    const after = new Date(options.db.clock.now() - IDEMPOTENCY_WINDOW_MS);
    const [stored] = await findAnswers(options.db, [{ projectId, key: once.key }], after);
    return stored ? againstStored(once, stored) : null;
  };
  return {
    async store(entry, lane) {
      const verdict = await flushers[lane].accept(entry);
      // A replay does no work, so it precedes the queue gate.
      if (verdict.state !== 'queue_full' || !entry.once) return verdict;
      return (await recall(entry.key.projectId, entry.once)) ?? verdict;
    },
    recall,
    drain: async () => {
      await Promise.all([flushers.live.drain(), flushers.bulk.drain()]);
    },
  };
}
