import type { Worker } from 'node:cluster';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type StandIn, standInProcess } from '../../testkit/stand-in-process.ts';
import { silentLog } from '../platform/log.ts';
import { Kept } from './keep-process.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Longer than any pause before the next start. */
const SOME_TIME_MS = 5_000;

/** Creates a supervised process with these lives, one after the other; an error is thrown in place of a life. */
function keep(...lives: (StandIn | Error)[]): { kept: Kept; begun: () => number; ends: unknown[] } {
  const ends: unknown[] = [];
  let begun = 0;
  const fork = (): Worker => {
    const life = lives[begun];
    begun += 1;
    if (life === undefined) throw new Error('that many lives were not planned');
    if (life instanceof Error) throw life;
    return life.worker;
  };
  const log = {
    ...silentLog,
    error: (fields: object, event: string) => void ends.push({ event, ...fields }),
  };
  const options = { fork, heard: () => {}, ended: () => {}, log };
  return { kept: new Kept({ role: 'worker', number: 1 }, options), begun: () => begun, ends };
}

test('retries a process that the system had no resources for, and reports it as not serving until then', async () => {
  const [first, roomless, last] = [standInProcess(1), standInProcess(null), standInProcess(3)];
  const { kept, begun, ends } = keep(first, roomless, new Error('spawn ENOMEM'), last);
  first.says({ kind: 'ready' });
  await kept.ready;
  first.ends();
  vi.advanceTimersByTime(SOME_TIME_MS);
  roomless.fails();
  expect(kept.isServing).toBe(false);
  vi.advanceTimersByTime(2 * SOME_TIME_MS);
  expect(begun()).toBe(4);
  last.says({ kind: 'ready' });
  expect(kept.isServing).toBe(true);
  expect(ends).toMatchObject([
    { event: 'process.ended', exit: 0 },
    { event: 'process.ended', reason: 'spawn EAGAIN' },
    { event: 'process.ended', reason: 'spawn ENOMEM' },
  ]);
});

test('does not wait on stop for a process that never ran', async () => {
  const roomless = standInProcess(null);
  const { kept, begun } = keep(roomless);
  const stopped = kept.stop(SOME_TIME_MS);
  roomless.fails();
  await stopped;
  vi.advanceTimersByTime(SOME_TIME_MS);
  expect(begun()).toBe(1);
  expect(roomless.killed).toEqual([]);
});

test('reports missing resources at the very first start', async () => {
  const roomless = standInProcess(null);
  const { kept } = keep(roomless);
  roomless.fails();
  await expect(kept.ready).rejects.toThrow('spawn EAGAIN');
  await expect(keep(new Error('spawn ENOMEM')).kept.ready).rejects.toThrow('spawn ENOMEM');
});
