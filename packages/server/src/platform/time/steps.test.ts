import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runSteps, runStepsSlowly, type Steps } from './steps.ts';

function* sumOf(count: number): Steps<{ sum: number }> {
  let sum = 0;
  for (let n = 1; n <= count; n += 1) {
    sum += n;
    yield;
  }
  return { sum };
}

describe('runSteps', () => {
  it('returns the result of the last step', () => expect(runSteps(sumOf(4))).toEqual({ sum: 10 }));
  it('returns a result without steps unchanged', () => expect(runSteps({ sum: 1 })).toEqual({ sum: 1 }));
});

describe('runStepsSlowly', () => {
  it('returns the result of the last step, and lets the event loop run after each step', async () => {
    let rounds = 0;
    let isDone = false;
    const counting = (async () => {
      for (; !isDone; rounds += 1) await setImmediate();
    })();
    expect(await runStepsSlowly(sumOf(4))).toEqual({ sum: 10 });
    isDone = true;
    await counting;
    expect(rounds).toBeGreaterThanOrEqual(4);
  });

  it('returns a result without steps unchanged', async () =>
    expect(await runStepsSlowly({ sum: 1 })).toEqual({ sum: 1 }));
});
