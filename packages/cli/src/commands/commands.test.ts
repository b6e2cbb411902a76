import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { testCases } from '../../testkit/cases.ts';
import { testShell } from '../../testkit/shell.ts';
import { testWorld } from '../../testkit/world.ts';

const world = await testWorld();
const [token, reading] = [await world.tokenFor(['read', 'review']), await world.tokenFor(['read'])];
const env = {
  BECKON_URL: world.url,
  BECKON_API_KEY: world.apiKey,
  BECKON_TOKEN: token,
  BECKON_PROJECT: 'Acme',
};
const shell = testShell(env);
const local = testShell({ DATA_DIR: await world.localSocket() });

/** Sends a sign-up, and waits until its draft exists. */
async function draftFor(user: string): Promise<string> {
  const tail = shell.start(['tail', '--json', 'type:draft', `user:${user}`]);
  await tail.waitFor('Following');
  const sent = ['trigger', 'user_signed_up', '--live', '--user', user, '--email', `${user}@example.com`];
  expect(await shell.run(sent)).toMatchObject({ code: 0, err: '' });
  await tail.waitFor('"scheduled"');
  tail.interrupt();
  expect((await tail.ended).code).toBe(0);
  const [draft] = (await shell.json(['drafts', 'list', `user:${user}`])) as { id: string }[];
  return draft?.id ?? '';
}

let draft = '';
beforeAll(async () => {
  draft = await draftFor('u1');
});

describe('every command', () => {
  const WRONG = { BECKON_TOKEN: `bkp_${'x'.repeat(40)}`, BECKON_API_KEY: `sk_live_${'x'.repeat(40)}` };
  test.each(['whoami', 'track u2 e', 'users list', 'drafts list', 'explain u1', 'types pull --out -'])(
    '%s ends with 3 for wrong credentials, and with 1 for an unreachable server',
    async (typed) => {
      const args = typed.split(' ');
      const refused = await shell.run([...args, '--json'], { env: WRONG });
      expect([refused.code, refused.out, JSON.parse(refused.err)]).toMatchObject([
        3,
        '',
        { error: { code: /./ } },
      ]);
      expect((await shell.run(args, { env: { BECKON_URL: 'http://127.0.0.1:9' } })).code).toBe(1);
    },
    60_000,
  );

  test('ends with 2 for invalid input, with the reason as text or as JSON', async () => {
    const text = await shell.run(['drafts', 'list', '--limit', '0']);
    expect(text).toMatchObject({ code: 2, out: '', err: expect.stringContaining('error: --limit must be') });
    const json = await shell.run(['whoami', 'more', '--json']);
    expect([json.code, JSON.parse(json.err)]).toMatchObject([2, { error: { code: 'usage' } }]);
    expect((await shell.run(['drafts'])).code).toBe(2);
    expect((await shell.run(['--version'])).out).toBe('0.1.0\n');
  });
});

describe('projects', () => {
  testCases(local, [
    { run: 'projects list', shows: /Acme +live +active +owner/, json: [{ name: 'Acme' }] },
    { run: 'projects create Second --time-zone Europe/Berlin', json: { time_zone: 'Europe/Berlin' } },
    { run: 'projects create Third', shows: /Created project Third \(ID \d+\)/ },
    { run: 'projects create', fails: [2, /missing required argument/] },
    { run: 'keys list', fails: [2, /Choose a project with --project.*\n +1 +Acme\n/] },
    { run: 'keys list --project Acne', fails: [2, /Unknown project Acne/] },
    { run: 'keys list --project 4711', fails: [1, /./] },
    { run: 'use Acne', fails: [2, /Unknown project Acne/] },
    { run: 'use Acme', shows: /now use project Acme/, json: { id: '1' } },
  ]);
});

