import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createFakeServer } from '@beckon/client/testing';
import { testShell } from '../../testkit/shell.ts';
import { testWorld } from '../../testkit/world.ts';

const world = await testWorld();
const [token, reading] = [await world.tokenFor(['read', 'review']), await world.tokenFor(['read'])];
const env = { BECKON_URL: world.url, BECKON_API_KEY: world.apiKey, BECKON_TOKEN: token };
const shell = testShell(env);
let draft = '';
// oxlint-disable-next-line no-control-regex
const plain = (text: string): string => text.replaceAll(/\u001B\[\d+m/g, '');

/** Tells of a sign-up, and waits until its letter is drafted. */
async function draftFor(user: string): Promise<string> {
  const tail = shell.begin(['tail', 'type:draft', `user:${user}`]);
  await tail.said('Following');
  const told = await shell.type([
    'trigger',
    'user_signed_up',
    '--live',
    '--user',
    user,
    '--email',
    `${user}@example.com`,
  ]);
  expect([told.code, told.err]).toEqual([0, '']);
  await tail.said('"scheduled"');
  tail.interrupt();
  expect((await tail.ended).code).toBe(0);
  return ((await shell.type(['drafts', 'list', `user:${user}`])).lines[0] as { id: string }).id;
}

beforeAll(async () => {
  draft = await draftFor('u1');
});

/** Every command that asks the server: as it is typed right, and typed wrong. */
const COMMANDS: { right: () => string[]; wrong: string[]; shows: RegExp }[] = [
  { right: () => ['whoami'], wrong: ['whoami', 'more'], shows: /You are ada/ },
  {
    right: () => ['track', 'u2', 'report_exported', '-p', 'pages=3'],
    wrong: ['track', 'u2'],
    shows: /Accepted: report_exported of u2/,
  },
  {
    right: () => ['users', 'upsert', 'u2', '-t', 'plan=pro'],
    wrong: ['users', 'upsert', 'u2', '--trait', 'plan'],
    shows: /Accepted: u2/,
  },
  {
    right: () => ['trigger', 'payment_failed', '--live'],
    wrong: ['trigger', 'payment_lost'],
    shows: /Accepted: payment_failed of beckon-trigger/,
  },
  { right: () => ['drafts', 'list'], wrong: ['drafts', 'list', '--limit', '0'], shows: /Welcome to Acme/ },
  {
    right: () => ['drafts', 'show', draft],
    wrong: ['drafts', 'show'],
    shows: /because +user_signed_up happened/,
  },
  { right: () => ['explain', 'u1', 'welcome'], wrong: ['explain'], shows: /a run started/ },
  { right: () => ['rules', 'list'], wrong: ['rules', 'list', '--all'], shows: /onboarding_stall/ },
  {
    right: () => ['rules', 'test', 'welcome', '--since', '2d'],
    wrong: ['rules', 'test', 'welcome', '--since', '2y'],
    shows: /Welcome to Acme/,
  },
  {
    right: () => ['webhooks', 'deliveries'],
    wrong: ['webhooks', 'deliveries', '--state', 'lost'],
    shows: /No webhooks so far/,
  },
  {
    right: () => ['webhooks', 'replay', '--failed', '--since', '1h'],
    wrong: ['webhooks', 'replay', '--failed'],
    shows: /sent again: 0/,
  },
  {
    right: () => ['types', 'pull', '--out', '-'],
    wrong: ['types', 'pull', '--in', 'x'],
    shows: /declare module '@beckon\/client'/,
  },
  { right: () => ['doctor'], wrong: ['doctor', '--all'], shows: /✓ key {6}It is right/ },
];

describe.each(COMMANDS.map((one) => ({ ...one, name: one.wrong.slice(0, 2).join(' ') })))('$name', (one) => {
  test('shows people what they asked for, and gives programs JSON', async () => {
    const people = await shell.type(one.right(), { terminal: true });
    expect([people.code, people.err.replaceAll(/\r.*$/gm, '')]).toEqual([
      0,
      expect.not.stringContaining('error'),
    ]);
    expect(plain(people.out)).toMatch(one.shows);
    if (one.right().at(-1) === '-') return;
    const piped = await shell.type(one.right());
    expect([piped.code, piped.out.split('\n').filter((line) => line !== '').length]).toEqual([
      0,
      piped.lines.length,
    ]);
    const json = await shell.type([...one.right(), '--json'], { terminal: true });
    expect([json.code, json.lines.length]).toEqual([0, 1]);
  });

  test('says what is wrong, and ends with 2, 3 or 1', async () => {
    const wrong = await shell.type(one.wrong);
    expect([wrong.code, JSON.parse(wrong.err), wrong.out]).toMatchObject([2, { code: 'usage' }, '']);
    const nobody = { BECKON_TOKEN: `bkp_${'x'.repeat(40)}`, BECKON_API_KEY: `sk_live_${'x'.repeat(40)}` };
    const refused = await shell.type(one.right(), { env: nobody });
    expect(refused.code).toBe(3);
    const away = await shell.type(one.right(), { env: { BECKON_URL: 'http://127.0.0.1:9' } });
    expect(away.code).toBe(1);
  }, 60_000);
});

test('a draft is decided by whoever may, and only as it was seen', async () => {
  const id = await draftFor('u3');
  const shown = (await shell.type(['drafts', 'show', id])).lines[0] as { draft: { content_hash: string } };
  const old = await shell.type([
    'drafts',
    'approve',
    id,
    '--hash',
    `${shown.draft.content_hash.slice(0, -1)}_`,
  ]);
  expect([old.code, JSON.parse(old.err)]).toMatchObject([1, { code: 'conflict' }]);
  const denied = await shell.type(['drafts', 'skip', id], { env: { BECKON_TOKEN: reading } });
  expect([denied.code, denied.err]).toEqual([3, expect.stringContaining('scope review')]);
  const until = await shell.type(['drafts', 'postpone', id, '--until', '5h']);
  expect(until.code).toBe(0);
  expect((await shell.type(['drafts', 'postpone', id, '--until', 'soon'])).code).toBe(2);
  const approved = await shell.type(['drafts', 'approve', id], { terminal: true });
  expect([approved.code, approved.out]).toEqual([0, expect.stringContaining('to u3 is approved')]);
  const other = await draftFor('u4');
  const skipped = await shell.type(['drafts', 'skip', other, '--reason', 'by phone']);
  expect(skipped.lines[0]).toMatchObject({ draft: { state: 'skipped', reason: 'by phone' } });
  expect((await shell.type(['drafts', 'list', `user:u4`])).lines).toEqual([]);
});

test('properties are JSON where they are some, ids keep their digits, and more comes from a file or stdin', async () => {
  const data = join(shell.folder, 'data.json');
  await writeFile(data, '{"pages":1,"nested":{"a":[1]}}');
  const typed = [
    '-p',
    'pages=2',
    '-p',
    'phone=00491701234567',
    '-p',
    'big=12345678901234567890',
    '-p',
    'yes=true',
    '-p',
    'text=a=b',
    '-p',
    '__proto__=x',
  ];
  const file = await shell.type([
    'track',
    'u2',
    'typed',
    '--data',
    data,
    ...typed,
    '--at',
    '2026-11-20',
    '--message-id',
    'm1',
  ]);
  const { event } = file.lines[0] as { event: { properties: object } };
  expect(JSON.stringify(event)).toBe(
    '{"external_user_id":"u2","name":"typed","properties":{"pages":2,"nested":{"a":[1]},"phone":"00491701234567","big":"12345678901234567890","yes":true,"text":"a=b","__proto__":"x"},"occurred_at":"2026-11-20T00:00:00.000Z","message_id":"m1"}',
  );
  const piped = await shell.type(['users', 'upsert', 'u2', '--data', '-'], { stdin: '{"plan":"pro"}' });
  expect(piped.lines[0]).toMatchObject({ user: { traits: { plan: 'pro' } } });
  for (const stdin of ['[]', '{', ''])
    expect((await shell.type(['track', 'u2', 'e', '--data', '-'], { stdin })).code).toBe(2);
  expect((await shell.type(['track', 'u2', 'e', '--at', 'yesterday'])).code).toBe(2);
  expect((await shell.type(['users', 'upsert', 'u2', '--email', 'nobody'])).code).toBe(2);
});

test('with a live key an example is only sent by who says that it is meant', async () => {
  const silent = await shell.type(['trigger', 'feature_used']);
  expect([silent.code, silent.err]).toEqual([2, expect.stringContaining('--live')]);
  const no = await shell.type(['trigger', 'feature_used'], { terminal: true, answers: [false] });
  expect(no.code).toBe(2);
  const yes = await shell.type(['trigger', 'feature_used', '-p', 'count=7'], {
    terminal: true,
    answers: [true],
  });
  expect([yes.code, yes.out]).toEqual([0, expect.stringContaining('"count":7')]);
  expect(shell.asked.at(-1)).toContain('letters may go out');
});

test('a live key has no clock', async () => {
  const now = await shell.type(['clock', 'now']);
  expect([now.code, JSON.parse(now.err)]).toMatchObject([3, { code: 'forbidden' }]);
  expect((await shell.type(['clock', 'advance', '1y'])).code).toBe(2);
});

test('init writes what is missing, and touches nothing that is there', async () => {
  const own = testShell(env);
  const made = await own.type(['init'], { terminal: true });
  expect([made.code, made.out]).toEqual([
    0,
    expect.stringContaining('node --env-file=.env beckon-sample.mjs'),
  ]);
  const path = join(own.folder, '.env');
  expect(await readFile(path, 'utf8')).toBe(`BECKON_URL=${world.url}\nBECKON_API_KEY=${world.apiKey}\n`);
  expect((await own.type(['init'])).lines).toEqual([{ env: 'kept', sample: 'kept', env_is_ignored: null }]);
  await writeFile(path, 'A=1\nexport BECKON_URL = https://mine.example');
  execFileSync('git', ['init', '--quiet'], { cwd: own.folder });
  const again = await own.type(['init'], { env: { BECKON_API_KEY: '' } });
  expect(again.lines).toEqual([{ env: 'completed', sample: 'kept', env_is_ignored: false }]);
  await writeFile(join(own.folder, '.gitignore'), '.env\n');
  expect((await own.type(['init'])).lines).toMatchObject([{ env_is_ignored: true }]);
  expect(await readFile(path, 'utf8')).toBe(
    'A=1\nexport BECKON_URL = https://mine.example\nBECKON_API_KEY=\n',
  );
});

test('types are pulled into a file that this command wrote, and over no other', async () => {
  const out = join(shell.folder, 'mine.d.ts');
  await writeFile(out, '// by hand');
  const refused = await shell.type(['types', 'pull', '--out', out]);
  expect([refused.code, await readFile(out, 'utf8')]).toEqual([2, '// by hand']);
  expect((await shell.type(['types', 'pull', '--out', out, '--force'])).code).toBe(0);
  expect(await readFile(out, 'utf8')).toContain('"report_exported"');
  expect((await shell.type(['types', 'pull', '--out', out])).code).toBe(0);
});

test('a project is meant by its id or its name, and one that is not there is told with those that are', async () => {
  expect((await shell.type(['rules', 'list', '--project', 'Acme'])).code).toBe(0);
  expect((await shell.type(['rules', 'list', '--project', String(world.projectId)])).code).toBe(0);
  const none = await shell.type(['rules', 'list', '--project', 'Acne']);
  expect([none.code, none.err]).toEqual([2, expect.stringContaining('  1  Acme')]);
  const foreign = await shell.type(['rules', 'list', '--project', '4711']);
  expect([foreign.code, JSON.parse(foreign.err)]).toMatchObject([1, { code: 'not_found' }]);
});

test('tail shows what came before where that is wanted, and help says whose command line this is', async () => {
  const tail = shell.begin(['tail', 'type:event', '--last', '2'], { terminal: true });
  const said = await tail.said('Following');
  tail.interrupt();
  expect(plain(said)).toMatch(/event {11}\S+ {2}\w+\n.*event {11}/);
  expect((await tail.ended).code).toBe(0);
  const help = await shell.type(['--help']);
  expect([help.code, help.out]).toEqual([0, expect.stringContaining('npm run beckon -- --help')]);
  expect((await shell.type(['drafts'])).code).toBe(2);
  expect((await shell.type(['--version'])).out).toBe('0.1.0\n');
});

test('the clock of a sandbox is told, and goes on when it is told to', async () => {
  const fake = await createFakeServer();
  const test = { BECKON_URL: fake.url, BECKON_API_KEY: fake.apiKey };
  try {
    const before = (await shell.type(['clock', 'now'], { env: test })).lines[0] as { now: string };
    const advanced = await shell.type(['clock', 'advance', '7d'], { env: test });
    expect([advanced.code, advanced.lines]).toMatchObject([0, [{ advanced_ms: 7 * 86_400_000, letters: 0 }]]);
    const after = (await shell.type(['clock', 'now'], { env: test })).lines[0] as { now: string };
    expect(Date.parse(after.now) - Date.parse(before.now)).toBeGreaterThanOrEqual(7 * 86_400_000);
    // An example does no harm here, and nobody is asked.
    expect((await shell.type(['trigger', 'trial_started'], { env: test })).code).toBe(0);
    expect(fake.events).toMatchObject([{ name: 'trial_started', properties: { trialDays: 14 } }]);
  } finally {
    await fake.close();
  }
});

test('files are imported with the same options, answers and exit codes as all commands have', async () => {
  const file = join(shell.folder, 'users.csv');
  await writeFile(file, 'id,email,plan\nu20,u20@example.com,pro\nu21,nobody,pro\n');
  const nobody = { BECKON_API_KEY: '', BECKON_URL: 'http://127.0.0.1:9' };
  const dry = await shell.type(['users', 'import', file, '--dry-run'], { env: nobody });
  expect([dry.code, dry.lines]).toMatchObject([4, [{ type: 'dry_run', rows: 2, valid: 1 }]]);
  const done = await shell.type(['users', 'import', file]);
  expect([done.code, done.lines.at(-1)]).toMatchObject([4, { accepted: 1, rejected: 1 }]);
  const piped = await shell.type(['events', 'import', '-', '--format', 'jsonl'], {
    stdin: '{"external_user_id":"u20","name":"paid","message_id":"m20"}\n',
  });
  expect([piped.code, piped.lines.at(-1)]).toMatchObject([0, { accepted: 1, rejected: 0 }]);
  expect((await shell.type(['users', 'import', '-', '--key-file', '-'])).code).toBe(2);
  expect((await shell.type(['users', 'import', file, '--format', 'xml'])).code).toBe(2);
  expect((await shell.type(['users', 'import', `${file}.absent`])).code).toBe(2);
  expect(
    (await shell.type(['users', 'import', file, '--restart'], { env: nobody, terminal: true })).code,
  ).toBe(3);
});
