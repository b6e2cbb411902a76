import type { Worker } from 'node:cluster';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type StandIn, standInProcess } from '../../testkit/stand-in-process.ts';
import { silentLog } from '../platform/log.ts';
import { ManagedProcess, stopProcesses } from './keep-process.ts';
import type { ProcessRef } from './processes.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

function standIn(part: ProcessRef): StandIn & { managed: ManagedProcess } {
  const fake = standInProcess();
  const fork = (): Worker => fake.worker;
  return {
    ...fake,
    managed: new ManagedProcess(part, { fork, onMessage: () => {}, ended: () => {}, log: silentLog }),
  };
}

test('a worker that is sending stops at once, and has nine seconds, however long the others take', async () => {
  const api = standIn({ role: 'api', number: 1 });
  const worker = standIn({ role: 'worker', number: 1 });
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
  const api = standIn({ role: 'api', number: 1 });
  const worker = standIn({ role: 'worker', number: 1 });
  const stopped = stopProcesses([api.managed, worker.managed]);
  await vi.advanceTimersByTimeAsync(9_000);
  expect([api.killed, worker.killed]).toEqual([['SIGKILL'], ['SIGKILL']]);
  for (const fake of [api, worker]) fake.ends();
  await stopped;
});
