/**
 * Follows the stream as it grows. A row is dated before it is committed, so a new row may come up to five seconds before what was read
 * already. A transaction that takes longer between its date and its commit is missed by followers, but found by later reads.
 *
 * Time is divided into slices. For each slice of the last five seconds the ids of the yielded items are kept. A round counts the items of
 * those slices in the database, and reads a slice only if its count differs from the number of ids. So a quiet stream costs one count. A
 * backfill of 150,000 rows in five seconds is not read again four times a second because of a few late rows. Rounds leave no gap: each one
 * begins five seconds before the previous one began. A follower that is further behind, at the start or because its reader was slow, first
 * reads page by page and keeps no ids.
 */

import { backoffMs } from '../../../platform/async/backoff.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import type { Filter } from '../../../platform/filter/filter.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { countSlices } from './page-store.ts';
import { readPage, STREAM_PAGE_MAX } from './read-stream.ts';
import { type Cursor, type StreamPosition, positionOfTime, readCursor, type StreamItem } from './stream.ts';

export type FollowOptions = {
  db: Tx & { clock: Clock };
  projectId: number;
  filter: Filter;
  /**
   * Follows from this time, or from the last received item. With an item, the five seconds before it are repeated because of late commits;
   * the client recognizes duplicates by their ids.
   */
  since: Date | Cursor;
  /** Stops the follower. */
  signal: AbortSignal;
  /** Resolves when it is time to look again: after this long or on a wake-up, and immediately on the signal. */
  wake?: (afterMs: number, signal: AbortSignal) => Promise<void>;
  /** Runs before each look. If it fails, the look fails. */
  beforeLook?: () => Promise<void>;
  /** Receives errors: a database that does not answer, which is retried, and more items than the memory limit. */
  onFailure?: (error: unknown) => void;
};

const LOOK_EVERY_MS = 250;
const RETRY = { baseMs: 250, maxMs: 5_000 };
/** The maximum time between the date of a row and its commit. */
const LATE_MAX_MS = 5_000;
/** The maximum time by which the writer's clock may be ahead. */
const AHEAD_MAX_MS = 1_000;
const SLICE_MS = 250;
/** About twenty megabytes. Above it, the oldest slices are not checked any more. */
const REMEMBERED_MAX = 200_000;

/** Yields items oldest first, except late ones, and never an empty list. */
export async function* followStream(options: FollowOptions): AsyncGenerator<StreamItem[], void, void> {
  const { signal, wake = pause } = options;
  const floor = floorOf(options.since);
  const feed: Feed = { ...options, floor, seen: new Map(), remembered: 0, reportedAt: 0 };
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const items of newItems(feed)) {
        if (items.length > 0) yield items;
        if (signal.aborted) return;
      }
      failures = 0;
    } catch (error) {
      // The signal may have canceled the statement.
      if (signal.aborted) return;
      options.onFailure?.(error);
      failures += 1;
    }
    await wake(failures === 0 ? LOOK_EVERY_MS : backoffMs(failures, RETRY), signal);
  }
}

type Feed = FollowOptions & {
  /** Everything up to here has been yielded. */
  floor: StreamPosition;
  /** The yielded ids by the start of their slice, in order of time. */
  seen: Map<number, Set<string>>;
  remembered: number;
  /** When the memory limit was last reported. */
  reportedAt: number;
};

function floorOf(since: Date | Cursor): StreamPosition {
  return positionOfTime(
    since instanceof Date ? since : new Date(readCursor(since).at.getTime() - LATE_MAX_MS),
  );
}

/** Runs one round. Items that it yields before it fails are remembered, so the next round replaces it. */
async function* newItems(feed: Feed): AsyncGenerator<StreamItem[], void, void> {
  await feed.beforeLook?.();
  const startedAt = feed.db.clock.now();
  const settledTo = sliceOf(startedAt - LATE_MAX_MS);
  if (feed.floor.at.getTime() < settledTo - LATE_MAX_MS) {
    yield* settledItems(feed, positionOfTime(new Date(settledTo)));
  }
  const before = positionOfTime(new Date(startedAt + AHEAD_MAX_MS));
  const { db, projectId, filter } = feed;
  const counted = await countSlices(db, { projectId, filter, after: feed.floor, before }, SLICE_MS);
  for (const { slice, count } of counted) {
    const at = slice.getTime();
    if (count !== feed.seen.get(at)?.size) yield* unseenItems(feed, at);
  }
  settle(feed, settledTo);
}

/** Reads a period that can no longer change. It is read once, so no ids are kept. */
async function* settledItems(feed: Feed, before: StreamPosition): AsyncGenerator<StreamItem[], void, void> {
  const { db, projectId, filter } = feed;
  for (let more = true; more;) {
    const range = { projectId, filter, after: feed.floor, before };
    const page = await readPage(db, range, { order: 'oldest_first', limit: STREAM_PAGE_MAX });
    feed.floor = page.more && page.end ? page.end : before;
    ({ more } = page);
    yield page.items.filter((item) => !feed.seen.get(sliceOf(Date.parse(item.at)))?.has(item.id));
  }
  settle(feed, before.at.getTime());
}

async function* unseenItems(feed: Feed, slice: number): AsyncGenerator<StreamItem[], void, void> {
  const { db, projectId, filter } = feed;
  const before = positionOfTime(new Date(slice + SLICE_MS));
  const seenIds = feed.seen.get(slice) ?? new Set();
  feed.seen.set(slice, seenIds);
  let after = feed.floor.at.getTime() < slice ? positionOfTime(new Date(slice)) : feed.floor;
  for (let more = true; more;) {
    const range = { projectId, filter, after, before };
    const page = await readPage(db, range, { order: 'oldest_first', limit: STREAM_PAGE_MAX });
    after = page.end ?? after;
    ({ more } = page);
    const items = page.items.filter((item) => !seenIds.has(item.id));
    for (const item of items) seenIds.add(item.id);
    feed.remembered += items.length;
    if (feed.remembered > REMEMBERED_MAX) forgetBefore(feed, slice);
    yield items;
  }
}

/** Marks everything up to here as final: no later round looks there. */
function settle(feed: Feed, to: number): void {
  if (feed.floor.at.getTime() < to) feed.floor = positionOfTime(new Date(to));
  for (const [slice, ids] of feed.seen) {
    if (slice + SLICE_MS > to) continue;
    feed.seen.delete(slice);
    feed.remembered -= ids.size;
  }
}

/** Drops slices, oldest first. The slice that is being read stays, however large it is. */
function forgetBefore(feed: Feed, slice: number): void {
  const before = [...feed.seen.keys()].filter((at) => at < slice).toSorted((a, b) => a - b);
  for (const at of before) {
    if (feed.remembered <= REMEMBERED_MAX) break;
    settle(feed, at + SLICE_MS);
  }
  const now = feed.db.clock.now();
  if (before.length === 0 || now < feed.reportedAt + LATE_MAX_MS) return;
  feed.reportedAt = now;
  const message = `More than ${REMEMBERED_MAX} items in ${LATE_MAX_MS / 1_000} s`;
  feed.onFailure?.(new Error(`${message}: items that were committed late may be missing`));
}

function sliceOf(ms: number): number {
  return Math.floor(ms / SLICE_MS) * SLICE_MS;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish);
    function finish(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    }
    // An abort that came earlier fires no event.
    if (signal.aborted) finish();
  });
}
