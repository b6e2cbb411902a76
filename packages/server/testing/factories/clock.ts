import type { Clock } from '../../src/platform/time/clock.ts';

export type FixedClock = Clock & { advance(ms: number): void };

/** A clock that is stopped until the test moves it. */
export function fixedClock(at = Date.UTC(2026, 0, 15, 12)): FixedClock {
  let now = at;
  return {
    now: () => now,
    advance(ms) {
      now += ms;
    },
  };
}
