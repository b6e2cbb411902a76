import { describe, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { serverCommand } from '../../../testing/servers/server-command.ts';

const db = await openTestDatabase(fixedClock());
const run = (...args: string[]) => serverCommand({ db }, [...args, '--json']);

describe('restore close', () => {
  test('stops sending, which restore status shows', async () => {
    expect((await run('restore', 'close')).json).toEqual({ sending_enabled: false });
    expect((await run('restore', 'status')).json).toMatchObject({ sending_enabled: false });
    const { out } = await serverCommand({ db }, ['restore', 'status']);
    expect(out).toContain('Run: beckon-server confirm-restore');
  });
});

describe('confirm-restore', () => {
  test.each([
    ['--dry-run'],
    ['--until', '2026-05-01T10:00:00Z'],
    ['--stopped-at', '2026-05-01T10:00:00Z'],
    ['--nothing-approved'],
  ])('refuses %s beside --nothing-lost, and sends no email', async (...others) => {
    await run('restore', 'close');
    const { code, err } = await run('confirm-restore', '--nothing-lost', ...others);
    expect([code, err]).toEqual([1, expect.stringContaining('--nothing-lost takes no other option')]);
    expect((await run('restore', 'status')).json).toMatchObject({ sending_enabled: false });
  });

  test('needs --until or --nothing-lost', async () => {
    await run('restore', 'close');
    expect((await run('confirm-restore')).err).toContain('Pass --until');
    expect(await run('confirm-restore', '--until', 'yesterday')).toMatchObject({ code: 2 });
  });

  test('sends emails again with --nothing-lost', async () => {
    await run('restore', 'close');
    expect((await run('confirm-restore', '--nothing-lost')).json).toEqual({
      nothing_lost: true,
      sending_enabled: true,
    });
    expect((await run('restore', 'status')).json).toMatchObject({
      sending_enabled: true,
      how: 'nothing_lost',
    });
  });
});
