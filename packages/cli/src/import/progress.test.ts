import { expect, test } from 'vitest';
import type { BulkProgress } from '@beckon/client';
import { createOutput } from '../output/output.ts';
import { createProgress } from './progress.ts';

const sending = (received: number): BulkProgress => ({
  received,
  accepted: received - 2,
  rejected: 2,
  state: 'sending',
  waitMs: 0,
});

function watched(isTerminal: boolean, columns = 120) {
  const out: string[] = [];
  const shown: string[] = [];
  const sink = (to: string[]) => ({
    isTerminal,
    columns: () => columns,
    write: async (text: string) => void to.push(text),
  });
  let at = 0;
  const output = createOutput({ stdout: sink(out), stderr: sink(shown), env: {}, now: () => at }, {});
  const before = { rows: 10_000, accepted: 9_999, rejected: 1 };
  const whole = { name: 'users.csv', rows: 50_000, before, now: () => at, columns: () => columns };
  const progress = createProgress(output, whole);
  return {
    out,
    shown: () => shown.filter((text) => !text.startsWith('\r')),
    tell: async (now: number, state: BulkProgress): Promise<void> => {
      at = now;
      await progress.update(state);
    },
  };
}

test('progress › draws a bar with the pace and the remaining time on a terminal', async () => {
  const { tell, shown } = watched(true);
  await tell(1_000, sending(10_000));
  await tell(1_050, sending(11_000));
  await tell(3_000, sending(20_000));
  await tell(3_001, { ...sending(20_000), state: 'queue_full', waitMs: 5_200 });
  expect(shown()).toEqual([
    '█████████░░░░░░░░░░░░░░░ 40 %  20,000 rows  10,000 rows/s  ETA 0:03  3 rejected',
    '██████████████░░░░░░░░░░ 60 %  30,000 rows  6,667 rows/s  ETA 0:03  3 rejected',
    '██████████████░░░░░░░░░░ 60 %  30,000 rows  6,664 rows/s  ETA 0:04  3 rejected  queue full, continues in 6 s',
  ]);
});

test('progress › leaves parts out on a narrow terminal', async () => {
  const { tell, shown } = watched(true, 50);
  await tell(1_000, sending(10_000));
  expect(shown()).toEqual(['█████████░░░░░░░░░░░░░░░ 40 %  20,000 rows']);
});

test('progress › is silent in a pipe', async () => {
  const { tell, out, shown } = watched(false);
  await tell(1_000, sending(10_000));
  expect([out, shown()]).toEqual([[], []]);
});
