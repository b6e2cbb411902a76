import { IDEMPOTENCY_WINDOW_MS } from '@beckon/contract';
import { coalesce } from '../../base/coalesce.ts';
import type { Log } from '../../base/log.ts';
import { findAnswers, type StoredAnswer, type StoredKey } from '../../features/idempotency/index.ts';
import type { Database } from '../../io/db/index.ts';
import { type Entry, type Priority, type Once, onceName, type Verdict } from './entry.ts';
import { type CommitterOptions, createCommitter, unavailable } from './committer.ts';
import { createFlusher } from './flusher.ts';

export type { Entry, Priority, Reply, Verdict } from './entry.ts';

/** The first journey: what is answered 2xx is durable, once. */
export type Accept = {
  /** Durable, or decided otherwise, when it resolves; a Fault `server_error` where the database cannot be had. */
  store(entry: Entry, priority: Priority): Promise<Verdict>;
  /** For a request about to be refused: the answer that its Idempotency-Key has already, if any. */
  recall(projectId: number, once: Once): Promise<Verdict | null>;
  drain(): Promise<void>;
};

export type AcceptOptions = { db: Database; log: Log } & Pick<CommitterOptions, 'onFlush'>;

/** A flush of live requests: enough to amortise a commit, not so much that the first waits for the last. */
const LIVE = { requests: 1_000, bytes: 4 * 1024 * 1024 };
/** One bulk request is a flush of its own: its project's cap is decided for it alone. */
const BULK = { requests: 1, bytes: Number.MAX_SAFE_INTEGER };
/** An answer that won is shown to the one who lost against it, even if its window ends in between. */
const GRACE_MS = 60_000;

export function createAccept(options: AcceptOptions): Accept {
  const flushers = {
    live: createFlusher(createCommitter({ ...options, priority: 'live' }), LIVE),
    bulk: createFlusher(createCommitter({ ...options, priority: 'bulk' }), BULK),
  };
  const ask = answerFinder(options.db);
  const findAnswer = (key: StoredKey): Promise<StoredAnswer | undefined> =>
    ask(key).catch((error: unknown) => {
      throw unavailable(error);
    });

  async function recall(projectId: number, once: Once): Promise<Verdict | null> {
    const name = onceName(projectId, once.key);
    await Promise.all([flushers.live.settled(name), flushers.bulk.settled(name)]);
    const stored = await findAnswer({ projectId, key: once.key });
    return stored && stored.acceptedAt > options.db.clock.now() - IDEMPOTENCY_WINDOW_MS
      ? against(once, stored)
      : null;
  }

  async function store(entry: Entry, priority: Priority): Promise<Verdict> {
    const fate = await flushers[priority].accept(entry);
    if (fate.state === 'stored' || fate.state === 'key_dead') return fate;
    const { once } = entry;
    // A replay does no work, so it precedes the queue gate.
    if (fate.state === 'queue_full') return (once && (await recall(entry.key.projectId, once))) ?? fate;
    const stored = once && (await findAnswer({ projectId: entry.key.projectId, key: once.key }));
    if (!stored) throw unavailable('an Idempotency-Key conflict has no stored request');
    return against(once, stored);
  }

  return {
    store,
    recall,
    drain: async () => {
      await Promise.all([flushers.live.drain(), flushers.bulk.drain()]);
    },
  };
}

/** A hundred twins ask one question. */
function answerFinder(db: Database): (key: StoredKey) => Promise<StoredAnswer | undefined> {
  return coalesce<StoredKey, StoredAnswer | undefined>({
    keyOf: ({ projectId, key }) => onceName(projectId, key),
    roundMax: 1_000,
    timeLimitMs: 5_000,
    async answer(keys) {
      const after = new Date(db.clock.now() - IDEMPOTENCY_WINDOW_MS - GRACE_MS);
      const found = await findAnswers(db, keys, after);
      const byName = new Map(found.map((answer) => [onceName(answer.projectId, answer.key), answer]));
      return keys.map(({ projectId, key }) => byName.get(onceName(projectId, key)));
    },
  });
}

function against(once: Once, stored: StoredAnswer): Verdict {
  if (once.fingerprint !== stored.fingerprint) return { state: 'reused' };
  return { state: 'replayed', reply: { status: stored.status, body: stored.body } };
}
