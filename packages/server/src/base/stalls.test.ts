import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { isStall, watchStalls } from './stalls.ts';

/** Uses the processor for so long without letting anything else run. */
function block(ms: number): void {
  const used = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  const until = used() + ms;
  while (used() < until);
}

describe('watchStalls', () => {
  test('measures work that lets nothing else run, also where no timer has fired yet', () => {
    const watch = watchStalls();
    block(300);
    expect(watch.longestMs()).toBeGreaterThanOrEqual(300);
    watch.end();
  });

  test('measures a stall that is over when it is read', async () => {
    const looked = Promise.withResolvers<void>();
    let looks = 0;
    const used = [0, 12_000, 12_010];
    const watch = watchStalls(() => {
      if (looks === 2) looked.resolve();
      return used[looks++] ?? 12_010;
    });
    await looked.promise;
    expect(watch.longestMs()).toBe(12_000);
    watch.end();
  });

  test('keeps the longest of several stalls', () => {
    let used = 0;
    const watch = watchStalls(() => used);
    for (const ms of [3_000, 9_000, 1_000]) {
      used += ms;
      watch.longestMs();
    }
    expect(watch.longestMs()).toBe(9_000);
    watch.end();
  });

  test('adds nothing up: long work in short pieces is no stall', async () => {
    let used = 0;
    const watch = watchStalls(() => used);
    for (let piece = 0; piece < 20; piece += 1) {
      used += 200;
      watch.longestMs();
      await setImmediate();
    }
    expect(isStall(watch.longestMs())).toBe(false);
    watch.end();
  });
});
