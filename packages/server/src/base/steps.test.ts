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
  it('returns what the last step returns', () => expect(runSteps(sumOf(4))).toEqual({ sum: 10 }));
  it('returns a result without steps as it is', () => expect(runSteps({ sum: 1 })).toEqual({ sum: 1 }));
});

describe('runStepsSlowly', () => {
  it('pauses after each step', async () => {
    let pauses = 0;
    const pause = async (): Promise<void> => void (pauses += 1);
    expect(await runStepsSlowly(sumOf(4), pause)).toEqual({ sum: 10 });
    expect(pauses).toBe(4);
  });

  it('returns a result without steps as it is', async () =>
    expect(await runStepsSlowly({ sum: 1 }, () => Promise.reject(new Error('paused')))).toEqual({ sum: 1 }));
});
