import { existsSync } from 'node:fs';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Command as Parser } from 'commander';
import { Beckon } from '@beckon/client';
import { createFakeServer, type FakeServer } from '@beckon/client/testing';
import { usage } from '../failure.ts';
import type { Command } from '../framework/declare.ts';
import { addCommand } from '../framework/program.ts';
import type { Shell } from '../shell.ts';
import { importCommand } from './command.ts';

let fake: FakeServer;
let cwd: string;
let out: string[];
let notes: string[];

beforeAll(async () => {
  fake = await createFakeServer();
});
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'beckon-import-'));
  out = [];
  notes = [];
});
afterEach(async () => {
  fake.reset();
  await rm(cwd, { recursive: true });
});
afterAll(() => fake.close());

type Given = { stdin?: string; isTerminal?: boolean; typed?: string; signal?: AbortSignal; client?: Beckon };

/** Runs `beckon users import …` with this client. */
async function run(command: string[], given: Given = {}): Promise<number> {
  const [kind = 'users', ...args] = command;
  const { stdin = '', isTerminal = false, typed, signal = new AbortController().signal } = given;
  const sink = (to: string[], terminal: boolean): Shell['stdout'] => ({
    isTerminal: terminal,
    columns: () => 120,
    write: async (text) => void to.push(text),
  });
  const shell = {
    cwd,
    env: {},
    now: Date.now,
    stdout: sink(out, isTerminal),
    stderr: sink(notes, isTerminal || typed !== undefined),
    stdin: {
      isTerminal: typed !== undefined,
      async *chunks() {
        for (const byte of Buffer.from(stdin)) yield new Uint8Array([byte]);
      },
    },
    ask: { text: async () => typed ?? null },
    onInterrupt: () => () => {},
    setExitCode: () => {},
  } as unknown as Shell;
  const client = given.client ?? new Beckon({ apiKey: fake.apiKey, url: fake.url, retry: { attempts: 2 } });
  const command_ = importCommand(kind as 'users');
  let ended: Promise<number> | null = null;
  const program = new Parser().exitOverride().option('--json');
  const work: Command['run'] = (context, input) => {
    const own = { ...context, client: async () => client, signal };
    ended = command_.run(own, input).then((exit) => exit ?? 0);
    return ended.then(() => {}).catch(() => {});
  };
  addCommand(program, { ...command_, run: work }, shell);
  const json = isTerminal || typed !== undefined ? [] : ['--json'];
  await program.parseAsync([...json, 'import', ...args], { from: 'user' });
  if (ended === null) throw usage(notes.at(-1) ?? '');
  return ended;
}

async function file(name: string, text: string | Uint8Array): Promise<string> {
  await writeFile(join(cwd, name), text);
  return name;
}
const read = (name: string): Promise<string> => readFile(join(cwd, name), 'utf8');
const users = (): unknown[] => [...fake.users.values()];
const lastLine = (): Record<string, unknown> => JSON.parse(out.at(-1) ?? '') as Record<string, unknown>;

