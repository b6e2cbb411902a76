import type { Worker } from 'node:cluster';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type FakeProcess, fakeProcess } from '../../testing/servers/fake-process.ts';
import { silentLog } from '../platform/log.ts';
import { ManagedProcess, stopProcesses } from './keep-process.ts';
import type { ProcessRef } from './processes.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

function fakeManaged(part: ProcessRef): FakeProcess & { managed: ManagedProcess } {
  const fake = fakeProcess();
  const fork = (): Worker => fake.worker;
  return {
    ...fake,
    managed: new ManagedProcess(part, { fork, onMessage: () => {}, ended: () => {}, log: silentLog }),
  };
}

test('a worker that is sending stops at once, and has nine seconds, however long the others take', async () => {
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

test('a process that does not end in time is killed', async () => {
  const api = fakeManaged({ role: 'api', number: 1 });
  const worker = fakeManaged({ role: 'worker', number: 1 });
  const stopped = stopProcesses([api.managed, worker.managed]);
  await vi.advanceTimersByTimeAsync(9_000);
  expect([api.killed, worker.killed]).toEqual([['SIGKILL'], ['SIGKILL']]);
  for (const fake of [api, worker]) fake.ends();
  await stopped;
});
