import { Command, CommanderError } from 'commander';
import { beforeEach, expect, test } from 'vitest';
import { heldClock } from '../../testkit/clock.ts';
import { testMail } from '../../testkit/mailroom.ts';
import { openTestDatabase } from '../../testkit/database.ts';
import { silentLog } from '../base/log.ts';
import { keyring } from '../features/keys/index.ts';
import { addCommands, type Operator } from './index.ts';

const clock = heldClock();
const db = await openTestDatabase(clock);

const pepper = { current: Buffer.alloc(32, 1), previous: null };
type Ran = { out: string; err: string; code: number; json: unknown };

/** A command as it is typed, against this test's database; every use of the database must have been given back. */
async function beckon(...args: string[]): Promise<Ran> {
  const ran = { out: '', err: '', code: 0 };
  let open = 0;
  const never = (): never => {
    throw new Error('not in this test');
  };
  const operator: Operator = {
    async open() {
      open += 1;
      const close = async (): Promise<void> => {
        open -= 1;
      };
      return { ...testMail(), db, pepper, close };
    },
    migrate: async () => ({ applied: ['0001-baseline'] }),
    distribute: async () => ({ tables: [], before: 0, workers: 0 }),
    inspect: never,
    backups: never,
    serve: never,
    onSignal: never,
    print: (text) => (ran.out += `${text}\n`),
    complain: (text) => (ran.err += `${text}\n`),
    setExitCode: (code) => (ran.code = code),
  };
  const program = new Command('beckon').exitOverride().configureOutput({
    writeOut: (text) => (ran.out += text),
    writeErr: (text) => (ran.err += text),
  });
  addCommands(program, operator);
  try {
    await program.parseAsync(['node', 'beckon', ...args]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    ran.code = 2;
  }
  expect(open).toBe(0);
  return {
    ...ran,
    json: ran.out.startsWith('{') || ran.out.startsWith('[') ? JSON.parse(ran.out) : undefined,
  };
}

beforeEach(async () => {
  await db.query(
    'TRUNCATE beckon.project, beckon.project_settings, beckon.ingest_queue, beckon.inbox, beckon.dead_letter, beckon.project_lock, beckon.tenant_due, beckon.rate_limit, beckon.api_key, beckon.send_lock, beckon.rule, beckon.rule_version RESTART IDENTITY',
  );
  await db.query('ALTER SEQUENCE beckon.project_id_seq RESTART');
  await beckon('project', 'create', '--name', 'Acme');
});

test('project create prints the id and the name, project list an array', async () => {
  expect((await beckon('project', 'create', '--name', 'Second', '--json')).json).toEqual({
    id: '2',
    name: 'Second',
  });
  const at = new Date(clock.now()).toISOString();
  expect((await beckon('project', 'list', '--json')).json).toEqual([
    { id: '1', name: 'Acme', suspended_at: null, created_at: at },
    { id: '2', name: 'Second', suspended_at: null, created_at: at },
  ]);
  expect((await beckon('project', 'list')).out).toContain('Second');
});

test('with --json stdout is one JSON value and nothing else, whatever the command', async () => {
  await beckon('key', 'create', '--project', 'Acme', '--name', 'a');
  const commands = [
    ['project', 'list'],
    ['project', 'suspend', '--project', '1'],
    ['project', 'resume', '--project', 'Acme'],
    ['key', 'create', '--project', '1', '--name', 'b'],
    ['key', 'list', '--project', '1'],
    ['settings', 'get', '--project', '1'],
    ['settings', 'set', '--project', '1', 'paused=true'],
    ['rate-limit', 'list', '--project', '1'],
    ['rate-limit', 'set', '--project', '1', '--endpoint', 'events', '--rate', '5'],
    ['rule', 'list', '--project', '1'],
    ['rule', 'show', '--project', '1', '--rule', 'welcome'],
    ['rule', 'disable', '--project', '1', '--rule', 'welcome'],
    ['rule', 'enable', '--project', '1', '--rule', 'welcome'],
    ['rule', 'move-waiting', '--project', '1', '--rule', 'welcome'],
    ['suppression', 'add', '--project', '1', '--user', 'ada'],
    ['suppression', 'list', '--project', '1'],
    ['suppression', 'remove', '--project', '1', '--user', 'ada', '--yes'],
    ['queue'],
    ['queue', '--project', '1'],
    ['queue', 'status', '--project', '1'],
    ['queue', 'dead', '--project', '1'],
    ['queue', 'retry', '--project', '1'],
    ['migrate'],
  ];
  for (const command of commands) {
    const ran = await beckon(...command, '--json');
    expect({ command, ...ran }).toMatchObject({ command, code: 0, err: '' });
    expect(ran.out.trimEnd().split('\n'), command.join(' ')).toHaveLength(1);
    expect(ran.json, command.join(' ')).toBeDefined();
  }
});

test('a key is shown once, lists without its secret, and is ended by its id', async () => {
  const made = (await beckon('key', 'create', '--project', 'Acme', '--name', 'server', '--json')).json;
  expect(made).toEqual({ id: expect.any(String), secret: expect.stringMatching(/^sk_live_\w{40}$/) });
  const { id, secret } = made as { id: string; secret: string };
  const ring = keyring({ db, pepper, log: silentLog });
  expect((await ring.verify(secret)).state).toBe('live');
  const listed = await beckon('key', 'list', '--project', 'Acme', '--json');
  expect(listed.out).not.toContain(secret);
  expect(listed.json).toEqual([
    {
      id,
      label: 'server',
      display: `sk_live_…${secret.slice(-4)}`,
      created_at: expect.any(String),
      last_used_at: null,
      client: null,
      revoked_at: null,
    },
  ]);
  const at = new Date(clock.now()).toISOString();
  expect((await beckon('key', 'revoke', '--key', id, '--json')).json).toEqual({
    id,
    label: 'server',
    revoked_at: at,
  });
  expect((await ring.verify(secret)).state).toBe('unknown');
});

test("another project's key is not ended by mistake", async () => {
  await beckon('project', 'create', '--name', 'Other');
  const { id } = (await beckon('key', 'create', '--project', 'Acme', '--name', 'a', '--json')).json as {
    id: string;
  };
  expect(await beckon('key', 'revoke', '--key', id, '--project', 'Other')).toMatchObject({
    code: 1,
    err: expect.stringContaining('in this project') as string,
  });
  expect((await beckon('key', 'list', '--project', 'Acme', '--json')).json).toMatchObject([
    { revoked_at: null },
  ]);
});

test('settings are set as they are typed and read back as JSON', async () => {
  const set = [
    'quiet_hours=off',
    'frequency_cap=1/24h,3/7d',
    'throttle=10/s',
    'autopilot=draft',
    'paused=true',
  ];
  const expected = {
    quiet_hours: 'off',
    frequency_cap: '1/24h,3/7d',
    throttle: '10/s',
    autopilot: 'draft',
    drafting: 'template',
    time_zone: 'UTC',
    language: 'en',
    paused: true,
    keep_events: 'forever',
    keep_stream: '90d',
    keep_dead: 'forever',
    keep_emails: '90d',
    from_name: 'none',
    from_address: 'none',
    reply_to: 'none',
    postal_address: 'none',
    footer: 'none',
    reply_forward_to: 'none',
    topics: 'none',
    tracking: 'opens,clicks',
    team_addresses: 'none',
    sandbox: 'off',
  };
  expect((await beckon('settings', 'set', '--project', '1', ...set, '--json')).json).toEqual(expected);
  expect((await beckon('settings', 'get', '--project', '1', '--json')).json).toEqual(expected);
  expect((await beckon('settings', 'get', '--project', '1')).out).toContain('quiet_hours=off\n');
});

test('a rate limit takes either spelling of its endpoint', async () => {
  const set = ['rate-limit', 'set', '--project', '1', '--rate', '50000', '--burst', '100000', '--json'];
  const expected = (endpoint: string) => ({ endpoint, rate: 50_000, burst: 100_000 });
  expect((await beckon(...set, '--endpoint', 'events')).json).toEqual(expected('events'));
  expect((await beckon(...set, '--endpoint', 'users/bulk')).json).toEqual(expected('users-bulk'));
  expect((await beckon('rate-limit', 'list', '--project', '1', '--json')).json).toContainEqual(
    expected('events'),
  );
});

test('queue without a project says in which something waits or died, or that nothing does in any', async () => {
  expect((await beckon('queue')).out).toBe(
    'No record waits in any project, and every one could be applied\n',
  );
  expect((await beckon('queue', '--json')).json).toEqual([]);
  await db.query(
    `INSERT INTO beckon.dead_letter VALUES (1, 1, 'live', 'events', '{"external_user_id":"u"}', 'bad', now(), now())`,
  );
  const row = { project_id: '1', name: 'Acme', live: 0, bulk: 0, oldest_ms: 0, dead: 1 };
  expect((await beckon('queue', '--json')).json).toEqual([row]);
  expect((await beckon('queue', 'status')).out.split('\n').map((line) => line.split(/ +/))).toEqual([
    ['project_id', 'name', 'live', 'bulk', 'oldest_ms', 'dead'],
    ['1', 'Acme', '0', '0', '0', '1'],
    [''],
  ]);
});

test('queue without a word counts what waits, and retry says how many wait again', async () => {
  await db.query(
    `INSERT INTO beckon.dead_letter VALUES (1, 1, 'live', 'events', '{"external_user_id":"u"}', 'bad', now(), now())`,
  );
  const counts = { live: 0, bulk: 0, dead: 1, oldest_ms: 0 };
  expect((await beckon('queue', '--project', 'Acme', '--json')).json).toEqual(counts);
  expect((await beckon('queue', 'dead', '--project', 'Acme', '--json')).json).toMatchObject([
    { seq: 1, priority: 'live', kind: 'events', reason: 'bad', record: { external_user_id: 'u' } },
  ]);
  expect((await beckon('queue', 'retry', '--project', 'Acme', '--json')).json).toEqual({ retried: 1 });
  expect((await beckon('queue', '--project', 'Acme', '--json')).json).toMatchObject({ live: 1, dead: 0 });
});

test('a failure is on stderr alone, for people in words and for scripts as one JSON line, with exit code 1', async () => {
  const wrong = ['settings', 'set', '--project', '1', 'quiet_hours=late', 'colour=red'];
  const words = await beckon(...wrong);
  expect(words).toMatchObject({ out: '', code: 1 });
  expect(words.err).toMatch(/^quiet_hours must be two different times.*\ncolour is no setting.*\n$/);
  const json = await beckon(...wrong, '--json');
  expect(json).toMatchObject({ out: '', code: 1 });
  expect(JSON.parse(json.err)).toEqual({
    error: { code: 'validation_failed', message: expect.stringContaining('quiet_hours must be') as string },
  });
  expect(await beckon('key', 'list', '--project', 'Nobody')).toMatchObject({
    out: '',
    code: 1,
    err: 'There is no project "Nobody": project list shows their ids and names\n',
  });
});

test('a command that is not understood changes nothing and ends with 2', async () => {
  for (const args of [
    ['project', 'create'],
    ['project', 'destroy'],
    ['key', 'create', '--project', '1', '--name', 'x', '--env', 'prod'],
    ['rate-limit', 'set', '--project', '1', '--endpoint', 'events', '--rate', 'fast'],
    ['nope'],
  ])
    expect(await beckon(...args), args.join(' ')).toMatchObject({ code: 2, out: '' });
  expect((await beckon('key', 'list', '--project', '1', '--json')).json).toEqual([]);
});

test('a stored text cannot steer the terminal that shows it', async () => {
  await db.query(`UPDATE beckon.project SET name = E'evil\\x1b[2J'`);
  expect((await beckon('project', 'list')).out).not.toContain('\u001b');
});
