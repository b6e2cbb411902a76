import { describe, expect, test } from 'vitest';
import { createSlots } from './slots.ts';

describe('createSlots', () => {
  test('does as much work at a time as there are slots, first come, first served', async () => {
    const slots = createSlots(2);
    const begun: number[] = [];
    const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<number>());
    const work = gates.map((gate, n) =>
      slots.use(() => {
        begun.push(n);
        return gate.promise;
      }),
    );
    expect(begun).toEqual([0, 1]);
    gates[1]?.resolve(1);
    expect(await work[1]).toBe(1);
    await Promise.resolve();
    expect(begun).toEqual([0, 1, 2]);
    for (const [n, gate] of gates.entries()) gate.resolve(n);
    expect(await Promise.all(work)).toEqual([0, 1, 2, 3]);
  });

  test('frees the slot of work that failed', async () => {
    const slots = createSlots(1);
    await expect(slots.use(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await slots.use(() => Promise.resolve('yes'))).toBe('yes');
  });

  test('turns callers away while too many wait', async () => {
    const slots = createSlots(1, 1);
    expect(await slots.take()).toBe(true);
    const waiting = slots.take();
    expect(await slots.take()).toBe(false);
    await expect(slots.use(() => Promise.resolve())).rejects.toThrow('No slot is free');
    slots.free();
    expect(await waiting).toBe(true);
  });

  test('turns callers away after close, which waits until all slots are free', async () => {
    const slots = createSlots(1);
    await slots.take();
    const waiting = slots.take();
    let isClosed = false;
    const closed = slots.close().then(() => {
      isClosed = true;
    });
    expect([await waiting, await slots.take()]).toEqual([false, false]);
    expect(isClosed).toBe(false);
    slots.free();
    await closed;
  });
});
