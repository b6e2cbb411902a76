import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../../../platform/async/backoff.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { Fault } from '../../../platform/fault.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { listBodies, listMessageCursors } from './reads.ts';
import type { FollowedWebhook, MessageCursor } from './webhook.ts';

export type FollowWebhooksOptions = {
  /** In real time, which also dates the webhook events of a sandbox. */
  db: Tx & { clock: Clock };
  projectId: number;
  /** Follows from this time, or from the last received webhook event. The few seconds before that one are repeated. */
  since: number | MessageCursor;
  /** Stops the follower. */
  signal: AbortSignal;
  /** Receives the error if the database does not answer. The read is retried. */
  onFailure: (error: unknown) => void;
  /** Resolves when it is time to poll again. */
  wake?: (afterMs: number, signal: AbortSignal) => Promise<void>;
};

const POLL_EVERY_MS = 500;
const RETRY = { baseMs: 500, maxMs: 5_000 };
/** The maximum time between the date of a webhook event and its commit. */
const LATE_MAX_MS = 5_000;
const PAGE = 200;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Yields webhook events as they arrive, whether or not the project has endpoints. An event is dated before it is committed. So each round
 * reads the last five seconds again, and skips what it has yielded by its id. It never yields an empty list.
 */
export async function* followWebhooks(
  options: FollowWebhooksOptions,
): AsyncGenerator<FollowedWebhook[], void, void> {
  const { signal, onFailure, wake = sleep } = options;
  const feed: Feed = { ...options, floor: startOf(options.since), seen: new Map() };
  let failures = 0;
  while (!signal.aborted) {
    try {
      yield* newWebhooks(feed);
      failures = 0;
    } catch (error) {
      // The signal may have canceled the statement.
      if (signal.aborted) return;
      onFailure(error);
      failures += 1;
    }
    await wake(failures === 0 ? POLL_EVERY_MS : backoffMs(failures, RETRY), signal);
  }
}

export function formatMessageCursor(cursor: number | MessageCursor): string {
  const { createdAt, id } = typeof cursor === 'number' ? { createdAt: cursor, id: FIRST_ID } : cursor;
  return `${createdAt}-${id}`;
}

export function readMessageCursor(text: string): MessageCursor {
  const [, createdAt = '', id = ''] = CURSOR.exec(text) ?? [];
  if (id !== '') return { createdAt: Number(createdAt), id };
  const message = 'Last-Event-ID is not an ID of this stream';
  throw new Fault('validation_failed', { details: [{ message, field: 'Last-Event-ID' }] });
}

const CURSOR = /^(\d{12,14})-([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

type Feed = FollowWebhooksOptions & {
  /** Everything up to here has been yielded or was not requested. */
  floor: MessageCursor;
  /** The ids yielded since then, with their dates. */
  seen: Map<string, number>;
};

function startOf(since: number | MessageCursor): MessageCursor {
  const createdAt = typeof since === 'number' ? since : since.createdAt - LATE_MAX_MS;
  return { createdAt, id: FIRST_ID };
}

/** Runs one round. Events that it yields before it fails are remembered, so the next round replaces it. */
async function* newWebhooks(feed: Feed): AsyncGenerator<FollowedWebhook[], void, void> {
  const { db, projectId, signal, seen } = feed;
  const settledTo = db.clock.now() - LATE_MAX_MS;
  let after = feed.floor;
  for (let more = true; more && !signal.aborted;) {
    const cursors = await listMessageCursors(db, { projectId, after, limit: PAGE });
    more = cursors.length === PAGE;
    after = cursors.at(-1) ?? after;
    const fresh = cursors.filter(({ id }) => !seen.has(id));
    const webhooks = await listBodies(db, { projectId, ids: fresh.map(({ id }) => id) });
    for (const { id, createdAt } of fresh) seen.set(id, createdAt);
    if (webhooks.length > 0) yield webhooks;
    // No later round reads this far back, so these ids need not be kept.
    settle(feed, Math.min(settledTo, after.createdAt));
  }
  if (!signal.aborted) settle(feed, settledTo);
}

function settle(feed: Feed, to: number): void {
  if (feed.floor.createdAt < to) feed.floor = { createdAt: to, id: FIRST_ID };
  for (const [id, at] of feed.seen) if (at < feed.floor.createdAt) feed.seen.delete(id);
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  // The pause rejects on the signal, which ends it like the timeout does.
  await pause(ms, undefined, { signal }).catch(() => {});
}
