import { Counter, Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type FakeProcess, fakeProcess } from '../../testing/servers/fake-process.ts';
import { silentLog } from '../platform/log.ts';
import { countAll } from './count-all.ts';
import { type KeepOptions, ManagedProcess } from './keep-process.ts';
import { type ProcessMetrics, countsOf } from './merged-counts.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Longer than any wait for a restart or for an answer. */
const SOME_TIME_MS = 5_000;

function accepted(count: number): Promise<ProcessMetrics> {
  const registry = new Registry();
  new Counter({ name: 'accepted_total', help: 'Records', registers: [registry] }).inc(count);
  return countsOf({ registry });
}

/** Creates one supervised process with these lives. */
function watched(lives: FakeProcess[]): { text: () => Promise<string> } {
  const remaining = [...lives];
  const processes: ManagedProcess[] = [];
  const counts = countAll(() => processes);
  const options: KeepOptions = {
    fork() {
      const life = remaining.shift();
      if (!life) throw new Error('that many lives were not planned');
      return life.worker;
    },
    onMessage(from, message) {
      if (message.kind === 'counted') counts.counted(from, message);
    },
    ended: counts.ended,
    log: silentLog,
  };
  processes.push(new ManagedProcess({ role: 'api', number: 1 }, options));
  return { text: counts.text };
}

/** Returns the total of all processes. With null, this life does not answer. */
async function total(
  { text }: { text: () => Promise<string> },
  { messages: told, says }: FakeProcess,
  counts: ProcessMetrics | null,
): Promise<number> {
  const all = text();
  const countMessage = told.findLast(({ kind }) => kind === 'count');
  if (counts && countMessage?.kind === 'count') says({ kind: 'counted', id: countMessage.id, counts });
  else vi.advanceTimersByTime(SOME_TIME_MS);
  return Number(/^accepted_total (\d+)$/m.exec(await all)?.[1]);
}

test('adds a count that arrives after the end of its process once, and never lowers the sum', async () => {
  const [first, second] = [fakeProcess(1), fakeProcess(2)];
  const all = watched([first, second]);
  first.says({ kind: 'ready' });
  expect(await total(all, first, await accepted(5))).toBe(5);
  first.ends();
  first.says({ kind: 'counted', id: 99, counts: await accepted(6) });
  vi.advanceTimersByTime(SOME_TIME_MS);
  second.says({ kind: 'ready' });
  expect(await total(all, second, null)).toBe(5);
  expect(await total(all, second, await accepted(1))).toBe(6);
});
