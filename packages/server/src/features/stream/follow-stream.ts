import { backoffMs } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import type { Filter } from '../../base/filter/index.ts';
import type { Tx } from '../../io/db/index.ts';
import { countSlices } from './page-store.ts';
import { readPage, STREAM_PAGE_MAX } from './read-stream.ts';
import { type Cursor, type Place, placeOfTime, readCursor, type StreamItem } from './stream.ts';

/**
 * The stream as it grows. A row is dated before it is committed, so what is new may lie behind what was read already; at most
 * five seconds behind it. A transaction that takes longer than that from its date to its commit is missed by whoever
 * follows, and found by whoever reads.
 *
 * Time is cut into slices, and of each slice of the last five seconds the ids are kept that were handed on. A round counts
 * the items of those slices in the database, and reads only where their number is not that of the ids: a quiet stream costs a
 * count, and a backfill of 150,000 rows in five seconds is not read again four times a second for the few that came late.
 * Rounds follow each other without a hole: one begins five seconds before the one before it began. Whoever is further behind
 * than that, at the beginning or because nobody took what was found, reads page after page first, and remembers nothing.
 */
export type FollowOptions = {
  db: Tx & { clock: Clock };
  projectId: number;
  filter: Filter;
  /**
   * From this moment on; or on from the last item that was had. Then the five seconds before it come again, for the sake of
   * what was committed late, and what was had already is told by its id.
   */
  since: Date | Cursor;
  /** Ends it. */
  signal: AbortSignal;
  /** Resolves when it is time to look again: after this long, or for better reasons; at once when the signal is given. */
  wake?: (afterMs: number, signal: AbortSignal) => Promise<void>;
  /** Done before each look; if it fails, so does the look. */
  beforeLook?: () => Promise<void>;
  /** Hears of a database that did not answer, which is asked again, and of more items than can be kept in mind. */
  onTrouble?: (trouble: unknown) => void;
};

const LOOK_EVERY_MS = 250;
const RETRY = { baseMs: 250, maxMs: 5_000 };
/** As long may a row be on its way from being dated to being committed. */
const LATE_MAX_MS = 5_000;
/** As far may the clock of the one who dated it be ahead. */
const AHEAD_MAX_MS = 1_000;
const SLICE_MS = 250;
/** Some twenty megabytes. Above it the oldest slices are looked at no more. */
const REMEMBERED_MAX = 200_000;

/** Oldest first, but for what came late; never an empty list. */
export async function* followStream(options: FollowOptions): AsyncGenerator<StreamItem[], void, void> {
  const { signal, wake = pause } = options;
  const floor = floorOf(options.since);
  const feed: Feed = { ...options, floor, seen: new Map(), remembered: 0, saidAt: 0 };
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const items of newItems(feed)) {
        if (items.length > 0) yield items;
        if (signal.aborted) return;
      }
      failures = 0;
    } catch (error) {
      // Whoever ended it may have canceled its statement.
      if (signal.aborted) return;
      options.onTrouble?.(error);
      failures += 1;
    }
    await wake(failures === 0 ? LOOK_EVERY_MS : backoffMs(failures, RETRY), signal);
  }
}

type Feed = FollowOptions & {
  /** Everything up to here has been handed on. */
  floor: Place;
  /** The ids handed on, by the beginning of their slice, in the order of time. */
  seen: Map<number, Set<string>>;
  remembered: number;
  /** When it was last said that there are too many. */
  saidAt: number;
};

function floorOf(since: Date | Cursor): Place {
  return placeOfTime(since instanceof Date ? since : new Date(readCursor(since).at.getTime() - LATE_MAX_MS));
}

/** One round. What it hands on before it fails is remembered, so the next round takes its place. */
async function* newItems(feed: Feed): AsyncGenerator<StreamItem[], void, void> {
  await feed.beforeLook?.();
  const startedAt = feed.db.clock.now();
  const settledTo = sliceOf(startedAt - LATE_MAX_MS);
  if (feed.floor.at.getTime() < settledTo - LATE_MAX_MS) {
    yield* settledItems(feed, placeOfTime(new Date(settledTo)));
  }
  const before = placeOfTime(new Date(startedAt + AHEAD_MAX_MS));
  const { db, projectId, filter } = feed;
  const counted = await countSlices(db, { projectId, filter, after: feed.floor, before }, SLICE_MS);
  for (const { slice, count } of counted) {
    const at = slice.getTime();
    if (count !== feed.seen.get(at)?.size) yield* unseenItems(feed, at);
  }
  settle(feed, settledTo);
}

/** Nothing will be added there any more: it is read once, and needs no remembering. */
async function* settledItems(feed: Feed, before: Place): AsyncGenerator<StreamItem[], void, void> {
  const { db, projectId, filter } = feed;
  for (let more = true; more;) {
    const reach = { projectId, filter, after: feed.floor, before };
    const page = await readPage(db, reach, { order: 'oldest_first', limit: STREAM_PAGE_MAX });
    feed.floor = page.more && page.end ? page.end : before;
    ({ more } = page);
    yield page.items.filter((item) => !feed.seen.get(sliceOf(Date.parse(item.at)))?.has(item.id));
  }
  settle(feed, before.at.getTime());
}

async function* unseenItems(feed: Feed, slice: number): AsyncGenerator<StreamItem[], void, void> {
  const { db, projectId, filter } = feed;
  const before = placeOfTime(new Date(slice + SLICE_MS));
  const known = feed.seen.get(slice) ?? new Set();
  feed.seen.set(slice, known);
  let after = feed.floor.at.getTime() < slice ? placeOfTime(new Date(slice)) : feed.floor;
  for (let more = true; more;) {
    const reach = { projectId, filter, after, before };
    const page = await readPage(db, reach, { order: 'oldest_first', limit: STREAM_PAGE_MAX });
    after = page.end ?? after;
    ({ more } = page);
    const items = page.items.filter((item) => !known.has(item.id));
    for (const item of items) known.add(item.id);
    feed.remembered += items.length;
    if (feed.remembered > REMEMBERED_MAX) forgetBefore(feed, slice);
    yield items;
  }
}

/** Up to here no round will look again. */
function settle(feed: Feed, to: number): void {
  if (feed.floor.at.getTime() < to) feed.floor = placeOfTime(new Date(to));
  for (const [slice, ids] of feed.seen) {
    if (slice + SLICE_MS > to) continue;
    feed.seen.delete(slice);
    feed.remembered -= ids.size;
  }
}

/** The oldest first. The slice that is being read stays, however many there are in it. */
function forgetBefore(feed: Feed, slice: number): void {
  const before = [...feed.seen.keys()].filter((at) => at < slice).toSorted((one, other) => one - other);
  for (const at of before) {
    if (feed.remembered <= REMEMBERED_MAX) break;
    settle(feed, at + SLICE_MS);
  }
  const now = feed.db.clock.now();
  if (before.length === 0 || now < feed.saidAt + LATE_MAX_MS) return;
  feed.saidAt = now;
  const said = `More than ${REMEMBERED_MAX} items in ${LATE_MAX_MS / 1_000} s`;
  feed.onTrouble?.(new Error(`${said}: items that were committed late may be missing`));
}

function sliceOf(ms: number): number {
  return Math.floor(ms / SLICE_MS) * SLICE_MS;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    // A signal that was given before is not given again.
    if (signal.aborted) done();
  });
}
