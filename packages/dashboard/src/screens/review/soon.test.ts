import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createSoon } from './soon.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const run = vi.fn<() => Promise<void>>(() => Promise.resolve());
beforeEach(() => run.mockClear());

it('runs at the first call, and then once per rest, however many calls there are', async () => {
  const soon = createSoon(run, 2_000);
  soon.request();
  expect(run).toHaveBeenCalledTimes(1);
  for (let second = 0; second < 10; second += 1) {
    soon.request();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(run).toHaveBeenCalledTimes(6);
});

it('does not run again without another call', async () => {
  const soon = createSoon(run, 2_000);
  soon.request();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(run).toHaveBeenCalledTimes(1);
});

it('waits for the previous run, and then runs again if called since', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  run.mockReturnValueOnce(promise);
  const soon = createSoon(run, 2_000);
  soon.request();
  soon.request();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(run).toHaveBeenCalledTimes(1);
  resolve();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(run).toHaveBeenCalledTimes(2);
});

it('does not run after a stop until the next call', async () => {
  const soon = createSoon(run, 2_000);
  soon.request();
  soon.request();
  expect(soon.stop()).toBe(true);
  expect(soon.stop()).toBe(false);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(run).toHaveBeenCalledTimes(1);
  soon.request();
  expect(run).toHaveBeenCalledTimes(2);
});
