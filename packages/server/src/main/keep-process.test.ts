import type { Worker } from 'node:cluster';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type FakeProcess, fakeProcess } from '../../testing/servers/fake-process.ts';
import { silentLog } from '../platform/log.ts';
import { ManagedProcess, stopProcesses } from './keep-process.ts';
import type { ProcessRef } from './processes.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Longer than any pause before the next start. */
const SOME_TIME_MS = 5_000;

/** Creates a supervised process with these lives, one after the other; an error is thrown in place of a life. */
function startManaged(...lives: (FakeProcess | Error)[]): {
  managed: ManagedProcess;
  forks: () => number;
  ends: unknown[];
} {
  const ends: unknown[] = [];
  let forks = 0;
  const fork = (): Worker => {
    const life = lives[forks];
    forks += 1;
    if (life === undefined) throw new Error('that many lives were not planned');
    if (life instanceof Error) throw life;
    return life.worker;
  };
  const log = {
    ...silentLog,
    error: (fields: object, event: string) => void ends.push({ event, ...fields }),
  };
  const options = { fork, onMessage: () => {}, ended: () => {}, log };
  return { managed: new ManagedProcess({ role: 'worker', number: 1 }, options), forks: () => forks, ends };
}

test('retries a process that the system had no resources for, and reports it as not serving until then', async () => {
  const [first, roomless, last] = [fakeProcess(1), fakeProcess(null), fakeProcess(3)];
  const { managed, forks, ends } = startManaged(first, roomless, new Error('spawn ENOMEM'), last);
  first.says({ kind: 'ready' });
  await managed.ready;
  first.ends();
  vi.advanceTimersByTime(SOME_TIME_MS);
  roomless.fails();
  expect(managed.isServing).toBe(false);
  vi.advanceTimersByTime(2 * SOME_TIME_MS);
  expect(forks()).toBe(4);
  last.says({ kind: 'ready' });
  expect(managed.isServing).toBe(true);
  expect(ends).toMatchObject([
    { event: 'process.ended', exit: 0 },
    { event: 'process.ended', reason: 'spawn EAGAIN' },
    { event: 'process.ended', reason: 'spawn ENOMEM' },
  ]);
});

test('does not wait on stop for a process that never ran', async () => {
  const roomless = fakeProcess(null);
  const { managed, forks } = startManaged(roomless);
  const stopped = managed.stop(SOME_TIME_MS);
  roomless.fails();
  await stopped;
  vi.advanceTimersByTime(SOME_TIME_MS);
  expect(forks()).toBe(1);
  expect(roomless.killed).toEqual([]);
});

test('reports missing resources at the very first start', async () => {
  const roomless = fakeProcess(null);
  const { managed } = startManaged(roomless);
  roomless.fails();
  await expect(managed.ready).rejects.toThrow('spawn EAGAIN');
  await expect(startManaged(new Error('spawn ENOMEM')).managed.ready).rejects.toThrow('spawn ENOMEM');
});

function fakeManaged(part: ProcessRef): FakeProcess & { managed: ManagedProcess } {
  const fake = fakeProcess();
  const fork = (): Worker => fake.worker;
  return {
    ...fake,
    managed: new ManagedProcess(part, { fork, onMessage: () => {}, ended: () => {}, log: silentLog }),
  };
}

test('stopProcesses › a worker that is sending stops at once, and has nine seconds, however long the others take', async () => {
  const api = fakeManaged({ role: 'api', number: 1 });
  const worker = fakeManaged({ role: 'worker', number: 1 });
  const stopped = stopProcesses([api.managed, worker.managed]);
  expect([api.messages, worker.messages]).toEqual([[{ kind: 'stop' }], [{ kind: 'stop' }]]);
  await vi.advanceTimersByTimeAsync(6_999);
  api.ends();
  await vi.advanceTimersByTimeAsync(2_000);
  expect([api.killed, worker.killed]).toEqual([[], []]);
  worker.ends();
  await stopped;
  expect(vi.getTimerCount()).toBe(0);
});

test('stopProcesses › a process that does not end in time is killed', async () => {
  const api = fakeManaged({ role: 'api', number: 1 });
  const worker = fakeManaged({ role: 'worker', number: 1 });
  const stopped = stopProcesses([api.managed, worker.managed]);
  await vi.advanceTimersByTimeAsync(9_000);
  expect([api.killed, worker.killed]).toEqual([['SIGKILL'], ['SIGKILL']]);
  for (const fake of [api, worker]) fake.ends();
  await stopped;
});
