import type { FixedClock } from './clock.ts';
import type { Query } from '../../src/platform/db/statements.ts';
import type { TokenRequesterDeps } from '../../src/platform/rate-limits/token-requester.ts';
import type { TimerScheduler } from '../../src/platform/rate-limits/timer.ts';

/**
 * A clock that moves only when the test moves it, and a database whose statements are counted and awaited. It never sleeps: `quiet`
 * resolves once every statement is answered and its consequences have run.
 */
export type RateLimitHarness = {
  db: TokenRequesterDeps['db'];
  timer: TimerScheduler;
  /** Moves time forward and stops at every timer on the way. */
  advance(ms: number): Promise<void>;
  quiet(): Promise<void>;
  statements(): number;
  timers(): number;
  /** The next statements fail, or wait for `release`. */
  be(state: 'well' | 'away' | 'stuck'): void;
};

type Due = { at: number; run: () => void };

export function rateLimitHarness(
  real: Omit<TokenRequesterDeps['db'], 'clock'>,
  clock: FixedClock,
): RateLimitHarness {
  const timers = new Set<Due>();
  const pending = new Set<Promise<unknown>>();
  let count = 0;
  let health: 'well' | 'away' | 'stuck' = 'well';
  let unstick: (() => void)[] = [];

  async function send<T>(work: () => Promise<T>): Promise<T> {
    if (health === 'away') throw new Error('connection refused');
    if (health === 'stuck') await new Promise<void>((resolve) => unstick.push(resolve));
    count += 1;
    const result = work();
    pending.add(result);
    return result.finally(() => pending.delete(result));
  }
  async function quiet(): Promise<void> {
    do {
      await Promise.allSettled(pending);
      // Twice: a statement is sent at the end of one event loop turn, and its response starts work at the end of the next.
      for (let tick = 0; tick < 2; tick += 1) await new Promise((resolve) => setImmediate(resolve));
    } while (pending.size > 0);
  }
  async function advance(ms: number): Promise<void> {
    const until = clock.now() + ms;
    await quiet();
    for (;;) {
      const [next] = [...timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
      if (!next) break;
      timers.delete(next);
      clock.advance(Math.max(0, next.at - clock.now()));
      next.run();
      await quiet();
    }
    clock.advance(until - clock.now());
  }
  return {
    db: {
      clock,
      query: <R extends object>(text: string, values?: unknown[]) => send(() => real.query<R>(text, values)),
      prepared: <R extends object>(query: Query) => send(() => real.prepared<R>(query)),
    },
    timer: {
      after(ms, run) {
        const due = { at: clock.now() + ms, run };
        timers.add(due);
        return () => timers.delete(due);
      },
    },
    advance,
    quiet,
    statements: () => count,
    timers: () => timers.size,
    be(state) {
      health = state;
      for (const go of unstick.splice(0)) go();
      unstick = [];
    },
  };
}
