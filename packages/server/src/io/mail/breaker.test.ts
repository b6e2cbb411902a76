import { expect, it } from 'vitest';
import { askBreaker, type Breaker, closedBreaker, passed, tripped } from './breaker.ts';

const failed = (times: number, now: number): Breaker =>
  Array.from({ length: times }).reduce<Breaker>((breaker) => tripped(breaker, now), closedBreaker);

it('two failures in a row let the next letter go, the third holds it for a second', () => {
  expect(askBreaker(failed(2, 5_000), 5_000).passes).toBe(true);
  expect(askBreaker(failed(3, 5_000), 5_999).passes).toBe(false);
  expect(askBreaker(failed(3, 5_000), 6_000).passes).toBe(true);
});

it('a letter that went through between failures begins the count again', () => {
  expect(passed()).toEqual(closedBreaker);
  expect(askBreaker(tripped(passed(), 0), 0).passes).toBe(true);
});

it('when the pause is over one letter goes, the others wait for what becomes of it', () => {
  const first = askBreaker(failed(3, 0), 1_000);
  expect(first.passes).toBe(true);
  expect(askBreaker(first.breaker, 1_000).passes).toBe(false);
});

it('the pause doubles with each failed attempt, up to a minute', () => {
  let breaker = failed(3, 0);
  const pauses: number[] = [];
  for (let i = 0; i < 9; i += 1) {
    const now = breaker.openUntil;
    breaker = tripped(askBreaker(breaker, now).breaker, now);
    pauses.push(breaker.openUntil - now);
  }
  expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000]);
});

it('letters that left before it opened do not lengthen the pause', () => {
  const open = failed(3, 0);
  expect(tripped(tripped(open, 10), 20)).toEqual(open);
});

it('an attempt that never comes back is followed by another', () => {
  const { breaker } = askBreaker(failed(3, 0), 1_000);
  expect(askBreaker(breaker, 2_000).passes).toBe(true);
});
