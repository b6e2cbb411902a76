import { expect, it } from 'vitest';
import { checkBreaker, type Breaker, closedBreaker, recordSuccess, recordFailure } from './breaker.ts';

const failed = (times: number, now: number): Breaker =>
  Array.from({ length: times }).reduce<Breaker>((breaker) => recordFailure(breaker, now), closedBreaker);

it('stays closed after two failures in a row, and pauses for a second after the third', () => {
  expect(checkBreaker(failed(2, 5_000), 5_000).isAllowed).toBe(true);
  expect(checkBreaker(failed(3, 5_000), 5_999).isAllowed).toBe(false);
  expect(checkBreaker(failed(3, 5_000), 6_000).isAllowed).toBe(true);
});

it('resets the count after an email that was accepted between failures', () => {
  expect(recordSuccess()).toEqual(closedBreaker);
  expect(checkBreaker(recordFailure(recordSuccess(), 0), 0).isAllowed).toBe(true);
});

it('lets one email through after the pause, while the others wait for its result', () => {
  const first = checkBreaker(failed(3, 0), 1_000);
  expect(first.isAllowed).toBe(true);
  expect(checkBreaker(first.breaker, 1_000).isAllowed).toBe(false);
});

it('doubles the pause with each failed attempt, up to a minute', () => {
  let breaker = failed(3, 0);
  const pauses: number[] = [];
  for (let i = 0; i < 9; i += 1) {
    const now = breaker.openUntil;
    breaker = recordFailure(checkBreaker(breaker, now).breaker, now);
    pauses.push(breaker.openUntil - now);
  }
  expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000]);
});

it('does not extend the pause for emails sent before it opened', () => {
  const open = failed(3, 0);
  expect(recordFailure(recordFailure(open, 10), 20)).toEqual(open);
});

it('lets another probe through after one that never returns', () => {
  const { breaker } = checkBreaker(failed(3, 0), 1_000);
  expect(checkBreaker(breaker, 2_000).isAllowed).toBe(true);
});
