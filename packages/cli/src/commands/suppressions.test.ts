import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { testCases } from '../../testkit/cases.ts';
import { testShell } from '../../testkit/shell.ts';
import { testWorld } from '../../testkit/world.ts';
import { piecesOf } from './suppression-import.ts';

const world = await testWorld();
const local = testShell({ DATA_DIR: await world.localSocket() });
const at = (file: string): string => join(local.folder, file);

beforeAll(async () => {
  const tail = local.start(['tail', '--json', 'type:user_created']);
  await tail.waitFor('Following');
  const sending = testShell({ BECKON_URL: world.url, BECKON_API_KEY: world.apiKey });
  await sending.json(['users', 'upsert', 'u1', '--email', 'u1@example.com']);
  await tail.waitFor('u1');
  tail.interrupt();
  await writeFile(at('list.csv'), 'email,reason\na@example.com,bounce\nb@example.com,\nnot-an-address,\n');
});

describe('suppressions', () => {
  testCases(local, [
    { run: 'suppressions list', shows: /No suppressions yet/, json: [] },
    { run: 'suppressions topics', shows: /No user unsubscribed from a topic yet/, json: [] },
    {
      run: 'suppressions check --user u1',
      shows: /can receive email now +(yes|no)\nsuppressed +no[^]*u1 <u1@example\.com>\ncheck +passes +reason/,
      json: { suppression: null },
    },
    { run: 'suppressions check --email x@example.com', shows: /unknown: no user has it/ },
    { run: 'suppressions check', fails: [2, /Pass one of --email and --user/] },
    {
      run: 'suppressions add --email U1@example.com --reason complained',
      shows: /The email u1@example\.com is suppressed\. 0 drafts and 0 runs canceled/,
    },
    { run: 'suppressions add --email u1@example.com', shows: /already was for at least as long/ },
    { run: 'suppressions add --user u2 --until 30d', json: { added: true, suppression: { kind: 'user' } } },
    { run: 'suppressions add --user u3 --reason snoozed', fails: [2, /until/] },
    { run: 'suppressions add --email not-an-address', fails: [2, /not-an-address/] },
    { run: 'suppressions add --user u3 --email u3@example.com', fails: [2, /one of --email and --user/] },
    { run: 'suppressions list', shows: /email +u1@example\.com +complained +removed[^]*user +u2 +manual/ },
    { run: 'suppressions list reason:complained', json: [{ value: 'u1@example.com' }] },
    { run: 'suppressions list reason:bored', fails: [2, /reason/] },
    { run: 'suppressions check --user u1', shows: /can receive email now +no[^]* no / },
    {
      run: 'suppressions remove --email u1@example.com --reason mistake',
      fails: [
        2,
        /u1@example\.com is suppressed: complained by .*until it is removed\. Send email to it again\? .*--yes/,
      ],
    },
    { run: 'suppressions remove --email u1@example.com', fails: [2, /--reason/] },
    {
      run: 'suppressions remove --email u1@example.com --reason mistake',
      answers: [true],
      shows: /Removed the email u1@example\.com/,
    },
    { run: 'suppressions remove --user u2 --reason other --yes', json: { removed: true } },
    { run: 'suppressions remove --user u2 --reason other --yes', fails: [1, /u2/] },
    { run: 'suppressions check --email u1@example.com', shows: /last removed +complained, by / },
  ]);

  test('import previews with --dry-run, and ends with 4 when rows are rejected', async () => {
    const args = ['suppressions', 'import', at('list.csv')];
    const preview = await local.run([...args, '--dry-run']);
    expect([preview.code, preview.out]).toEqual([
      4,
      expect.stringMatching(
        /^Dry run: the list is unchanged[^]*rows +3\nadded +2\n[^]*rejected +1\n[^]*Problems\nline .*\n4 .*"not-an-address"/,
      ),
    ]);
    expect(await local.json(['suppressions', 'list'])).toEqual([]);
    const result = await local.run([...args, '--json', '--reason', 'unsubscribed']);
    expect([result.code, result.lines]).toMatchObject([4, [{ added: 2, rejected: 1 }]]);
    expect((await local.run(['suppressions', 'export'])).out).toMatch(
      /^email,user,reason.*\n"?a@example\.com"?,.*hard_bounce.*\n"?b@example\.com"?,.*unsubscribed/,
    );
    const lines = (await local.run(['suppressions', 'export', '--format', 'ndjson'])).lines;
    expect(lines).toMatchObject([{ email: 'a@example.com' }, { email: 'b@example.com' }]);
    const piped = await local.run(['suppressions', 'import', '-'], {
      stdin: 'c@example.com\nc@example.com\n',
    });
    expect([piped.code, piped.out]).toEqual([
      0,
      expect.stringMatching(/^rows +2\nadded +1\nalready suppressed +1/),
    ]);
    expect((await local.run(['suppressions', 'import', at('absent.csv')])).code).toBe(2);
  });
});

describe('piecesOf', () => {
  test('cuts between rows and repeats the header', () => {
    const text = 'email,user\na@x.org,\n"b@x.org, the\nsecond",\nc@x.org,\n';
    expect([...piecesOf(text, 12)]).toEqual([
      { list: 'email,user\na@x.org,', firstLine: 0 },
      { list: 'email,user\n"b@x.org, the\nsecond",', firstLine: 1 },
      { list: 'email,user\nc@x.org,\n', firstLine: 3 },
    ]);
  });

  test('repeats no header where the first row is an address', () => {
    expect([...piecesOf('a@x.org\nb@x.org\n', 8)]).toEqual([
      { list: 'a@x.org', firstLine: 0 },
      { list: 'b@x.org', firstLine: 1 },
    ]);
  });
});
