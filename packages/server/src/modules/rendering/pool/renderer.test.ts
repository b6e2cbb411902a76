import { describe, expect, test } from 'vitest';
import { createTimeSlices } from './renderer.ts';

/** Each task takes 4 ms by a clock that only the tasks move. */
function fixture() {
  let now = 0;
  const slices = createTimeSlices(() => now);
  const order: string[] = [];
  const run = (name: string) =>
    slices.run(() => {
      now += 4;
      order.push(name);
      return name;
    });
  return { slices, order, run };
}

/** Other work that runs in every turn of the event loop while `isOver` is false. */
function otherWork(order: string[], isOver: () => boolean): void {
  setImmediate(() => {
    if (isOver()) return;
    order.push('other');
    otherWork(order, isOver);
  });
}

const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `task ${n}`);

describe('createTimeSlices', () => {
  test('lets other work run after 10 ms of tasks, and keeps their order', async () => {
    const { order, run } = fixture();
    let isOver = false;
    otherWork(order, () => isOver);
    const results = await Promise.all(names(8).map(run));
    isOver = true;
    expect(results).toEqual(names(8));
    const [a, b, c, d, e, f, g, h] = names(8);
    expect(order).toEqual([a, b, c, 'other', d, e, f, 'other', g, h]);
  });

  test('lets other work run between tasks that wait for each other', async () => {
    const { order, run } = fixture();
    let isOver = false;
    otherWork(order, () => isOver);
    for (const name of names(7)) await run(name);
    isOver = true;
    const [a, b, c, d, e, f, g] = names(7);
    expect(order).toEqual([a, b, c, 'other', d, e, f, 'other', g]);
  });

  test('runs the tasks behind one that throws in a later turn', async () => {
    const { slices, order, run } = fixture();
    const before = names(3).map(run);
    const failed = slices.run(() => {
      throw new Error('broken');
    });
    const after = run('last');
    await expect(failed).rejects.toThrow('broken');
    await Promise.all([...before, after]);
    expect(order).toEqual([...names(3), 'last']);
  });
});
