import { expect, test } from 'vitest';
import type { FeedItem } from '@beckon/contract/dashboard';
import { addSample, EMPTY_TAIL, nextTail, ratePerSecond, type Tail, TAIL_MAX } from './tail.ts';

const item = (n: number): FeedItem => ({
  id: String(n).padStart(8, '0'),
  at: new Date(1_700_000_000_000 + n * 10).toISOString(),
  type: 'event',
  place: `p${n}`,
});
const range = (from: number, to: number): FeedItem[] =>
  Array.from({ length: to - from }, (_, index) => item(from + index));
const hear = (tail: Tail, items: FeedItem[]): Tail => nextTail(tail, { do: 'hear', items });
const positionsOf = ({ items }: Tail): string[] => items.map(({ place }) => place);

test('nextTail › sorts newest first, without duplicates, also for late items', () => {
  let tail = nextTail(EMPTY_TAIL, { do: 'start', items: [item(2), item(1)] });
  tail = hear(tail, [item(4), item(2)]);
  tail = hear(tail, [item(3)]);
  expect(positionsOf(tail)).toEqual(['p4', 'p3', 'p2', 'p1']);
  expect(hear(tail, [item(3)])).toBe(tail);
});

test('nextTail › drops the oldest items above the limit', () => {
  const tail = hear(hear(EMPTY_TAIL, range(0, TAIL_MAX)), range(TAIL_MAX, TAIL_MAX + 10));
  expect(tail.items).toHaveLength(TAIL_MAX);
  expect([tail.items[0]?.place, tail.items.at(-1)?.place]).toEqual([`p${TAIL_MAX + 9}`, 'p10']);
});

test('nextTail › counts and keeps items while paused, up to the limit, and shows them on resume', () => {
  let tail = nextTail(hear(EMPTY_TAIL, range(0, 3)), { do: 'pause' });
  tail = hear(tail, range(2, 5));
  expect([positionsOf(tail), tail.waited]).toEqual([['p2', 'p1', 'p0'], 2]);
  tail = hear(tail, range(5, 5 + TAIL_MAX));
  expect([tail.waited, tail.waiting.length]).toEqual([TAIL_MAX + 2, TAIL_MAX]);
  tail = nextTail(tail, { do: 'resume' });
  expect(tail).toMatchObject({ isPaused: false, waited: 0, waiting: [] });
  expect(tail.items[0]?.place).toBe(`p${TAIL_MAX + 4}`);
  expect(tail.items).toHaveLength(TAIL_MAX);
});

test('ratePerSecond › covers the last ten seconds', () => {
  let samples = addSample([], { at: 1_000, count: 50 });
  samples = addSample(samples, { at: 5_000, count: 50 });
  expect(ratePerSecond(samples, 6_000)).toBe(10);
  expect(ratePerSecond(samples, 12_000)).toBe(5);
  expect(ratePerSecond(samples, 60_000)).toBe(0);
  expect(addSample(samples, { at: 60_000, count: 1 })).toHaveLength(1);
});
