import { expect, test, vi } from 'vitest';
import { coalesce } from './coalesce.ts';

function held(roundMax = 100) {
  const rounds: { questions: string[]; settle: PromiseWithResolvers<string[]> }[] = [];
  const ask = coalesce<string, string>({
    keyOf: (question) => question,
    roundMax,
    timeLimitMs: 5_000,
    answer(questions) {
      const settle = Promise.withResolvers<string[]>();
      rounds.push({ questions, settle });
      return settle.promise;
    },
  });
  const settle = async (round: number): Promise<void> => {
    rounds[round]?.settle.resolve(rounds[round].questions.map((question) => question.toUpperCase()));
    await new Promise(setImmediate);
  };
  return { ask, settle, asked: () => rounds.map((round) => round.questions), rounds };
}

test('coalesces concurrent questions into one round, and later ones into the next', async () => {
  const { ask, settle, asked } = held();
  const first = [ask('a'), ask('b'), ask('a')];
  await Promise.resolve();
  const later = [ask('a'), ask('c')];
  expect(asked()).toEqual([['a', 'b']]);
  await settle(0);
  expect(asked()).toEqual([
    ['a', 'b'],
    ['a', 'c'],
  ]);
  await settle(1);
  expect(await Promise.all([...first, ...later])).toEqual(['A', 'B', 'A', 'A', 'C']);
});

test('bounds a round, and defers the remaining questions to the next', async () => {
  const { ask, settle, asked } = held(2);
  const answers = ['a', 'b', 'c', 'd', 'e'].map((question) => ask(question));
  await Promise.resolve();
  for (const round of [0, 1, 2]) await settle(round);
  expect(asked()).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  expect(await Promise.all(answers)).toEqual(['A', 'B', 'C', 'D', 'E']);
});

test('rejects only the questions of a failed round', async () => {
  const { ask, settle, rounds } = held();
  const first = ask('a');
  await Promise.resolve();
  const next = ask('a');
  rounds[0]?.settle.reject(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  await settle(1);
  expect(await next).toBe('A');
});

test('rejects a round that exceeds its time limit, and then starts the next', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { ask, settle } = held();
    const stuck = ask('a');
    const failed = expect(stuck).rejects.toThrow('No response within 5000 ms');
    await Promise.resolve();
    const next = ask('b');
    await vi.advanceTimersByTimeAsync(5_000);
    await failed;
    await settle(1);
    expect(await next).toBe('B');
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
