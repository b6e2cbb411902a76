import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createLargeBodies } from './large-bodies.ts';

describe('createLargeBodies', () => {
  test('reads one body at a time, and projects round-robin', async () => {
    const largeBodies = createLargeBodies();
    const order: string[] = [];
    let atWork = 0;
    const read = (project: number, name: string): Promise<void> =>
      largeBodies(project, async (pause) => {
        expect((atWork += 1)).toBe(1);
        await pause();
        order.push(name);
        atWork -= 1;
      });
    await Promise.all([read(1, 'a1'), read(1, 'a2'), read(1, 'a3'), read(2, 'b1'), read(2, 'b2')]);
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  test('lets the event loop run three times before each body and in each pause', async () => {
    const largeBodies = createLargeBodies();
    const rounds: number[] = [];
    let round = 0;
    let isDone = false;
    const counting = (async () => {
      for (; !isDone; round += 1) await setImmediate();
    })();
    await largeBodies(1, async (pause) => {
      rounds.push(round);
      await pause();
      rounds.push(round);
    });
    isDone = true;
    await counting;
    const [before = 0, after = 0] = rounds;
    expect(before).toBeGreaterThanOrEqual(2);
    expect(after - before).toBeGreaterThanOrEqual(2);
  });

  test('continues with the next body when one fails', async () => {
    const largeBodies = createLargeBodies();
    const failing = largeBodies(1, () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
    expect(await largeBodies(1, () => Promise.resolve(7))).toBe(7);
  });
});