describe('keys', () => {
  let id = '';
  testCases(local, [
    {
      run: 'keys create --name worker',
      json: { secret: expect.stringMatching(/^sk_live_/) },
      keep: (key: { id: string }) => (id = key.id),
    },
    { run: 'keys create --name other', shows: /^sk_live_\S+\n\nStore the key now/ },
    { run: 'keys create', fails: [2, /--name/] },
    { run: 'keys create --name x --env prod', fails: [2, /live, test/] },
    {
      run: 'keys list',
      shows: /worker +live +sk_live_.*active/,
      json: expect.arrayContaining([expect.objectContaining({ label: 'worker' })]),
    },
    { run: () => `keys revoke ${id}`, fails: [2, /Requests that use it fail.*--yes/] },
    { run: () => `keys revoke ${id}`, answers: [true], shows: /Revoked key worker/ },
    { run: () => `keys revoke ${id} --yes`, shows: /already revoked/, json: { label: 'worker' } },
    { run: 'keys revoke x --yes', fails: [1, /Unknown key x/] },
  ]);
});

describe('webhooks', () => {
  let id = '';
  const at = 'http://127.0.0.1:20999/hooks';
  testCases(local, [
    { run: 'webhooks list', shows: /No webhook endpoints yet/, json: [] },
    { run: 'webhooks deliveries', shows: /No webhook deliveries yet/, json: [] },
    {
      run: `webhooks create ${at} --types email.opened`,
      json: { secret: expect.stringMatching(/^whsec_/) },
      keep: (made: { id: string }) => (id = made.id),
    },
    { run: `webhooks create nowhere`, fails: [2, /url/] },
    { run: 'webhooks list', shows: /hooks +email\.opened +enabled/, json: [{ url: at }] },
    { run: () => `webhooks show ${id}`, shows: /per second +50/, json: { url: at } },
    {
      run: () => `webhooks update ${id} --description 'my server' --types all`,
      shows: /types +all\n/,
    },
    { run: () => `webhooks update ${id}`, fails: [2, /No changes given.*one of --to, --types/] },
    {
      run: () => `webhooks rotate ${id} --overlap 2d`,
      shows: /whsec_/,
      json: { secrets: expect.any(Array) },
    },
    { run: () => `webhooks rotate ${id} --overlap 0`, fails: [2, /ends immediately.*--yes/] },
    { run: () => `webhooks rotate ${id} --overlap soon`, fails: [2, /--overlap must be a duration/] },
    { run: () => `webhooks disable ${id}`, shows: /Disabled .*hooks\. 0 pending deliveries missed/ },
    { run: 'webhooks list', shows: /disabled \(by a member\)/ },
    { run: () => `webhooks enable ${id}`, shows: /Enabled .*hooks/, json: { state: 'enabled' } },
    { run: 'webhooks replay --missed', shows: /0 deliveries/, json: { replayed: 0 } },
    { run: 'webhooks replay --since 1h --states lost', fails: [2, /lost is not one of/] },
    { run: 'webhooks replay', fails: [2, /since/] },
    { run: 'webhooks delivery x y', fails: [2, /message/] },
    { run: () => `webhooks delete ${id}`, fails: [2, /Delete the webhook endpoint .*--yes/] },
    { run: () => `webhooks delete ${id} --yes`, json: { canceled: 0 } },
  ]);

  test('test shows the failed attempt and ends with 1', async () => {
    const made = (await local.json(['webhooks', 'create', at])) as { id: string };
    const { code, out } = await local.run(['webhooks', 'test', made.id]);
    expect([code, out]).toEqual([1, expect.stringMatching(/number +trigger +time +ended/)]);
    const [delivery] = (await local.json(['webhooks', 'deliveries'])) as { id: string }[];
    const result = await local.run(['webhooks', 'delivery', delivery?.id ?? '', made.id]);
    expect(result.out).toContain('"type":"test"');
  });
});

