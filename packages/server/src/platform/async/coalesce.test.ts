import { expect, test, vi } from 'vitest';
import { coalesce } from './coalesce.ts';

function manualRounds(roundMax = 100) {
  const rounds: { queries: string[]; settle: PromiseWithResolvers<string[]> }[] = [];
  const load = coalesce<string, string>({
    keyOf: (query) => query,
    roundMax,
    timeLimitMs: 5_000,
    load(queries) {
      const settle = Promise.withResolvers<string[]>();
      rounds.push({ queries, settle });
      return settle.promise;
    },
  });
  const settle = async (round: number): Promise<void> => {
    rounds[round]?.settle.resolve(rounds[round].queries.map((query) => query.toUpperCase()));
    await new Promise(setImmediate);
  };
  return { ask: load, settle, roundQueries: () => rounds.map((round) => round.queries), rounds };
}

test('coalesces concurrent queries into one round, and later ones into the next', async () => {
  const { ask: load, settle, roundQueries } = manualRounds();
  const first = [load('a'), load('b'), load('a')];
  await Promise.resolve();
  const later = [load('a'), load('c')];
  expect(roundQueries()).toEqual([['a', 'b']]);
  await settle(0);
  expect(roundQueries()).toEqual([
    ['a', 'b'],
    ['a', 'c'],
  ]);
  await settle(1);
  expect(await Promise.all([...first, ...later])).toEqual(['A', 'B', 'A', 'A', 'C']);
});

test('bounds a round, and defers the remaining queries to the next', async () => {
  const { ask: load, settle, roundQueries } = manualRounds(2);
  const results = ['a', 'b', 'c', 'd', 'e'].map((query) => load(query));
  await Promise.resolve();
  for (const round of [0, 1, 2]) await settle(round);
  expect(roundQueries()).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  expect(await Promise.all(results)).toEqual(['A', 'B', 'C', 'D', 'E']);
});

test('rejects only the queries of a failed round', async () => {
  const { ask: load, settle, rounds } = manualRounds();
  const first = load('a');
  await Promise.resolve();
  const next = load('a');
  rounds[0]?.settle.reject(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  await settle(1);
  expect(await next).toBe('A');
});

test('rejects a round that exceeds its time limit, and then starts the next', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { ask: load, settle } = manualRounds();
    const stuck = load('a');
    const failed = expect(stuck).rejects.toThrow('No response within 5000 ms');
    await Promise.resolve();
    const next = load('b');
    await vi.advanceTimersByTimeAsync(5_000);
    await failed;
    await settle(1);
    expect(await next).toBe('B');
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
