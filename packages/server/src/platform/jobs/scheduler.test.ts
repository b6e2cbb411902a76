import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../log.ts';
import { type Job, startScheduler } from './scheduler.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A job that runs until it is ended. */
function longJob(): { job: Job; times: () => number; end: () => void } {
  const gate = Promise.withResolvers<void>();
  let times = 0;
  return {
    job: {
      name: 'long',
      everyMs: 1_000,
      async run() {
        times += 1;
        await gate.promise;
      },
    },
    times: () => times,
    end: gate.resolve,
  };
}

test('waits five seconds for a running job at a stop, and one more after its connections are closed', async () => {
  const long = longJob();
  const scheduler = startScheduler([long.job], { log: silentLog });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(long.times()).toBe(1);
  const events: string[] = [];
  const stopped = scheduler.stop().then(() => events.push('stopped'));
  await vi.advanceTimersByTimeAsync(4_999);
  expect(events).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  await stopped;
  const settled = scheduler.settled().then(() => events.push('settled'));
  await vi.advanceTimersByTimeAsync(1_000);
  await settled;
  expect(events).toEqual(['stopped', 'settled']);
});

test('waits for a job only until it ends, and starts no job again', async () => {
  const long = longJob();
  const scheduler = startScheduler([long.job], { log: silentLog });
  await vi.advanceTimersByTimeAsync(1_000);
  const stopped = scheduler.stop();
  long.end();
  await stopped;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(long.times()).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});

/** A watch with one kind of work, and what it was asked. */
function workWatch() {
  const followers = new Set<() => void>();
  const watch = {
    add: () => ({
      follow(wake: () => void) {
        followers.add(wake);
        return () => followers.delete(wake);
      },
    }),
    stop() {},
  };
  return { watch, followers };
}

describe('a job with watched work', () => {
  const watchedJob = (): { job: Job; times: () => number } => {
    let times = 0;
    const run = async (): Promise<void> => void (times += 1);
    return { job: { name: 'watched', everyMs: 1_000, work: { due: 'SELECT 1' }, run }, times: () => times };
  };

  test('runs when there is work, at most once per interval', async () => {
    const { watch, followers } = workWatch();
    const { job, times } = watchedJob();
    const scheduler = startScheduler([job], { log: silentLog, watch });
    await vi.advanceTimersByTimeAsync(999);
    expect(followers.size).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect([followers.size, times()]).toEqual([1, 0]);
    for (const wake of followers) wake();
    await vi.advanceTimersByTimeAsync(999);
    expect([followers.size, times()]).toEqual([0, 1]);
    await vi.advanceTimersByTimeAsync(1);
    expect(followers.size).toBe(1);
    await scheduler.stop();
  });

  test('runs every ten seconds without work', async () => {
    const { watch } = workWatch();
    const { job, times } = watchedJob();
    const scheduler = startScheduler([job], { log: silentLog, watch });
    await vi.advanceTimersByTimeAsync(33_000);
    expect(times()).toBe(3);
    await scheduler.stop();
  });

  test('does not run after a stop, even if its work is due then', async () => {
    const { watch, followers } = workWatch();
    const { job, times } = watchedJob();
    const scheduler = startScheduler([job], { log: silentLog, watch });
    await vi.advanceTimersByTimeAsync(1_000);
    await scheduler.stop();
    for (const wake of followers) wake();
    await vi.advanceTimersByTimeAsync(30_000);
    expect([times(), vi.getTimerCount()]).toEqual([0, 0]);
  });
});
