import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { HOUR } from '../../testkit/drafts.ts';
import { newStory, openStage, type Story } from '../../testkit/story.ts';
import { type Ran, typed } from '../../testkit/typed-command.ts';
import { liftSuppressions, SAID_BY_RECIPIENT } from '../features/suppressions/index.ts';

const stage = await openStage();
const { db } = stage.server;
const folder = await mkdtemp(join(tmpdir(), 'beckon-lists-'));
afterAll(() => rm(folder, { recursive: true }));

let story: Story;
let files = 0;
beforeEach(async () => {
  story = await newStory(stage);
});

const suppression = (...args: string[]): Promise<Ran> =>
  typed({ db }, ['suppression', ...args, '--project', String(story.projectId)]);

async function file(text: string | Uint8Array): Promise<string> {
  files += 1;
  const path = join(folder, `${files}.csv`);
  await writeFile(path, text);
  return path;
}
const importing = async (text: string | Uint8Array, ...args: string[]): Promise<Ran> =>
  suppression('import', '--file', await file(text), '--json', ...args);
const listed = async (): Promise<Record<string, unknown>[]> =>
  (await suppression('list', '--json')).json as Record<string, unknown>[];
const NOTHING = { rows: 0, added: 0, known: 0, over: 0, drafts: 0, runs: 0, refused: 0, problems: [] };

test('an address a line, or columns by their names in any order, with what other senders write', async () => {
  const plain = await importing('\uFEFFAda@X.org\r\n\r\n bob@Bücher.example ,unsubscribed,2026-01-02\r\n');
  expect(plain.json).toEqual({ ...NOTHING, dry_run: false, rows: 2, added: 2 });
  const named =
    'Reason,noted by,E-Mail,Created At\nspam complaint,x,"eve@x.org",2026-01-02T03:04:05Z\nBounced,y,mal@x.org,\n';
  expect((await importing(named, '--reason', 'unsubscribed')).json).toMatchObject({ rows: 2, added: 2 });
  expect(
    (await importing('user,until\n=u 1,2099-01-01\n"a,""b"\n', '--reason', 'snoozed')).json,
  ).toMatchObject({
    added: 1,
    refused: 1,
  });
  const created_by = 'operator';
  expect(await listed()).toMatchObject([
    { kind: 'email', value: 'ada@x.org', reason: 'manual', created_by },
    { value: 'bob@xn--bcher-kva.example', reason: 'unsubscribed', created_at: '2026-01-02T00:00:00.000Z' },
    { value: 'eve@x.org', reason: 'complained', created_at: '2026-01-02T03:04:05.000Z' },
    { value: 'mal@x.org', reason: 'hard_bounce' },
    { kind: 'user', value: '=u 1', reason: 'snoozed', until: '2099-01-01T00:00:00.000Z' },
  ]);
});

test('what is snoozed has an end, by hand as in a list: nobody is left alone for good by a break', async () => {
  const refused = await suppression('add', '--user', 'u1', '--reason', 'snoozed');
  expect(refused).toMatchObject({ code: 1, err: 'What is snoozed has an end: --until says when\n' });
  expect(await listed()).toEqual([]);
  const until = '2099-01-01T00:00:00.000Z';
  expect((await suppression('add', '--user', 'u1', '--reason', 'snoozed', '--until', until)).code).toBe(0);
  expect(await listed()).toMatchObject([{ value: 'u1', reason: 'snoozed', until }]);
});

test('what is refused is told by line and column, keeps nothing else out, and says so by the exit code', async () => {
  const text = [
    'email,user,reason,until,created_at',
    'good@x.org,,,,',
    'no address,,,,',
    'a@x.org,u1,,,',
    'a@x.org,,because,,',
    'a@x.org,,,soon,',
    'a@x.org,,snoozed,,',
    'a@x.org,,,,2999-01-01',
    'over@x.org,,snoozed,2020-01-01,',
  ].join('\n');
  const ran = await importing(text);
  expect(ran).toMatchObject({ code: 1, json: { rows: 8, added: 1, over: 1, refused: 6 } });
  const { problems } = ran.json as { problems: { line: number; field: string }[] };
  expect(problems.map(({ line, field }) => [line, field])).toEqual([
    [3, 'email'],
    [4, 'user'],
    [5, 'reason'],
    [6, 'until'],
    [7, 'until'],
    [8, 'created_at'],
  ]);
  const { out } = await suppression('import', '--file', await file(text));
  expect(out).toContain('Of 8 rows 0 are suppressed now, 1 were known, 1 are over, 6 were refused');
  expect(out).toMatch(/3 +email +"no address" is no e-mail address/);
  expect((await listed()).map(({ value }) => value)).toEqual(['good@x.org']);
});

