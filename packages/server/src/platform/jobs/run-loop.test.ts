import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Loop, type LoopOptions, type LoopRound, runLoop } from './run-loop.ts';
import type { WatchedWork } from './work-watch.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

type Watched = { loop: Loop; rounds: () => number; failures: unknown[] };

/** A loop that counts its rounds. By default there is no work. */
function watched(
  work: (round: LoopRound, n: number) => Promise<number> = () => Promise.resolve(0),
  options: Partial<LoopOptions> = {},
): Watched {
  const failures: unknown[] = [];
  let rounds = 0;
  const loop = runLoop({
    ...options,
    work(round) {
      rounds += 1;
      return work(round, rounds);
    },
    onFailure: (error) => failures.push(error),
  });
  return { loop, rounds: () => rounds, failures };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Resolves to `stopped` without advancing the clock, or to `running`. */
async function stateOf(stopped: Promise<void>): Promise<string> {
  let state = 'running';
  void stopped.then(() => {
    state = 'stopped';
  });
  await pass(0);
  return state;
}

describe('runLoop polls', () => {
  test('ten times per second, also after a long time without work if it has no watch', async () => {
    const { loop, rounds } = watched();
    await pass(1_000);
    expect(rounds()).toBe(11);
    await pass(20_000);
    expect(rounds()).toBe(211);
    await loop.stop();
  });

  test('every ten seconds after ten seconds without work, and when its watch finds some', async () => {
    const followers = new Set<() => void>();
    const looks: number[] = [];
    const watch: WatchedWork = {
      follow(wake, lookEveryMs) {
        followers.add(wake);
        looks.push(lookEveryMs);
        return () => followers.delete(wake);
      },
    };
    let due = 0;
    const takeDue = async () => {
      const count = due;
      due = 0;
      return count;
    };
    const { loop, rounds } = watched(takeDue, { watch });
    await pass(10_000);
    expect(followers.size).toBe(0);
    await pass(1_000);
    expect(followers.size).toBe(1);
    const quiet = rounds();
    await pass(20_000);
    expect(rounds() - quiet).toBe(2);
    // After half a minute without work, one look a second is enough.
    expect(looks).toEqual([250, 250, 1_000]);
    for (const wake of followers) wake();
    await pass(0);
    expect(rounds() - quiet).toBe(3);
    expect(followers.size).toBe(1);
    due = 1;
    for (const wake of followers) wake();
    await pass(0);
    expect(followers.size).toBe(0);
    await loop.stop();
  });

  test('ten times per second again after a round with work', async () => {
    let due = 0;
    const { loop, rounds } = watched(async () => {
      const count = due;
      due = 0;
      return count;
    });
    await pass(20_000);
    due = 1;
    loop.wake();
    await pass(0);
    const before = rounds();
    await pass(1_000);
    expect(rounds() - before).toBe(10);
    await loop.stop();
  });

  test('at the interval of its options', async () => {
    const { loop, rounds } = watched(undefined, { poll: { everyMs: 1_000 } });
    await pass(999);
    expect(rounds()).toBe(1);
    await pass(1);
    expect(rounds()).toBe(2);
    await pass(20_000);
    expect(rounds()).toBe(22);
    await loop.stop();
  });
});

describe('runLoop works', () => {
  test('round after round without a pause while there is work', async () => {
    const { loop, rounds } = watched(async (_round, n) => (n < 20 ? 1 : 0));
    await pass(0);
    expect(rounds()).toBe(20);
    await loop.stop();
  });

  test('again after `gather.ms` if a round was small, and at once if it was large', async () => {
    const { loop, rounds } = watched(async (_round, n) => (n === 1 ? 100 : 99), {
      gather: { ms: 20, below: 100 },
    });
    await pass(0);
    expect(rounds()).toBe(2);
    await pass(19);
    expect(rounds()).toBe(2);
    await pass(1);
    expect(rounds()).toBe(3);
    await loop.stop();
  });

  test('again at once after a small round that took longer than `gather.ms`', async () => {
    const { loop, rounds } = watched(
      async ({ sleep }) => {
        await sleep(30);
        return 1;
      },
      { gather: { ms: 20, below: 100 } },
    );
    await pass(30);
    expect(rounds()).toBe(2);
    await loop.stop();
  });
});

describe('runLoop.wake', () => {
  test('begins the next round of a waiting loop at once', async () => {
    const { loop, rounds } = watched();
    await pass(50);
    loop.wake();
    await pass(0);
    expect(rounds()).toBe(2);
    await pass(99);
    expect(rounds()).toBe(2);
    await pass(1);
    expect(rounds()).toBe(3);
    await loop.stop();
  });

  test('during a round is kept for the next one, once', async () => {
    const gate = Promise.withResolvers<number>();
    const { loop, rounds } = watched((_round, n) => (n === 1 ? gate.promise : Promise.resolve(0)));
    loop.wake();
    loop.wake();
    gate.resolve(0);
    await pass(0);
    expect(rounds()).toBe(2);
    await pass(99);
    expect(rounds()).toBe(2);
    await loop.stop();
  });

  test('does not shorten the pause that gathers work, and is kept until after it', async () => {
    const { loop, rounds } = watched(async (_round, n) => (n === 1 ? 1 : 0), {
      gather: { ms: 20, below: 100 },
    });
    await pass(5);
    loop.wake();
    await pass(14);
    expect(rounds()).toBe(1);
    await pass(1);
    // The round after the pause found nothing, so the wake-up begins another.
    expect(rounds()).toBe(3);
    await loop.stop();
  });

  test('begins no round after a stop', async () => {
    const { loop, rounds } = watched();
    await pass(0);
    await loop.stop();
    loop.wake();
    await pass(10_000);
    expect(rounds()).toBe(1);
  });
});

describe('runLoop.stop', () => {
  test('ends a waiting loop at once, and leaves no timer', async () => {
    const { loop, rounds } = watched();
    await pass(10);
    expect(await stateOf(loop.stop())).toBe('stopped');
    await pass(10_000);
    expect(rounds()).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('ends the pause that gathers work', async () => {
    const { loop } = watched(async () => 1, { gather: { ms: 20, below: 100 } });
    await pass(5);
    expect(await stateOf(loop.stop())).toBe('stopped');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('waits for the running round, which knows of the stop, and begins no other', async () => {
    const gate = Promise.withResolvers<number>();
    let signal: AbortSignal | undefined;
    const { loop, rounds } = watched(({ stopping }) => {
      signal = stopping;
      return gate.promise;
    });
    expect(signal?.aborted).toBe(false);
    const stopped = loop.stop();
    expect(signal?.aborted).toBe(true);
    expect(await stateOf(stopped)).toBe('running');
    gate.resolve(1);
    expect(await stateOf(stopped)).toBe('stopped');
    expect(rounds()).toBe(1);
  });

  test('ends all pauses of the running round, and those that it begins later', async () => {
    const never = new Promise<void>(() => {});
    const { loop } = watched(async ({ sleep, waitFor }) => {
      await Promise.all([sleep(2 ** 30), waitFor(never)]);
      await sleep(2 ** 30);
      await waitFor(never);
      return 1;
    });
    expect(await stateOf(loop.stop())).toBe('stopped');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('resolves when the running round fails', async () => {
    const gate = Promise.withResolvers<number>();
    const { loop, failures } = watched(() => gate.promise);
    const stopped = loop.stop();
    gate.reject(new Error('no'));
    expect(await stateOf(stopped)).toBe('stopped');
    expect(failures).toHaveLength(1);
  });
});

describe('a round of runLoop', () => {
  test('waits for a promise until it is settled in any way', async () => {
    const seen: string[] = [];
    const { loop } = watched(async ({ waitFor }, n) => {
      if (n > 1) return 0;
      await waitFor(Promise.resolve());
      seen.push('resolved');
      await waitFor(Promise.reject(new Error('no')));
      seen.push('rejected');
      return 0;
    });
    await pass(0);
    expect(seen).toEqual(['resolved', 'rejected']);
    await loop.stop();
  });

  test('sleeps for its time, which a wake-up does not shorten', async () => {
    const { loop, rounds } = watched(async ({ sleep }) => {
      await sleep(50);
      return 1;
    });
    loop.wake();
    await pass(49);
    expect(rounds()).toBe(1);
    await pass(1);
    expect(rounds()).toBe(2);
    await loop.stop();
  });
});

describe('runLoop after failed rounds', () => {
  /** The longest pauses, without jitter. */
  beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(1));

  test('waits longer after each failure in a row, at most five seconds, and reports each', async () => {
    const at: number[] = [];
    const start = performance.now();
    const { loop, failures } = watched(() => {
      at.push(performance.now() - start);
      return Promise.reject(new Error('no'));
    });
    await pass(25_000);
    const pauses = at.slice(1).map((time, i) => time - (at[i] ?? 0));
    expect(pauses.slice(0, 7)).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    expect(failures).toHaveLength(at.length);
    await loop.stop();
  });

  test('begins with the shortest pause again after a round without a failure', async () => {
    const at: number[] = [];
    const start = performance.now();
    const { loop } = watched((_round, n) => {
      at.push(performance.now() - start);
      return n === 4 ? Promise.resolve(1) : Promise.reject(new Error('no'));
    });
    await pass(2_000);
    expect(at.slice(0, 7)).toEqual([0, 200, 600, 1_400, 1_400, 1_600, 2_000]);
    await loop.stop();
  });

  test('never polls more often than without a failure', async () => {
    const { loop, rounds } = watched(() => Promise.reject(new Error('no')), { poll: { everyMs: 1_000 } });
    await pass(999);
    expect(rounds()).toBe(1);
    await pass(1);
    expect(rounds()).toBe(2);
    await loop.stop();
  });

  test('begins the next round at once if it is woken', async () => {
    const { loop, rounds } = watched(() => Promise.reject(new Error('no')));
    await pass(150);
    loop.wake();
    await pass(0);
    expect(rounds()).toBe(2);
    await loop.stop();
  });
});
