import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createSoon } from './soon.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const run = vi.fn<() => Promise<void>>(() => Promise.resolve());
beforeEach(() => run.mockClear());

it('runs a while after it is first asked for, however often it is asked for until then', async () => {
  const soon = createSoon(run, 2_000);
  for (let second = 0; second < 10; second += 1) {
    soon.ask();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(run).toHaveBeenCalledTimes(5);
});

it('does not run again before what it began is done, and then does, where it was asked for meanwhile', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  run.mockReturnValueOnce(promise);
  const soon = createSoon(run, 2_000);
  soon.ask();
  await vi.advanceTimersByTimeAsync(2_000);
  soon.ask();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(run).toHaveBeenCalledTimes(1);
  resolve();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(run).toHaveBeenCalledTimes(2);
});

it('runs no more once it is stopped, until it is asked for again', async () => {
  const soon = createSoon(run, 2_000);
  soon.ask();
  soon.stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(run).not.toHaveBeenCalled();
  soon.ask();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(run).toHaveBeenCalledOnce();
});
