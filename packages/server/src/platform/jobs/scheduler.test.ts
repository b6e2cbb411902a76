import { afterEach, beforeEach, expect, test, vi } from 'vitest';
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
  const scheduler = startScheduler([long.job], silentLog);
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
  const scheduler = startScheduler([long.job], silentLog);
  await vi.advanceTimersByTimeAsync(1_000);
  const stopped = scheduler.stop();
  long.end();
  await stopped;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(long.times()).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});
