import { expect, test } from 'vitest';
import type { SystemState } from '@beckon/contract/dashboard';
import { formatBytes, systemProblems } from './system-words.ts';

const WELL: SystemState = {
  at: '2026-01-01T00:00:00.000Z',
  version: '1.0.0',
  node: 'v26.0.0',
  postgres: '18.1',
  schema: '0001-baseline',
  clock_offset_ms: 3,
  sending_enabled: true,
  storage: null,
  queue: { live: 0, bulk: 0, dead_letters: 0, oldest_ms: 0, max: 50_000 },
  jobs: [{ name: 'process', next_at: null, late_ms: 0 }],
  webhooks: { pending: 0, delivering: 0 },
};
const titles = (more: Partial<SystemState>): string[] =>
  systemProblems({ ...WELL, ...more }).map(({ title }) => title);

test('formatBytes › rounds to a readable unit', () => {
  expect([0, 999, 1_000, 12_345, 1_400_000_000].map(formatBytes)).toEqual([
    '0 B',
    '999 B',
    '1.0 KB',
    '12 KB',
    '1.4 GB',
  ]);
});

test('systemProblems › lists each problem with its fix', () => {
  expect(titles({})).toEqual([]);
  expect(titles({ jobs: [{ name: 'send', next_at: null, late_ms: 61_000 }] })).toEqual([
    'Workers are behind',
  ]);
  expect(titles({ queue: { ...WELL.queue, oldest_ms: 90_000 } })).toEqual(['Workers are behind']);
  expect(titles({ queue: { ...WELL.queue, bulk: 45_000 } })).toEqual(['The ingest queue is nearly full']);
  expect(titles({ queue: { ...WELL.queue, dead_letters: 1_200 } })).toEqual([
    '1,200 records could not be processed',
  ]);
  expect(titles({ sending_enabled: false })).toEqual([expect.stringContaining('restored')]);
  expect(titles({ clock_offset_ms: -2_500 })).toEqual([expect.stringContaining('clock')]);
  expect(systemProblems({ ...WELL, clock_offset_ms: 9_000 }).every(({ next }) => next.length > 10)).toBe(
    true,
  );
});
