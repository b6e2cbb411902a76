import { expect, test, vi } from 'vitest';
import { silentLog } from '../log.ts';
import { writeBehind } from './write-behind.ts';

function counted(write: (values: { key: string; count: number }[]) => Promise<void>) {
  return writeBehind<{ key: string; count: number }>({
    everyMs: 10_000,
    entriesMax: 3,
    write,
    merge: (older, newer) => ({ ...newer, count: older.count + newer.count }),
    log: silentLog,
    failedEvent: 'warnings.not_written',
  });
}

test('bounds the number of waiting keys, keeps those that wait, and accepts new ones after a write', async () => {
  const written: string[][] = [];
  const counts = counted(async (values) => {
    written.push(values.map((value) => value.key));
  });
  for (const key of ['a', 'b', 'c', 'd', 'a']) counts.add(key, { key, count: 1 });
  await counts.flush();
  counts.add('d', { key: 'd', count: 1 });
  await counts.close();
  expect(written).toEqual([['a', 'b', 'c'], ['d']]);
});

test('runs one write at a time, and close waits for values noted during it', async () => {
  const steps: string[] = [];
  const gate = Promise.withResolvers<void>();
  const counts = counted(async ([value]) => {
    steps.push(`begin ${value?.key}`);
    await gate.promise;
    steps.push(`end ${value?.key}`);
  });
  counts.add('a', { key: 'a', count: 1 });
  void counts.flush();
  await new Promise(setImmediate);
  counts.add('b', { key: 'b', count: 1 });
  const closed = counts.close();
  gate.resolve();
  await closed;
  expect(steps).toEqual(['begin a', 'end a', 'begin b', 'end b']);
});

test('sets no timer while nothing waits, nor after close', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const counts = counted(() => Promise.reject(new Error('gone')));
    expect(vi.getTimerCount()).toBe(0);
    counts.add('a', { key: 'a', count: 1 });
    expect(vi.getTimerCount()).toBe(1);
    await counts.close();
    expect(vi.getTimerCount()).toBe(0);
    expect(counts.pending('a')).toEqual({ key: 'a', count: 1 });
  } finally {
    vi.useRealTimers();
  }
});
