import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import type { Query } from '../db/statements.ts';
import { createWorkWatch } from './work-watch.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const LOOK_EVERY_MS = 250;

/**
 * A watch of two kinds of work, and the statements that it sent. `due` says which kinds are due; null fails the statement. `nextAt` is when
 * the second kind is due next.
 */
function watched() {
  const clock = fixedClock();
  const state: { due: [boolean, boolean] | null; nextAt: number | null; queries: Query[] } = {
    due: [false, false],
    nextAt: null,
    queries: [],
  };
  const db = {
    clock,
    async prepared<R extends object>(query: Query): Promise<R[]> {
      state.queries.push(query);
      if (!state.due) throw new Error('no connection');
      return [{ due_0: state.due[0], due_1: state.due[1], next_1: state.nextAt }] as R[];
    },
  };
  const watch = createWorkWatch(db);
  const first = watch.add({ due: 'SELECT 1 WHERE $1 = $1' });
  const second = watch.add({ due: 'SELECT 2', nextAt: 'SELECT now()' });
  const pass = async (ms: number): Promise<void> => {
    for (let i = 0; i < ms; i += 10) {
      clock.advance(10);
      await vi.advanceTimersByTimeAsync(10);
    }
  };
  return { state, clock, watch, first, second, pass };
}

describe('createWorkWatch', () => {
  test('looks for all kinds with one statement, as often as the most demanding follower asks', async () => {
    const { state, first, second, pass } = watched();
    first.follow(() => {}, 1_000);
    second.follow(() => {}, LOOK_EVERY_MS);
    await pass(1_000);
    expect(state.queries.map(({ text }) => text)).toEqual(
      Array(4).fill(
        "SELECT EXISTS (SELECT 1 WHERE $1 = $1) AS due_0, EXISTS (SELECT 2) AS due_1, date_part('epoch', (SELECT now())) * 1000 AS next_1",
      ),
    );
  });

  test('looks once a second if no follower asks for more', async () => {
    const { state, first, second, pass } = watched();
    first.follow(() => {}, 1_000);
    second.follow(() => {}, 1_000);
    await pass(5_000);
    expect(state.queries).toHaveLength(5);
  });

  test('looks sooner for a follower that comes later and asks for more', async () => {
    const { state, first, second, pass } = watched();
    first.follow(() => {}, 10_000);
    await pass(500);
    second.follow(() => {}, LOOK_EVERY_MS);
    await pass(LOOK_EVERY_MS);
    expect(state.queries).toHaveLength(1);
  });

  test('looks at the time at which the next work is due', async () => {
    const { state, clock, second, pass } = watched();
    let woken = 0;
    const unfollow = second.follow(() => {
      woken += 1;
      unfollow();
    }, 1_000);
    state.nextAt = clock.now() + 1_300;
    await pass(1_290);
    expect([state.queries.length, woken]).toEqual([1, 0]);
    await pass(10);
    expect([state.queries.length, woken]).toEqual([2, 1]);
  });

  test('does not look again and again for work that is overdue', async () => {
    const { state, second, pass } = watched();
    state.nextAt = 0;
    second.follow(() => {}, 1_000);
    await pass(5_000);
    expect(state.queries).toHaveLength(5);
  });

  test('sends no statement while no loop follows', async () => {
    const { state, first, pass } = watched();
    await pass(1_000);
    const unfollow = first.follow(() => {}, LOOK_EVERY_MS);
    await pass(500);
    unfollow();
    await pass(1_000);
    // The last one was planned when the loop still followed.
    expect(state.queries).toHaveLength(3);
    first.follow(() => {}, LOOK_EVERY_MS);
    await pass(LOOK_EVERY_MS);
    expect(state.queries).toHaveLength(4);
  });

  test('wakes the loops whose work is due, and no others', async () => {
    const { state, first, second, pass } = watched();
    const woken = { first: 0, second: 0 };
    first.follow(() => (woken.first += 1), LOOK_EVERY_MS);
    second.follow(() => (woken.second += 1), LOOK_EVERY_MS);
    await pass(250);
    state.due = [false, true];
    await pass(500);
    expect(woken).toEqual({ first: 0, second: 2 });
  });

  test('wakes all loops after a failure, and continues', async () => {
    const { state, first, second, pass } = watched();
    const woken = { first: 0, second: 0 };
    first.follow(() => (woken.first += 1), LOOK_EVERY_MS);
    second.follow(() => (woken.second += 1), LOOK_EVERY_MS);
    state.due = null;
    await pass(250);
    expect(woken).toEqual({ first: 1, second: 1 });
    state.due = [true, false];
    await pass(250);
    expect(woken).toEqual({ first: 2, second: 1 });
  });

  test('looks no more after it is stopped', async () => {
    const { state, watch, first, pass } = watched();
    first.follow(() => {}, LOOK_EVERY_MS);
    await pass(250);
    watch.stop();
    await pass(1_000);
    expect(state.queries).toHaveLength(1);
  });
});
