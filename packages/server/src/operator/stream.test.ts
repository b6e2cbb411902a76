import { Command, CommanderError } from 'commander';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { heldClock } from '../../testkit/clock.ts';
import { testMail } from '../../testkit/mailroom.ts';
import { openTestDatabase } from '../../testkit/database.ts';
import { idMaker } from '../base/ids.ts';
import { createProject } from '../flows/create-project.ts';
import { addChanges, type ChangeKind } from '../features/stream/index.ts';
import type { Operator } from './operator.ts';
import { addStreamCommand } from './stream.ts';

const clock = heldClock();
const db = await openTestDatabase(clock);
const newId = idMaker(clock);
beforeAll(async () => {
  await db.query(
    `CREATE TABLE beckon.event_all PARTITION OF beckon.event FOR VALUES FROM ('2020-01-01Z') TO ('2030-01-01Z')`,
  );
});
let projectId = 0;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

/** The command as it is typed, by a person who can press Ctrl-C. */
function type(...args: string[]) {
  const ran = { out: '', err: '', code: 0, opened: 0 };
  const listeners = new Set<(signal: string) => void>();
  let heard = Promise.withResolvers<void>();
  const never = (): never => {
    throw new Error('not in this test');
  };
  const operator: Operator = {
    async open() {
      ran.opened += 1;
      return {
        ...testMail(),
        db,
        pepper: { current: Buffer.alloc(32), previous: null },
        close: async () => void (ran.opened -= 1),
      };
    },
    migrate: never,
    distribute: never,
    inspect: never,
    backups: never,
    serve: never,
    onSignal(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    print(text) {
      ran.out += `${text}\n`;
      heard.resolve();
      heard = Promise.withResolvers();
    },
    complain: (text) => (ran.err += `${text}\n`),
    setExitCode: (code) => (ran.code = code),
  };
  const program = new Command().exitOverride().configureOutput({ writeErr: (text) => (ran.err += text) });
  addStreamCommand(program, operator);
  const ended = program
    .parseAsync(['node', 'beckon', 'stream', '--project', String(projectId), ...args])
    .catch((error: unknown) => {
      if (!(error instanceof CommanderError)) throw error;
      ran.code = 2;
    })
    .then(() => {
      expect({ opened: ran.opened, listeners: listeners.size }).toEqual({ opened: 0, listeners: 0 });
      return ran;
    });
  const signal = (): void => listeners.forEach((listener) => listener('SIGINT'));
  return { ran, ended, signal, hear: () => heard.promise };
}

const run = (...args: string[]) => type(...args).ended;

async function addChange(kind: ChangeKind, userId: string | null, detail: object = {}): Promise<void> {
  const row = { projectId, at: new Date(clock.now()), id: newId(), kind, userId, audienceId: null };
  await addChanges(db, [{ ...row, detail: JSON.stringify(detail) }]);
  clock.advance(1_000);
}

async function addEvent(userId: string, name: string, tookMs = 1_000): Promise<void> {
  await db.query(
    `INSERT INTO beckon.event (project_id, received_at, id, external_user_id, name, properties, occurred_at, accepted_at, seq, suppressed)
     VALUES ($1, $2, $3, $4, $5, '{"plan":"pro"}', $2, $2, 1, false)`,
    [projectId, new Date(clock.now()), newId(), userId, name],
  );
  clock.advance(tookMs);
}

const jsonLines = (text: string): unknown[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

test('it prints the newest so many, oldest first, as one array', async () => {
  for (let i = 0; i < 105; i += 1) await addChange('user_created', `u${i}`);
  const all = JSON.parse((await run('--json')).out) as { external_user_id: string }[];
  expect(all.map((item) => item.external_user_id)).toEqual(
    Array.from({ length: 100 }, (_, i) => `u${i + 5}`),
  );
  const ran = await run('--json', '--limit', '2');
  expect(ran).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(ran.out)).toEqual([
    {
      at: expect.any(String) as string,
      id: expect.any(String) as string,
      type: 'user_created',
      external_user_id: 'u103',
    },
    {
      at: expect.any(String) as string,
      id: expect.any(String) as string,
      type: 'user_created',
      external_user_id: 'u104',
    },
  ]);
});

test('a time or a duration back bounds it, and a filter narrows it', async () => {
  const start = new Date(clock.now());
  await addEvent('ada', 'trial_started');
  await addEvent('bob', 'login');
  await addChange('user_changed', 'ada');
  const found = async (...args: string[]): Promise<string[]> =>
    (JSON.parse((await run('--json', ...args)).out) as { type: string }[]).map((item) => item.type);
  expect(await found('--since', start.toISOString())).toEqual(['event', 'event', 'user_changed']);
  expect(await found('--since', '1s')).toEqual(['user_changed']);
  expect(await found('--since', '1h', '--filter', 'user:ada')).toEqual(['event', 'user_changed']);
  expect(await found('--filter', 'type:event name:trial_*')).toEqual(['event']);
  expect((await run('--filter', 'name:none')).out).toBe('Nothing such has happened\n');
});

test('for people an item is one line: when, what, who, and the rest in short', async () => {
  const at = new Date(clock.now()).toISOString();
  await addEvent('ada\u001b[2J', 'trial_started');
  await addChange('user_changed', 'ada', { text: 'x'.repeat(500) });
  const lines = (await run()).out.trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toBe(`${at}  event            ada\u{FFFD}[2J  trial_started {"plan":"pro"}`);
  expect(lines[1]).toMatch(/user_changed {3}ada {2}\{"text":"x+…$/);
  expect(lines[1]?.length).toBeLessThan(300);
});

test('followed, it prints what comes, one object a line, until Ctrl-C, which is no failure', async () => {
  await addEvent('ada', 'before');
  const { ran, ended, signal, hear } = type('--follow', '--json', '--since', '1s');
  await hear();
  const next = hear();
  await addEvent('ada', 'after');
  await next;
  signal();
  expect(await ended).toMatchObject({ code: 0, err: '' });
  expect(jsonLines(ran.out)).toMatchObject([{ name: 'before' }, { name: 'after' }]);
});

test('followed for people, it begins now and prints lines', async () => {
  await addEvent('ada', 'before');
  const { ran, ended, signal, hear } = type('--follow', '--filter', 'type:event');
  const next = hear();
  // Whether it has begun by now or not: this happens at the moment at which it begins.
  await addEvent('ada', 'after', 0);
  await next;
  signal();
  await ended;
  expect(ran.out).toMatch(/^\S+ {2}event {12}ada {2}after \{"plan":"pro"\}\n$/);
});

test('what was asked wrongly is said, and nothing is left open', async () => {
  for (const follow of [[], ['--follow']]) {
    expect(await run(...follow, '--since', 'yesterday')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('--since must be a time') as string,
    });
    const json = await run(...follow, '--json', '--filter', 'colour:red');
    expect(json).toMatchObject({ code: 1, out: '' });
    expect(JSON.parse(json.err)).toMatchObject({
      error: {
        code: 'validation_failed',
        message: expect.stringContaining('"colour" at character 1') as string,
      },
    });
  }
  for (const args of [
    ['--limit', '0'],
    ['--limit', '1001'],
    ['--limit', 'all'],
    ['--follow', '--limit', '5'],
  ])
    expect(await run(...args), args.join(' ')).toMatchObject({ code: 2, out: '' });
});