test('a dry run tells what the list comes to, by doing it and taking it back', async () => {
  await story.user('ada', { email: 'ada@x.org' });
  await story.user('bob', { email: 'bob@x.org' });
  await story.event('ada', 'user_signed_up');
  await story.event('bob', 'user_signed_up');
  await story.later(HOUR);
  const text = `ada@x.org\nADA@x.org\n${Array.from({ length: 2_500 }, (_, i) => `p${i}@x.org`).join('\n')}\np7@x.org\n`;
  const comes = { rows: 2_503, added: 2_501, known: 2, drafts: 1, runs: 1 };
  expect((await importing(text, '--dry-run')).json).toEqual({ ...NOTHING, ...comes, dry_run: true });
  expect(await listed()).toEqual([]);
  expect((await story.drafts()).map(({ state }) => state)).toEqual(['scheduled', 'scheduled']);
  expect((await importing(text)).json).toEqual({ ...NOTHING, ...comes, dry_run: false });
  expect(await story.drafts('ada')).toMatchObject([{ state: 'canceled', reason: 'suppressed' }]);
  expect(await story.drafts('bob')).toMatchObject([{ state: 'scheduled', reason: null }]);
  // Whoever was cut off begins anew.
  expect((await importing(text)).json).toEqual({ ...NOTHING, dry_run: false, rows: 2_503, known: 2_503 });
});

test('no list lets letters through: what was there and is worth more stays', async () => {
  await suppression('add', '--email', 'a@x.org', '--reason', 'unsubscribed');
  await importing('email,reason,until\na@x.org,hard_bounce,\na@x.org,snoozed,2099-01-01\n');
  expect(await listed()).toMatchObject([{ value: 'a@x.org', reason: 'unsubscribed', until: null }]);
});

test('refuses the rows of a list that cannot be read, and a file that does not exist', async () => {
  expect((await importing('a@x.org\n"b@x.org\nc@x.org\n')).json).toMatchObject({
    rows: 3,
    added: 2,
    refused: 1,
    problems: [{ line: 2, message: expect.stringContaining('a quote in it is never closed') as string }],
  });
  expect((await importing('')).json).toEqual({ ...NOTHING, dry_run: false });
  expect((await importing(Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x80]))).json).toMatchObject({
    added: 0,
    refused: 2,
    problems: [
      { line: 1, message: 'This row is not UTF-8 text' },
      { line: 2, message: 'This row is not UTF-8 text' },
    ],
  });
  const gone = await suppression('import', '--file', join(folder, 'gone.csv'));
  expect(gone).toMatchObject({ code: 1, err: expect.stringContaining('gone.csv cannot be read') as string });
  expect(await suppression('import', '--file', folder)).toMatchObject({ code: 1 });
});

test('what is exported can be imported again, and comes to the same', async () => {
  const users = ['=1+1', 'a "quoted", id', '\n', ' x ', '😀'];
  for (const user of users) await suppression('add', '--user', user, '--reason', 'complained');
  await suppression('add', '--email', 'a@x.org', '--reason', 'snoozed', '--until', '2099-01-01T00:00:00Z');
  const before = await listed();
  const { out } = await suppression('export');
  expect(out.split('\n')[0]).toBe('email,user,reason,until,created_at,hash,hash_key,created_by');
  const lines = join(folder, 'out.ndjson');
  await suppression('export', '--format', 'ndjson', '--file', lines);
  const [first] = (await readFile(lines, 'utf8')).split('\n');
  expect(JSON.parse(first ?? '')).toMatchObject({ email: 'a@x.org', user: null, reason: 'snoozed' });
  const path = join(folder, 'out.csv');
  expect((await suppression('export', '--file', path, '--json')).json).toEqual({
    file: path,
    bytes: Buffer.byteLength(out),
  });
  expect(await readFile(path, 'utf8')).toBe(out);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await suppression('export', '--file', path)).toMatchObject({ code: 1 });
  story = await newStory(stage);
  expect((await suppression('import', '--file', path, '--json')).json).toMatchObject({
    added: 6,
    refused: 0,
  });
  expect(await listed()).toEqual(before);
});

