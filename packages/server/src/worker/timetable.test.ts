import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '../base/log.ts';
import { type Job, startTimetable } from './timetable.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** One that is under way until it is told to end. */
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

test('a duty that does not come to its end holds up a stop for five seconds, and for one more where its way out was closed', async () => {
  const long = longJob();
  const timetable = startTimetable([long.job], silentLog);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(long.times()).toBe(1);
  const over: string[] = [];
  const stopped = timetable.stop().then(() => over.push('stopped'));
  await vi.advanceTimersByTimeAsync(4_999);
  expect(over).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  await stopped;
  const settled = timetable.settled().then(() => over.push('settled'));
  await vi.advanceTimersByTimeAsync(1_000);
  await settled;
  expect(over).toEqual(['stopped', 'settled']);
});

test('one that ends is waited for no longer than that, and none begins again', async () => {
  const long = longJob();
  const timetable = startTimetable([long.job], silentLog);
  await vi.advanceTimersByTimeAsync(1_000);
  const stopped = timetable.stop();
  long.end();
  await stopped;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(long.times()).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});
