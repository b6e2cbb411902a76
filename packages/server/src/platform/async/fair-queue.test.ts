import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createFairQueue, type FairQueue, QueueFull } from './fair-queue.ts';

const BOUNDS = { atOnce: 2, atOncePerKey: 1, slots: 6, slotsPerKey: 3 };

/** Enters the queue, and records the name when the turn begins. */
function entering(queue: FairQueue, started: string[]) {
  return async (key: string, name = key): Promise<() => void> => {
    const leave = await queue.enter(key);
    started.push(name);
    return leave;
  };
}

describe('createFairQueue', () => {
  test('serves keys round-robin, in the order of entry of each key', async () => {
    const queue = createFairQueue({ atOnce: 1 });
    const served: string[] = [];
    const names = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'];
    await Promise.all(
      names.map((name) =>
        queue.run(name.slice(0, 1), async () => {
          served.push(name);
          await setImmediate();
        }),
      ),
    );
    expect(served).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  test('bounds the turns at the same time, in total and per key', async () => {
    const queue = createFairQueue(BOUNDS);
    const started: string[] = [];
    const enter = entering(queue, started);
    const leaveFirst = await enter('a', 'a1');
    const [second, b, c] = [enter('a', 'a2'), enter('b'), enter('c')];
    await setImmediate();
    expect(started).toEqual(['a1', 'b']);
    leaveFirst();
    await setImmediate();
    expect(started).toEqual(['a1', 'b', 'c']);
    (await b)();
    (await second)();
    (await c)();
    expect(started).toEqual(['a1', 'b', 'c', 'a2']);
  });

  test('gives a key no further turn while a key with fewer turns waits', async () => {
    const queue = createFairQueue({ atOnce: 3 });
    const started: string[] = [];
    const enter = entering(queue, started);
    const leaves = [await enter('a', 'a1'), await enter('a', 'a2'), await enter('b', 'b1')];
    const waiting = [enter('a', 'a3'), enter('b', 'b2'), enter('c', 'c1')];
    leaves[0]?.();
    await setImmediate();
    expect(started.at(-1)).toBe('c1');
    leaves[2]?.();
    await setImmediate();
    expect(started.at(-1)).toBe('b2');
    leaves[1]?.();
    for (const leave of await Promise.all(waiting)) leave();
  });

  test('runs the work of one key in order after a failure, and runs another key concurrently', async () => {
    const queue = createFairQueue({ atOncePerKey: 1 });
    const ran: string[] = [];
    const first = Promise.withResolvers<void>();
    const running = queue.run(1, () => first.promise);
    const second = queue.run(1, async () => ran.push('two'));
    const third = queue.run(1, async () => ran.push('three'));
    await queue.run(2, async () => ran.push('other'));
    expect(ran).toEqual(['other']);
    first.reject(new Error('no'));
    await expect(running).rejects.toThrow('no');
    await Promise.all([second, third]);
    expect(ran).toEqual(['other', 'two', 'three']);
  });

  test('refuses callers beyond its places, in total and per key, and lets patient callers wait', async () => {
    const queue = createFairQueue(BOUNDS);
    const waiting = [queue.enter('a'), queue.enter('a'), queue.enter('a')];
    await expect(queue.enter('a')).rejects.toBeInstanceOf(QueueFull);
    await expect(queue.run('a', async () => 1)).rejects.toBeInstanceOf(QueueFull);
    waiting.push(queue.enter('b'), queue.enter('c'), queue.enter('d'));
    await expect(queue.enter('e')).rejects.toBeInstanceOf(QueueFull);
    const patient = queue.enter('e', { isPatient: true });
    await Promise.all([...waiting, patient].map(async (slot) => (await slot)()));
    // All places are free again.
    const again = [queue.enter('a'), queue.enter('a'), queue.enter('a')];
    await Promise.all(again.map(async (slot) => (await slot)()));
  });

  test('applies a bound per key that the caller gives', async () => {
    const queue = createFairQueue({ atOnce: 1 });
    const leave = await queue.enter('a', { slotsPerKey: 1 });
    await expect(queue.enter('a', { slotsPerKey: 1 })).rejects.toBeInstanceOf(QueueFull);
    const second = queue.enter('a', { slotsPerKey: 2 });
    leave();
    (await second)();
  });

  test('frees the place of a caller whose signal is aborted', async () => {
    const queue = createFairQueue({ ...BOUNDS, atOnce: 1 });
    const leave = await queue.enter('a');
    const aborted = new AbortController();
    const waiting = [1, 2].map(() => queue.enter('a', { signal: aborted.signal }));
    const settled = Promise.allSettled(waiting);
    await expect(queue.enter('a')).rejects.toBeInstanceOf(QueueFull);
    aborted.abort(new Error('gone'));
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = queue.enter('a');
    leave();
    (await next)();
    await expect(queue.enter('a', { signal: aborted.signal })).rejects.toThrow('gone');
  });
});
