import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createFairQueue, QueueFull } from './fair-queue.ts';

const BOUNDS = { atOnce: 2, atOncePerKey: 1, waitingMax: 6, waitingMaxPerKey: 3 };

describe('createFairQueue', () => {
  test('serves keys in rotation, however many of one wait', async () => {
    const queue = createFairQueue({ ...BOUNDS, atOnce: 1, waitingMax: 20, waitingMaxPerKey: 20 });
    const served: string[] = [];
    const ask = async (key: string): Promise<void> => {
      const leave = await queue.enter(key);
      served.push(key);
      await setImmediate();
      leave();
    };
    await Promise.all(['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(ask));
    expect(served.indexOf('b')).toBeLessThanOrEqual(2);
    expect(served.indexOf('c')).toBeLessThanOrEqual(3);
    expect(served.toSorted()).toEqual(['a', 'a', 'a', 'a', 'b', 'b', 'c']);
  });

  test('runs no more at once than it may, of all and of one key', async () => {
    const queue = createFairQueue(BOUNDS);
    const leaveA = await queue.enter('a');
    const begun: string[] = [];
    const wait = (key: string) => queue.enter(key).then((leave) => (begun.push(key), leave));
    const [second, b, c] = [wait('a'), wait('b'), wait('c')];
    await setImmediate();
    expect(begun).toEqual(['b']);
    leaveA();
    await setImmediate();
    expect(begun).toHaveLength(2);
    (await b)();
    await setImmediate();
    expect(begun.toSorted()).toEqual(['a', 'b', 'c']);
    (await second)();
    (await c)();
  });

  test('turns away those beyond its bounds, of all and of one key, and lets patient ones wait', async () => {
    const queue = createFairQueue(BOUNDS);
    const ask = (key: string) => queue.enter(key).then((leave) => leave);
    const waiting = [ask('a'), ask('a'), ask('a')];
    await expect(ask('a')).rejects.toBeInstanceOf(QueueFull);
    waiting.push(ask('b'), ask('c'), ask('d'));
    await expect(ask('e')).rejects.toBeInstanceOf(QueueFull);
    const patient = queue.enter('e', { isPatient: true });
    const all = [...waiting, patient].map(async (one) => (await one)());
    await Promise.all(all);
    // Everything is free again.
    (await queue.enter('a'))();
  });

  test('frees the place of a caller whose signal is given', async () => {
    const queue = createFairQueue({ ...BOUNDS, atOnce: 1 });
    const leave = await queue.enter('a');
    const gone = new AbortController();
    const waiting = [1, 2].map(() => queue.enter('a', { signal: gone.signal }));
    const settled = Promise.allSettled(waiting);
    await expect(queue.enter('a')).rejects.toBeInstanceOf(QueueFull);
    gone.abort(new Error('gone'));
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = queue.enter('a');
    leave();
    (await next)();
    await expect(queue.enter('a', { signal: gone.signal })).rejects.toThrow('gone');
  });
});