/** What is left where recipients take back their own word. */
const resubscribed = async (...values: string[]): Promise<[string, string][]> => {
  const places = values.map((value) => ({ projectId: story.projectId, kind: 'address' as const, value }));
  await liftSuppressions(db, { places, reasons: SAID_BY_RECIPIENT, at: story.now(), by: 'recipient' });
  return (await listed()).map(({ value, reason }) => [String(value), String(reason)]);
};

test('a list that says two things of an address keeps both, and a dry run says so', async () => {
  const text = 'a@x.org,unsubscribed\na@x.org,manual\nb@x.org,manual\nb@x.org,unsubscribed\n';
  const comes = { rows: 4, added: 2, known: 2 };
  await suppression('add', '--email', 'b@x.org', '--reason', 'hard_bounce');
  expect((await importing(text, '--dry-run')).json).toMatchObject(comes);
  expect((await importing(text)).json).toMatchObject(comes);
  expect((await importing(text, '--dry-run')).json).toMatchObject({ added: 0, known: 4 });
  expect(await listed()).toMatchObject([{ reason: 'unsubscribed' }, { reason: 'unsubscribed' }]);
  expect(await resubscribed('a@x.org', 'b@x.org')).toEqual([
    ['a@x.org', 'manual'],
    ['b@x.org', 'manual'],
  ]);
});

test('a dry run says of an address that is known for less what the list itself comes to', async () => {
  await suppression('add', '--email', 'a@x.org', '--reason', 'manual');
  const text = 'a@x.org,manual\na@x.org,unsubscribed\n';
  const comes = { rows: 2, added: 1, known: 1 };
  expect((await importing(text, '--dry-run')).json).toMatchObject(comes);
  expect((await importing(text)).json).toMatchObject(comes);
});

test('what lies beneath is exported too, behind what is in front, and comes in again', async () => {
  for (const [reason, ...until] of [
    ['manual', '--until', '2099-01-01T00:00:00Z'],
    ['hard_bounce'],
    ['snoozed', '--until', '2098-01-01T00:00:00Z'],
  ] as [string, ...string[]][])
    await suppression('add', '--email', 'a@x.org', '--reason', reason, ...until);
  await suppression('add', '--email', 'b@x.org', '--reason', 'unsubscribed');
  expect(await listed()).toMatchObject([{ reason: 'hard_bounce' }, { reason: 'unsubscribed' }]);
  const { out } = await suppression('export');
  expect(out.match(/hard_bounce|manual|snoozed|unsubscribed/g)).toEqual([
    'hard_bounce',
    'manual',
    'snoozed',
    'unsubscribed',
  ]);
  story = await newStory(stage);
  expect((await importing(out)).json).toMatchObject({ rows: 4, added: 2, known: 2 });
  expect((await suppression('export')).out).toBe(out);
});

test('who removes a suppression is shown first what it is', async () => {
  await suppression('add', '--email', 'a@x.org', '--reason', 'complained');
  const asked = await suppression('remove', '--email', 'A@x.org');
  expect(asked).toMatchObject({ code: 1, out: '' });
  expect(asked.err).toMatch(
    /"a@x\.org" is suppressed: complained since .* by operator, for good\. With --yes/,
  );
  expect(await suppression('remove', '--email', 'b@x.org')).toMatchObject({
    code: 1,
    err: expect.stringContaining('is not suppressed') as string,
  });
  await suppression('remove', '--email', 'a@x.org', '--yes');
  expect((await suppression('remove', '--email', 'a@x.org', '--yes')).err).toMatch(
    /it was, complained since .* by operator, until operator lifted it at/,
  );
});