describe('import', () => {
  test('keeps quotes inside a plain cell, and text after a closing quote', async () => {
    const name = await file('users.csv', 'id,size,nick\nu1,5" pipe,"a"b\n');
    expect(await run(['users', name])).toBe(0);
    expect(users()).toMatchObject([{ external_user_id: 'u1', traits: { size: '5" pipe', nick: 'ab' } }]);
  });

  test('maps known column names to fields and others to traits', async () => {
    const name = await file(
      'users.csv',
      '\uFEFFID,Email,Full Name,plan,seats,active,zip,created_at,notes\r\n' +
        'u1, ada@example.com ,Ada,7,3,TRUE,01234,2026-01-31,"two\nlines, ""quoted"""\r\n' +
        'u2,,,,,,,,\r\n',
    );
    expect(await run(['users', name])).toBe(0);
    expect(users()).toEqual([
      {
        external_user_id: 'u1',
        email: 'ada@example.com',
        traits: {
          name: 'Ada',
          plan: '7',
          seats: 3,
          active: true,
          zip: '01234',
          signupDate: '2026-01-31T00:00:00.000Z',
          notes: 'two\nlines, "quoted"',
        },
      },
      { external_user_id: 'u2', email: null, traits: {} },
    ]);
    expect(lastLine()).toMatchObject({
      type: 'report',
      rows: 2,
      accepted: 2,
      rejected: 0,
      rejected_file: null,
    });
    expect(existsSync(join(cwd, 'users.csv.beckon-import.json'))).toBe(false);
  });

  test('takes columns and types from options', async () => {
    const name = await file(
      'users.csv',
      'Kunde;id;Mail;Plätze;VIP;seit\n7;x;ada@example.com;03;ja;1767225600\n',
    );
    const said = ['--map=external_user_id=Kunde', '--map', 'email=Mail', '--map', 'traits.seats=Plätze'];
    const types = ['--types', 'seats=number', '--types', 'traits.VIP=text', '--types', 'seit=date'];
    expect(await run(['users', name, ...said, ...types])).toBe(0);
    expect(users()).toEqual([
      {
        external_user_id: '7',
        email: 'ada@example.com',
        traits: { id: 'x', seats: 3, VIP: 'ja', seit: '2026-01-01T00:00:00.000Z' },
      },
    ]);
  });

  test('imports events as history, in UTC, with the types of canonical properties', async () => {
    const name = await file(
      'events.csv',
      'user_id,event,timestamp,plan,count\nu1,subscription_started,2026-01-31 14:30:00+02:00,2026,3\nu1,Anything,1767225600,2026,\n',
    );
    expect(await run(['events', name])).toBe(0);
    expect(fake.events).toEqual([
      {
        external_user_id: 'u1',
        name: 'subscription_started',
        occurred_at: '2026-01-31T12:30:00.000Z',
        properties: { plan: '2026', count: 3 },
        suppressed: true,
      },
      {
        external_user_id: 'u1',
        name: 'Anything',
        occurred_at: '2026-01-01T00:00:00.000Z',
        properties: { plan: 2026 },
        suppressed: true,
      },
    ]);
  });

  test('reads JSONL in wire format or by key names', async () => {
    const lines = [
      { external_user_id: 'u1', traits: { plan: null, zip: '01234', ['__proto__']: 1 } },
      { id: 2, email: 'ada@example.com', seats: 3, tags: ['a'], joined: null },
    ];
    const name = await file('users.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join('\n'));
    expect(await run(['users', name])).toBe(0);
    expect(fake.requests[0]?.body).toEqual({
      users: [
        lines[0],
        { external_user_id: '2', email: 'ada@example.com', traits: { seats: 3, tags: ['a'], joined: null } },
      ],
    });
  });

  test('accepts any column name', async () => {
    const name = await file('users.csv', 'id,__proto__,constructor,traits.x.y\nu1,1,2,3\n');
    expect(await run(['users', name])).toBe(0);
    expect(JSON.stringify(fake.requests[0]?.body)).toBe(
      '{"users":[{"external_user_id":"u1","traits":{"__proto__":1,"constructor":2,"x.y":3}}]}',
    );
  });

  test('reads stdin in chunks of any size', async () => {
    expect(await run(['users', '-'], { stdin: 'id\tname\nü1\tÄda\n' })).toBe(0);
    expect(users()).toMatchObject([{ external_user_id: 'ü1', traits: { name: 'Äda' } }]);
    expect(await run(['events', '-', '--name', 'seen'], { stdin: '{"user":"u1","id":"m1"}' })).toBe(0);
    expect(fake.events).toMatchObject([{ name: 'seen', message_id: 'm1', external_user_id: 'u1' }]);
    expect(notes.join('')).toContain('cannot continue');
  });
});

describe('import rejects, before it sends anything,', () => {
  test.each([
    ['no user', 'users', 'name\nAda\n', [], 'No column holds the user ID'],
    ['no name', 'events', 'user_id,time\nu1,2026-01-01\n', [], 'No column holds the event name'],
    ['neither a time nor an id', 'events', 'user_id,event\nu1,a\n', [], 'cannot be distinguished'],
    ['a column that is not there', 'users', 'id\nu1\n', ['--map', 'email=Mail'], 'no such column'],
    ['two columns of one name', 'users', 'id,a,a\nu1,1,2\n', [], 'Two columns are named a'],
    ['a type that there is not', 'users', 'id\nu1\n', ['--types', 'a=integer'], 'is none of'],
    ['another encoding', 'users', Buffer.from('id,name\nu1,\xC4da\n', 'latin1'), [], 'not in UTF-8'],
    ['nothing', 'users', '', [], 'is empty'],
    ['line ends of CR alone', 'users', 'id,name\ru1,Ada\r', [], 'end with CR only'],
    ['an array', 'users', '[{"id":1}]', ['--format', 'jsonl'], 'one JSON array'],
    ['a number that is not theirs', 'events', 'user_id,event,id\nu1,a,1\n', ['--live=2'], 'has 1 events'],
    ['no number', 'events', 'user_id,event,id\nu1,a,1\n', ['--live'], 'needs the number'],
  ] as const)('%s', async (...[, kind, text, args, said]) => {
    const name = await file('given.csv', text);
    await expect(run([kind, name, ...args])).rejects.toMatchObject({
      exit: 2,
      message: expect.stringContaining(said),
    });
    expect(fake.requests).toEqual([]);
  });

  test('a file that is not there', async () => {
    await expect(run(['users', 'nowhere.csv'])).rejects.toMatchObject({ exit: 2 });
  });
});

test('import --live › lets rules fire only with the number of events', async () => {
  const name = await file('events.csv', 'user_id,event,id\nu1,a,1\nu1,a,2\n,a,3\n');
  expect(await run(['events', name, '--live=2'])).toBe(4);
  await expect(run(['events', name, '--live'], { typed: '3' })).rejects.toMatchObject({ exit: 2 });
  expect(await run(['events', name, '--live'], { typed: '2' })).toBe(4);
  expect(fake.events.map(({ suppressed }) => suppressed)).toEqual([false, false]);
  const unknown = await file('unknown.csv', 'user_id,event\nu1,b\nu1,b\n');
  expect(await run(['events', unknown, '--equal-rows-are-one'])).toBe(0);
  expect(fake.events.filter(({ name: event }) => event === 'b')).toHaveLength(1);
});

test('import --dry-run › counts records and lists problems, and sends nothing', async () => {
  const name = await file(
    'users.csv',
    'id,email,seats\nu1,ada@example.com,3\nu2,nowhere,3\n,,3\nu4,,x\nu5,nowhere,1\nu6,a\nu7,,,\n,,\n',
  );
  expect(await run(['users', name, '--dry-run', '--types', 'seats=number'])).toBe(4);
  expect(lastLine()).toMatchObject({
    type: 'dry_run',
    rows: 7,
    valid: 1,
    invalid: 6,
    problems: [
      { field: 'email', rows: 3, first_line: 3 },
      { field: 'external_user_id', rows: 1, first_line: 4 },
      { field: 'traits.seats', rows: 1, first_line: 5 },
      { field: null, rows: 1, first_line: 8, message: 'The row has 4 cells, and the header 3' },
    ],
    first: [{ external_user_id: 'u1', email: 'ada@example.com', traits: { seats: 3 } }],
  });
  expect(await run(['users', name, '--dry-run'], { isTerminal: true })).toBe(4);
  expect(out.at(-1)).toMatch(/^7 rows: 2 users would be sent, and 5 rows rejected. Nothing was sent./);
  expect(fake.requests).toEqual([]);
});

test('import › writes rejected rows with their reasons to a file that can be imported', async () => {
  const name = await file(
    'users.csv',
    'id,email,notes\nu1,nowhere,"a, ""b"""\nu2,no,"x\ny"\n,,z\n,,\nu3,ada,\nu4,,1\n',
  );
  expect(await run(['users', name])).toBe(4);
  expect(await read('users.csv.rejected.csv')).toBe(
    'beckon_line,beckon_field,beckon_message,id,email,notes\n' +
      '2,email,email must be a valid email address,u1,nowhere,"a, ""b"""\n' +
      '3,email,email must be a valid email address,u2,no,"x\ny"\n' +
      '5,external_user_id,There is no id of the user in this row,,,z\n' +
      '7,email,email must be a valid email address,u3,ada,\n',
  );
  expect(lastLine()).toMatchObject({ rows: 5, accepted: 1, rejected: 4 });
  const right = (await read('users.csv.rejected.csv'))
    .replace('nowhere', 'ada@example.com')
    .replace(',ada,', ',,');
  await file('again.csv', right);
  expect(await run(['users', 'again.csv'])).toBe(4);
  expect(fake.users.get('u1')).toMatchObject({ email: 'ada@example.com', traits: { notes: 'a, "b"' } });
  const lines = await file('users.jsonl', '{"id":"u1","email":"x"}\nno\n[]\n');
  expect(await run(['users', lines])).toBe(4);
  expect(
    (await read('users.jsonl.rejected.jsonl'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
  ).toEqual([
    {
      id: 'u1',
      email: 'x',
      beckon_line: 1,
      beckon_field: 'email',
      beckon_message: 'email must be a valid email address',
    },
    { beckon_row: 'no', beckon_line: 2, beckon_field: '', beckon_message: 'The line is not valid JSON' },
    { beckon_row: '[]', beckon_line: 3, beckon_field: '', beckon_message: 'The line is not a JSON object' },
  ]);
});

describe('an interrupted import', () => {
  const rows = (count: number): string =>
    `id,email\n${Array.from({ length: count }, (_, n) => `u${n},${n % 100 === 7 ? 'nowhere' : ''}`).join('\n')}\n`;

  async function stopped(name: string): Promise<void> {
    const controller = new AbortController();
    let requests = 0;
    const cutting: typeof fetch = async (url, init) => {
      requests += 1;
      if (requests > 3) controller.abort(new Error('stopped'));
      return fetch(url, init);
    };
    const client = new Beckon({ apiKey: fake.apiKey, url: fake.url, fetch: cutting });
    await expect(run(['users', name], { client, signal: controller.signal })).rejects.toThrow('stopped');
  }

  test('continues with the same idempotency keys, and rejects no row twice', async () => {
    const name = await file('users.csv', rows(9_000));
    await stopped(name);
    // Killed while it wrote: what the checkpoint does not know of is written again.
    await appendFile(join(cwd, 'users.csv.rejected.csv'), 'half a line,'.repeat(1_000));
    const sent = new Set(fake.requests.map(({ idempotencyKey }) => idempotencyKey));
    expect(await run(['users', name])).toBe(4);
    expect(lastLine()).toMatchObject({ rows: 9_000, accepted: 8_910, rejected: 90 });
    expect(lastLine()['resumed_after']).toBeGreaterThan(0);
    expect(fake.users.size).toBe(8_910);
    const rejected = (await read('users.csv.rejected.csv')).trim().split('\n').slice(1);
    expect(rejected.map((line) => line.split(',')[0])).toEqual(
      Array.from({ length: 90 }, (_, n) => String(n * 100 + 9)),
    );
    const keys = fake.requests.map(({ idempotencyKey }) => idempotencyKey);
    expect(keys.filter((key, at) => keys.indexOf(key) !== at).every((key) => sent.has(key))).toBe(true);
    expect(existsSync(join(cwd, 'users.csv.beckon-import.json'))).toBe(false);
  });

  test('does not continue with another file, other options or another server', async () => {
    const name = await file('users.csv', rows(9_000));
    await stopped(name);
    const elsewhere = new Beckon({ apiKey: `sk_live_${'b'.repeat(40)}`, url: fake.url });
    const refused = { exit: 2, message: expect.stringContaining('--restart') };
    await expect(run(['users', name], { client: elsewhere })).rejects.toMatchObject(refused);
    await expect(run(['users', name, '--types', 'x=text'])).rejects.toMatchObject(refused);
    await file('users.csv', rows(9_001));
    await expect(run(['users', name])).rejects.toMatchObject(refused);
    await writeFile(join(cwd, 'users.csv.beckon-import.json'), '{"version":1}');
    await expect(run(['users', name])).rejects.toMatchObject(refused);
    expect(await run(['users', name, '--restart'])).toBe(4);
    expect(lastLine()).toMatchObject({ rows: 9_001, resumed_after: 0, rejected: 90 });
  });

  test('stops at an unreadable row, and names its line', async () => {
    const name = await file('users.csv', `${rows(3_000)}u,"never closed\n`);
    const message =
      'Cannot read line 3002 of the file. This row is longer than 1 MiB, or a quote in it is never closed';
    await expect(run(['users', name])).rejects.toMatchObject({ code: 'unreadable', exit: 1, message });
    expect(fake.users.size).toBeLessThanOrEqual(3_000);
  });
});