describe('drafts', () => {
  testCases(shell, [
    { run: 'drafts list', shows: /scheduled +welcome +u1 +Welcome to Acme/, json: [{ state: 'scheduled' }] },
    { run: 'drafts list user:unknown', shows: /No matches for this filter/, json: [] },
    { run: () => `drafts show ${draft}`, shows: /because +user_signed_up happened/, json: { user: {} } },
    { run: () => `drafts preview ${draft}`, shows: /subject +Welcome to Acme/, json: { problems: [] } },
    { run: 'drafts upcoming', shows: /expected\n|No draft is sent at a deadline/, json: expect.any(Array) },
    { run: () => `drafts versions ${draft}`, shows: /Welcome to Acme/, json: { versions: [{}] } },
    { run: () => `drafts approve ${draft} --hash wrong`, fails: [1, /./] },
    { run: () => `drafts postpone ${draft} --until 5h`, shows: /to u1 is scheduled/, json: { draft: {} } },
    { run: () => `drafts postpone ${draft} --until soon`, fails: [2, /--until must be a time/] },
    { run: 'drafts approve', fails: [2, /Pass a draft ID, or --rule or --filter/] },
    { run: () => `drafts approve ${draft} --rule welcome`, fails: [2, /Pass a draft ID/] },
    { run: 'drafts approve --rule welcome --anyway', fails: [2, /--anyway needs a draft ID/] },
    { run: 'drafts skip --rule welcome --hash x', fails: [2, /--hash needs a draft ID/] },
    { run: () => `drafts approve ${draft}`, shows: /“Welcome to Acme” to u1 is approved/ },
    { run: () => `drafts undo ${draft}`, json: { draft: { state: 'scheduled' } } },
  ]);

  test('approve and skip need the scope review', async () => {
    const denied = await shell.run(['drafts', 'skip', draft], { env: { BECKON_TOKEN: reading } });
    expect([denied.code, denied.err]).toEqual([3, expect.stringContaining('scope review')]);
  });

  test('edit changes the text that the file names', async () => {
    const [right, wrong] = [join(local.folder, 'edit.json'), join(local.folder, 'wrong.json')];
    await writeFile(right, '{"subject":"Hello"}');
    await writeFile(wrong, '{"title":"Hello"}');
    const edited = await local.json(['drafts', 'edit', draft, '--file', right]);
    expect(edited).toMatchObject({ draft: { subject: 'Hello', edited: true } });
    for (const file of [wrong, join(local.folder, 'absent.json')])
      expect((await local.run(['drafts', 'edit', draft, '--file', file])).code).toBe(2);
  });

  test('send-test sends a copy, and send-again refuses a draft that did not fail', async () => {
    const sent = await local.run(['drafts', 'send-test', draft, '--to', 'ada@x.org']);
    expect([sent.code, sent.out]).toEqual([0, expect.stringContaining('Hello” to ada@x.org: 250')]);
    expect((await local.run(['drafts', 'send-again', draft])).code).toBe(1);
  });

  test('skip of several drafts previews them, and asks before it skips', async () => {
    await draftFor('u3');
    const args = ['drafts', 'skip', '--rule', 'welcome', '--filter', 'user:u3'];
    const result = await local.run([...args, '--reason', 'by phone']);
    expect([result.code, result.err]).toEqual([
      2,
      expect.stringMatching(/1 of rule welcome[^]*Skip 1 draft\? Pass --yes/),
    ]);
    const refused = await local.run(args, { terminal: true, answers: [false] });
    expect([refused.code, refused.err]).toEqual([130, expect.stringContaining('No changes were made')]);
    expect(await local.json([...args, '--yes'])).toMatchObject({
      changed: [{ state: 'skipped' }],
      unchanged: [],
    });
    expect((await local.run([...args, '--yes'])).out).toBe('No matching drafts.\n');
  });
});

