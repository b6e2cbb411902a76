import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import type { Query } from '../db/statements.ts';
import { createWorkWatch } from './work-watch.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A watch of two kinds of work, and the statements that it sent. `due` says which kinds are due; null fails the statement. */
function watched() {
  const state: { due: [boolean, boolean] | null; queries: Query[] } = { due: [false, false], queries: [] };
  const db = {
    clock: fixedClock(),
    async prepared<R extends object>(query: Query): Promise<R[]> {
      state.queries.push(query);
      if (!state.due) throw new Error('no connection');
      return [{ kind_0: state.due[0], kind_1: state.due[1] }] as R[];
    },
  };
  const watch = createWorkWatch(db);
  const [first, second] = [watch.add('SELECT 1 AS one'), watch.add('SELECT 2 AS two')];
  return { state, watch, first, second };
}

describe('createWorkWatch', () => {
  test('looks for all kinds with one statement, four times a second', async () => {
    const { state, first, second } = watched();
    first.follow(() => {});
    second.follow(() => {});
    await pass(1_000);
    expect(state.queries.map(({ text }) => text)).toEqual(
      Array(4).fill('SELECT EXISTS (SELECT 1 AS one) AS kind_0, EXISTS (SELECT 2 AS two) AS kind_1'),
    );
  });

  test('sends no statement while no loop follows', async () => {
    const { state, first } = watched();
    await pass(1_000);
    const unfollow = first.follow(() => {});
    await pass(500);
    unfollow();
    await pass(1_000);
    // The last one was planned when the loop still followed.
    expect(state.queries).toHaveLength(3);
    first.follow(() => {});
    await pass(250);
    expect(state.queries).toHaveLength(4);
  });

  test('wakes the loops whose work is due, and no others', async () => {
    const { state, first, second } = watched();
    const woken = { first: 0, second: 0 };
    first.follow(() => (woken.first += 1));
    second.follow(() => (woken.second += 1));
    await pass(250);
    state.due = [false, true];
    await pass(500);
    expect(woken).toEqual({ first: 0, second: 2 });
  });

  test('wakes all loops after a failure, and continues', async () => {
    const { state, first, second } = watched();
    const woken = { first: 0, second: 0 };
    first.follow(() => (woken.first += 1));
    second.follow(() => (woken.second += 1));
    state.due = null;
    await pass(250);
    expect(woken).toEqual({ first: 1, second: 1 });
    state.due = [true, false];
    await pass(250);
    expect(woken).toEqual({ first: 2, second: 1 });
  });

  test('looks no more after it is stopped', async () => {
    const { state, watch, first } = watched();
    first.follow(() => {});
    await pass(250);
    watch.stop();
    await pass(1_000);
    expect(state.queries).toHaveLength(1);
  });
});
