import type { IngestPriority } from '../queue/chunk.ts';
import { IDEMPOTENCY_WINDOW_MS } from '@beckon/contract';
import { coalesce } from '../../../platform/async/coalesce.ts';
import type { Log } from '../../../platform/log.ts';
import { findIdempotentReplies, type IdempotentReply, type StoredKey } from '../idempotency/store.ts';
import type { Database } from '../../../platform/db/database.ts';
import { byProject } from '../../../platform/db/distributed.ts';
import { type IngestEntry, type IdempotencyRecord, onceName, type IngestResult } from './entry.ts';
import { type CommitterOptions, createCommitter, unavailable } from './committer.ts';
import { createFlusher, type Flusher } from './flusher.ts';

/** The ingest path: a request that is answered with 2xx is durable, and stored exactly once. */
export type Accept = {
  /** Resolves when the entry is durable or otherwise decided. Throws a Fault `server_error` if the database is unavailable. */
  store(entry: IngestEntry, priority: IngestPriority): Promise<IngestResult>;
  /** For a request that is about to be rejected: returns the reply already stored for its Idempotency-Key, if any. */
  recall(projectId: number, once: IdempotencyRecord): Promise<IngestResult | null>;
  drain(): Promise<void>;
};

export type AcceptOptions = { db: Database; log: Log } & Pick<CommitterOptions, 'onFlush'>;

/** Limits of a flush of live requests: enough to amortize a commit, but not so many that the first waits for the last. */
const LIVE = { requests: 1_000, bytes: 4 * 1024 * 1024 };
/** Each bulk request is a flush of its own, so that the queue cap of its project is decided for it alone. */
const BULK = { requests: 1, bytes: Number.MAX_SAFE_INTEGER };
/** Where tables are distributed, a flush holds one project: several of them run at a time, each project always in the same one. */
const FLUSHERS_DISTRIBUTED = 8;
/** A losing request can still read the winner's reply if the idempotency window ends in between. */
const GRACE_MS = 60_000;

export function createAccept(options: AcceptOptions): Accept {
  const isPerProject = options.db.isDistributed ?? false;
  const live = Array.from({ length: isPerProject ? FLUSHERS_DISTRIBUTED : 1 }, () =>
    createFlusher(createCommitter({ ...options, priority: 'live' }), { ...LIVE, isPerProject }),
  );
  const bulk = createFlusher(createCommitter({ ...options, priority: 'bulk' }), { ...BULK, isPerProject });
  const flusherOf = (projectId: number, priority: IngestPriority): Flusher =>
    (priority === 'live' && live[projectId % live.length]) || bulk;
  const lookup = replyFinder(options.db);
  const findReply = (key: StoredKey): Promise<IdempotentReply | undefined> =>
    lookup(key).catch((error: unknown) => {
      throw unavailable(error);
    });

  async function recall(projectId: number, once: IdempotencyRecord): Promise<IngestResult | null> {
    const name = onceName(projectId, once.key);
    await Promise.all([flusherOf(projectId, 'live').settled(name), bulk.settled(name)]);
    const stored = await findReply({ projectId, key: once.key });
    return stored && stored.acceptedAt > options.db.clock.now() - IDEMPOTENCY_WINDOW_MS
      ? resultFor(once, stored)
      : null;
  }

  async function store(entry: IngestEntry, priority: IngestPriority): Promise<IngestResult> {
    const result = await flusherOf(entry.key.projectId, priority).accept(entry);
    if (result.state === 'stored' || result.state === 'key_dead') return result;
    const { once } = entry;
    // A replay does no work, so it takes precedence over the queue gate.
    if (result.state === 'queue_full') return (once && (await recall(entry.key.projectId, once))) ?? result;
    const stored = once && (await findReply({ projectId: entry.key.projectId, key: once.key }));
    if (!stored) throw unavailable('an Idempotency-Key conflict has no stored request');
    return resultFor(once, stored);
  }

  return {
    store,
    recall,
    drain: async () => {
      await Promise.all([...live, bulk].map((flusher) => flusher.drain()));
    },
  };
}

/** Concurrent lookups of one key share a query. */
function replyFinder(db: Database): (key: StoredKey) => Promise<IdempotentReply | undefined> {
  return coalesce<StoredKey, IdempotentReply | undefined>({
    keyOf: ({ projectId, key }) => onceName(projectId, key),
    roundMax: 1_000,
    timeLimitMs: 5_000,
    async load(keys) {
      const after = new Date(db.clock.now() - IDEMPOTENCY_WINDOW_MS - GRACE_MS);
      const found = await byProject(db, { rows: keys, projectOf: ({ projectId }) => projectId }, (rows) =>
        findIdempotentReplies(db, rows, after),
      );
      const byName = new Map(found.map((reply) => [onceName(reply.projectId, reply.key), reply]));
      return keys.map(({ projectId, key }) => byName.get(onceName(projectId, key)));
    },
  });
}

function resultFor(once: IdempotencyRecord, stored: IdempotentReply): IngestResult {
  if (once.fingerprint !== stored.fingerprint) return { state: 'reused' };
  return { state: 'replayed', reply: { status: stored.status, body: stored.body } };
}