describe('users', () => {
  testCases(shell, [
    { run: 'users list', shows: /u1 +u1@example.com/ },
    { run: 'users list user:u1', json: [{ external_user_id: 'u1' }] },
    { run: 'users show u1', shows: /Timeline\n/, json: { email: 'u1@example.com' } },
    { run: 'users history u1 --at soon', fails: [2, /--at/] },
    { run: 'users history u1 --at 1s', json: { state: expect.any(String) } },
    { run: 'users show unknown', fails: [1, /./] },
    {
      run: 'users upsert u2 -t plan=pro',
      shows: /Accepted user u2/,
      json: { user: { traits: { plan: 'pro' } } },
    },
    { run: 'users upsert u2 --trait plan', fails: [2, /--trait: write key=value/] },
    { run: 'users upsert u2 --email not-an-address', fails: [2, /email/] },
    { run: 'users erase u9', fails: [2, /cannot be undone.*--yes/] },
  ]);

  test('export writes everything about a user, once, to a private file; erase removes it', async () => {
    const exported = await local.json(['users', 'export', 'u1']);
    expect(JSON.stringify(exported)).toContain('u1@example.com');
    const { code, out } = await local.run(['users', 'export', 'u1', '--out', 'u1.json']);
    expect([code, out]).toEqual([0, expect.stringMatching(/^Wrote [\d,]+ bytes to u1.json/)]);
    expect((await local.run(['users', 'export', 'u1', '--out', 'u1.json'])).code).toBe(1);
    await draftFor('u5');
    expect(await local.json(['users', 'erase', 'u5', '--yes'])).toMatchObject({ external_user_id: 'u5' });
    expect((await local.run(['users', 'show', 'u5'])).code).toBe(1);
  });
});

describe('track and trigger', () => {
  test('track keeps JSON types and the digits of ids, and reads more from a file or stdin', async () => {
    const data = join(shell.folder, 'data.json');
    await writeFile(data, '{"pages":1,"nested":{"a":[1]}}');
    const pairs = [
      'pages=2',
      'phone=00491701234567',
      'big=12345678901234567890',
      'yes=true',
      'text=a=b',
      '__proto__=x',
    ];
    const typed = ['track', 'u2', 'typed', '--data', data, ...pairs.flatMap((pair) => ['-p', pair])];
    const { event } = (await shell.json([...typed, '--at', '2026-11-20', '--message-id', 'm2'])) as {
      event: object;
    };
    expect(JSON.stringify(event)).toBe(
      '{"external_user_id":"u2","name":"typed","properties":{"pages":2,"nested":{"a":[1]},"phone":"00491701234567","big":"12345678901234567890","yes":true,"text":"a=b","__proto__":"x"},"occurred_at":"2026-11-20T00:00:00.000Z","message_id":"m2"}',
    );
    const piped = await shell.json(['users', 'upsert', 'u2', '--data', '-'], { stdin: '{"plan":"pro"}' });
    expect(piped).toMatchObject({ user: { traits: { plan: 'pro' } } });
    for (const stdin of ['[]', '{', ''])
      expect((await shell.run(['track', 'u2', 'e', '--data', '-'], { stdin })).code).toBe(2);
    expect((await shell.run(['track', 'u2', 'e', '--at', 'yesterday'])).code).toBe(2);
  });

  test('trigger with a live key needs --live or a yes', async () => {
    const silent = await shell.run(['trigger', 'feature_used']);
    expect([silent.code, silent.err]).toEqual([2, expect.stringContaining('--live')]);
    for (const answers of [[false], [null]])
      expect(await shell.run(['trigger', 'feature_used'], { terminal: true, answers })).toMatchObject({
        code: 130,
        err: expect.stringContaining('Canceled. No changes were made.'),
      });
    const args = ['trigger', 'feature_used', '-p', 'count=7'];
    const yes = await shell.run(args, { terminal: true, answers: [true] });
    expect([yes.code, yes.out]).toEqual([0, expect.stringContaining('"count":7')]);
    expect(shell.questions.at(-1)).toContain('emails may be sent');
    expect((await shell.run(['trigger', 'payment_lost'])).code).toBe(2);
  });
});

