import { Command } from 'commander';
import { expect, test } from 'vitest';
import { heldClock } from '../../testkit/clock.ts';
import { openTestDatabase } from '../../testkit/database.ts';
import { testMail } from '../../testkit/mailroom.ts';
import { addCommands, type Operator } from './index.ts';

const clock = heldClock();
const db = await openTestDatabase(clock);

/** A command as it is typed, with JSON as its answer. */
async function beckon(...args: string[]): Promise<unknown> {
  let said = '';
  const never = (): never => {
    throw new Error('not in this test');
  };
  const operator: Operator = {
    open: async () => ({
      ...testMail(),
      db,
      pepper: { current: Buffer.alloc(32, 1), previous: null },
      close: async () => {},
    }),
    migrate: never,
    distribute: never,
    inspect: never,
    backups: never,
    serve: never,
    onSignal: never,
    print: (text) => (said += text),
    complain: (text) => (said += text),
    setExitCode: () => {},
  };
  const program = new Command('beckon').exitOverride();
  addCommands(program, operator);
  await program.parseAsync(['node', 'beckon', ...args, '--json']);
  return JSON.parse(said);
}

test('a sandbox is switched on by a setting, gets keys of its own, and its clock is shown and moved by command', async () => {
  await beckon('project', 'create', '--name', 'Acme');
  const create = ['key', 'create', '--project', 'Acme', '--name', 'tests', '--env', 'test'];
  expect(await beckon(...create)).toMatchObject({
    error: { message: expect.stringContaining('set its setting sandbox=on first') },
  });
  await beckon('settings', 'set', '--project', 'Acme', 'sandbox=on');
  expect(await beckon(...create)).toMatchObject({ secret: expect.stringMatching(/^sk_test_\w{40}$/) });
  const start = clock.now();
  const at = (ms: number): string => new Date(start + ms).toISOString();
  const sandbox = ['--project', 'Acme (sandbox)'];
  expect(await beckon('clock', 'show', '--project', 'Acme')).toEqual({ now: at(0), ahead_ms: 0 });
  expect(await beckon('clock', 'advance', '7d', ...sandbox)).toEqual({
    now: at(7 * 86_400_000),
    advanced_ms: 7 * 86_400_000,
    drafts: 0,
    letters: 0,
  });
  expect(await beckon('clock', 'show', ...sandbox)).toEqual({
    now: at(7 * 86_400_000),
    ahead_ms: 7 * 86_400_000,
  });
  // Whatever else is done there is done at that time.
  const rule = await beckon('rule', 'show', ...sandbox, '--rule', 'welcome');
  expect(rule).toMatchObject({ name: 'welcome' });
  await beckon('suppression', 'add', ...sandbox, '--email', 'ada@example.com');
  const [row] = await db.query<{ at: Date }>(`SELECT created_at AS at FROM beckon.suppression`);
  expect(row?.at.toISOString()).toBe(at(7 * 86_400_000));
  expect(await beckon('clock', 'advance', '1d', '--project', 'Acme')).toMatchObject({
    error: { code: 'conflict' },
  });
});
