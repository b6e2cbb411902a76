import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { onePerTurn } from './pace.ts';

describe('onePerTurn', () => {
  it('lets one caller through per turn of the event loop, in their order', async () => {
    const next = onePerTurn();
    const passed: number[] = [];
    const all = [1, 2, 3].map(async (caller) => {
      await next();
      passed.push(caller);
    });
    let highest = 0;
    for (let before = 0; passed.length < 3; before = passed.length) {
      await setImmediate();
      highest = Math.max(highest, passed.length - before);
    }
    await Promise.all(all);
    expect(passed).toEqual([1, 2, 3]);
    expect(highest).toBe(1);
  });
});