describe('events, explain, types, tail and doctor', () => {
  testCases(shell, [
    { run: 'events list', shows: /user_signed_up +\d+ +\d+ +just now +yes/ },
    { run: 'events show user_signed_up', shows: /plan +string[^]*plan trial/, json: { canonical: true } },
    { run: 'events show nothing', fails: [1, /./] },
    { run: 'explain u1 welcome', shows: /welcome: would/, json: [{ rule: { name: 'welcome' } }] },
    { run: 'explain', fails: [2, /missing required argument/] },
    { run: 'doctor', shows: /✓ key {6}Valid, a live key/, json: { checks: expect.any(Array) } },
  ]);
  testCases(local, [
    { run: 'events expect user_signed_up', shows: /is expected as it is now/ },
    { run: 'events ignore-changes user_signed_up', json: { expected: null } },
    { run: 'users list user:u1 --csv', shows: /^\S*external_user_id.*\n"?u1"?,/ },
  ]);

  test('types pull writes its file, and replaces only a file that it wrote', async () => {
    const out = join(shell.folder, 'mine.d.ts');
    await writeFile(out, '// by hand');
    const refused = await shell.run(['types', 'pull', '--out', out]);
    expect([refused.code, await readFile(out, 'utf8')]).toEqual([2, '// by hand']);
    expect((await shell.run(['types', 'pull', '--out', out, '--force'])).code).toBe(0);
    expect(await readFile(out, 'utf8')).toContain('"typed"');
    expect((await shell.run(['types', 'pull', '--out', out])).code).toBe(0);
    expect((await shell.run(['types', 'pull', '--out', '-'])).out).toMatch(
      /declare module '@beckon\/client'/,
    );
  });

  test('tail shows the newest entries first, if asked', async () => {
    const tail = shell.start(['tail', 'type:event', '--last', '2']);
    const text = await tail.waitFor('Following');
    tail.interrupt();
    expect(text).toMatch(/^\d{4}-\d\d-\d\dT\S+Z {2}event {12}\S+ {2}\w+.*\n.*event {12}/m);
    expect((await tail.ended).code).toBe(0);
  });

  test('tail ends with --no-follow, and activity export writes everything as lines of JSON', async () => {
    const ended = await shell.run(['tail', 'type:event', '--since', '1h', '--no-follow', '--json']);
    expect([ended.code, ended.lines.length > 2, ended.err]).toEqual([0, true, '']);
    const { code, lines } = await local.run(['activity', 'export', 'type:event']);
    expect([code, lines[0]]).toMatchObject([0, { type: 'event', name: 'user_signed_up' }]);
  });
});

describe('clock', () => {
  testCases(local, [
    { run: 'clock show', fails: [1, /no sandbox/] },
    { run: 'clock advance 7d', fails: [1, /no sandbox/] },
  ]);
});

describe('init', () => {
  test('writes what is missing, and changes nothing that is there', async () => {
    const freshShell = testShell(env);
    const { code, out } = await freshShell.run(['init']);
    expect([code, out]).toEqual([0, expect.stringContaining('node --env-file=.env beckon-sample.mjs')]);
    const path = join(freshShell.folder, '.env');
    expect(await readFile(path, 'utf8')).toBe(`BECKON_URL=${world.url}\nBECKON_API_KEY=${world.apiKey}\n`);
    expect(await freshShell.json(['init'])).toEqual({
      env: 'unchanged',
      sample: 'unchanged',
      env_is_ignored: null,
    });
    await writeFile(path, 'A=1\nexport BECKON_URL = https://mine.example');
    execFileSync('git', ['init', '--quiet'], { cwd: freshShell.folder });
    const again = await freshShell.json(['init'], { env: { BECKON_API_KEY: '' } });
    expect(again).toEqual({ env: 'completed', sample: 'unchanged', env_is_ignored: false });
    await writeFile(join(freshShell.folder, '.gitignore'), '.env\n');
    expect(await freshShell.json(['init'])).toMatchObject({ env_is_ignored: true });
    expect(await readFile(path, 'utf8')).toBe(
      'A=1\nexport BECKON_URL = https://mine.example\nBECKON_API_KEY=\n',
    );
  });
});
