import { expect, test } from 'vitest';
import { heldClock } from '../../testkit/clock.ts';
import { openTestDatabase } from '../../testkit/database.ts';
import { typed } from '../../testkit/typed-command.ts';

const db = await openTestDatabase(heldClock());
const restore = (...args: string[]) => typed({ db }, ['restore', ...args, '--json']);
const lettersLeave = async (): Promise<unknown> => (await restore('status')).json;

test('that nothing was lost is said alone, or the gate stays closed: whoever only counts, or names a moment, means something else', async () => {
  expect((await restore('close')).json).toEqual({ sending_enabled: false });
  for (const beside of [
    ['--dry-run'],
    ['--until', '2026-05-01T10:00:00Z'],
    ['--stopped-at', '2026-05-01T10:00:00Z'],
    ['--nobody-approved'],
  ]) {
    const ran = await restore('confirm', '--nothing-lost', ...beside);
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining('--nothing-lost stands alone')]);
    expect(await lettersLeave()).toMatchObject({ sending_enabled: false });
  }
  expect((await restore('confirm', '--nothing-lost')).json).toEqual({ sending_enabled: true });
  expect(await lettersLeave()).toMatchObject({ sending_enabled: true, how: 'nothing_lost' });
});
