import type { FeedItem } from '@beckon/contract/dashboard';

/** The shown items, the newest first, and those that arrived while the stream was paused. */
export type Tail = {
  items: FeedItem[];
  isPaused: boolean;
  /** The newest items since the pause, up to the page's limit. */
  waiting: FeedItem[];
  /** The number of items since the pause, including dropped ones. */
  waited: number;
};

export const EMPTY_TAIL: Tail = { items: [], isPaused: false, waiting: [], waited: 0 };
/** The limit of the page. A filter finds older items. */
export const TAIL_MAX = 2_000;

export type TailMove =
  | { do: 'start'; items: FeedItem[] }
  | { do: 'hear'; items: FeedItem[] }
  | { do: 'pause' }
  | { do: 'resume' };

export function nextTail(tail: Tail, move: TailMove): Tail {
  switch (move.do) {
    case 'start':
      return { ...EMPTY_TAIL, items: newest([], move.items) };
    case 'hear':
      return tail.isPaused ? keep(tail, move.items) : show(tail, move.items);
    case 'pause':
      return { ...tail, isPaused: true };
    case 'resume':
      return { ...EMPTY_TAIL, items: newest(tail.items, tail.waiting) };
  }
}

function show(tail: Tail, more: FeedItem[]): Tail {
  const items = newest(tail.items, more);
  return items === tail.items ? tail : { ...tail, items };
}

function keep(tail: Tail, items: FeedItem[]): Tail {
  const positions = new Set([...tail.items, ...tail.waiting].map(({ place }) => place));
  const fresh = items.filter(({ place }) => !positions.has(place));
  if (fresh.length === 0) return tail;
  return { ...tail, waiting: newest(tail.waiting, fresh), waited: tail.waited + fresh.length };
}

/** Removes duplicates: a reconnected feed repeats some items. */
function newest(items: FeedItem[], more: FeedItem[]): FeedItem[] {
  const positions = new Set(items.map(({ place }) => place));
  const fresh = more.filter(({ place }) => !positions.has(place) && positions.add(place));
  if (fresh.length === 0) return items;
  return [...items, ...fresh].toSorted(newestFirst).slice(0, TAIL_MAX);
}

/** The stream's order: by time, then by id. */
function newestFirst(item: FeedItem, other: FeedItem): number {
  if (item.at !== other.at) return item.at < other.at ? 1 : -1;
  return item.id < other.id ? 1 : -1;
}

/** The period for items per second. */
const RATE_OVER_MS = 10_000;

export type RateSample = { at: number; count: number };

/** `samples` without items that are too old, plus the new ones. */
export function addSample(samples: RateSample[], now: RateSample): RateSample[] {
  return [...samples.filter(({ at }) => at > now.at - RATE_OVER_MS), now];
}

export function ratePerSecond(samples: RateSample[], now: number): number {
  const count = samples.reduce(
    (sum, sample) => (sample.at > now - RATE_OVER_MS ? sum + sample.count : sum),
    0,
  );
  return count / (RATE_OVER_MS / 1_000);
}
