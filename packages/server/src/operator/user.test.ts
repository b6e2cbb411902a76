import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { testHasher } from '../../testkit/hasher.ts';
import { heldClock } from '../../testkit/clock.ts';
import { openTestDatabase } from '../../testkit/database.ts';
import { putRecords } from '../../testkit/inbox.ts';
import { type Ran, typed } from '../../testkit/typed-command.ts';
import { idMaker } from '../base/ids.ts';
import { silentLog } from '../base/log.ts';
import { createAudience } from '../flows/create-audience.ts';
import { createProject } from '../flows/create-project.ts';
import { createDigest } from '../flows/digest/index.ts';

const clock = heldClock();
const db = await openTestDatabase(clock);
const digest = createDigest({ db, log: silentLog, newId: idMaker(db.clock), hasher: testHasher });
const directory = await mkdtemp(join(tmpdir(), 'beckon-user-'));
afterAll(() => rm(directory, { recursive: true }));

/** A command as it is typed, for this test's project; the database is given back whatever happens. */
const beckon = (...args: string[]): Promise<Ran> => typed({ db }, [...args, '--project', String(projectId)]);

let projectId: number;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  const users = ['ada', 'bob'].map((id) => ({
    external_user_id: id,
    email: `${id}@x.org`,
    traits: { plan: 'pro', nick: 'a\u001b[2J' },
  }));
  await putRecords(db, { projectId, kind: 'users', records: users });
  const properties = { n: 1, where: 'Rome' };
  await putRecords(db, {
    projectId,
    kind: 'events',
    records: [{ external_user_id: 'ada', name: 'login', properties }],
  });
  while ((await digest.batch('live', [projectId])).records > 0);
});

const now = (): string => new Date(clock.now()).toISOString();
const known = async (userId: string): Promise<unknown[]> =>
  db.query('SELECT 1 FROM beckon.person WHERE project_id = $1 AND external_user_id = $2', [
    projectId,
    userId,
  ]);

test('show prints a person with everything that scripts rely on, and to people nothing that moves the cursor', async () => {
  const { json } = await beckon('user', 'show', '--user', 'ada', '--json');
  expect(json).toMatchObject({
    external_user_id: 'ada',
    email: 'ada@x.org',
    traits: { plan: 'pro', nick: 'a\u001b[2J' },
    suppressTriggersUntil: null,
    audiences: [],
    events: [{ name: 'login', properties: { n: 1 } }],
    drafts: [],
    decisions: [],
  });
  const { out } = await beckon('user', 'show', '--user', 'ada');
  expect(out).toContain('Rome');
  expect(out).not.toContain('\u001b');
  expect(await beckon('user', 'show', '--user', 'eve')).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('"eve"') as string,
  });
});

test('list prints a page of people in the order of their ids', async () => {
  const row = (id: string) => ({
    external_user_id: id,
    email: `${id}@x.org`,
    first_seen_at: now(),
    last_seen_at: now(),
  });
  expect((await beckon('user', 'list', '--json')).json).toEqual([row('ada'), row('bob')]);
  expect((await beckon('user', 'list', '--limit', '1', '--json')).json).toEqual([row('ada')]);
  expect((await beckon('user', 'list', '--after', 'ada', '--json')).json).toEqual([row('bob')]);
  expect((await beckon('user', 'list', '--limit', '0')).code).toBe(2);
});

test('erase prints the proof, and says what it was to people; a second time there is nobody', async () => {
  const { json } = await beckon('user', 'erase', '--user', 'ada', '--json');
  expect(json).toMatchObject({
    external_user_id: 'ada',
    erased_at: now(),
    seq: 4,
    removed: { person: 1, person_email: 1, event: 1, dead_letter: 0 },
  });
  expect(await known('ada')).toEqual([]);
  expect((await beckon('user', 'erase', '--user', 'bob')).out).toMatch(/"bob"[^]*person +1[^]*sequence 4/);
  expect(await beckon('user', 'erase', '--user', 'bob')).toMatchObject({ code: 1, out: '' });
});

test('export prints one JSON value, with and without --json, or writes a file that nobody else may read', async () => {
  const printed = await beckon('user', 'export', '--user', 'ada');
  expect(printed).toMatchObject({
    code: 0,
    err: '',
    json: {
      external_user_id: 'ada',
      events: [{ name: 'login' }],
      changes: [{ kind: 'user_created' }],
      dead_letters: [],
    },
  });
  expect((await beckon('user', 'export', '--user', 'ada', '--json')).out).toBe(printed.out);
  const file = join(directory, `ada-${projectId}.json`);
  const { json } = await beckon('user', 'export', '--user', 'ada', '--file', file, '--json');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(printed.json);
  const { mode, size } = await stat(file);
  expect(mode & 0o777).toBe(0o600);
  expect(json).toEqual({ file, bytes: size });
});

test('export overwrites nothing, and leaves no file of somebody who is not there', async () => {
  const file = join(directory, `bob-${projectId}.json`);
  expect(await beckon('user', 'export', '--user', 'eve', '--file', file)).toMatchObject({ code: 1, out: '' });
  await expect(stat(file)).rejects.toThrow('ENOENT');
  expect((await beckon('user', 'export', '--user', 'bob', '--file', file)).code).toBe(0);
  const before = await readFile(file, 'utf8');
  expect(await beckon('user', 'export', '--user', 'ada', '--file', file)).toMatchObject({
    code: 1,
    err: `${file} is there already\n`,
  });
  expect(await readFile(file, 'utf8')).toBe(before);
  expect(
    (await beckon('user', 'export', '--user', 'bob', '--file', join(directory, 'no', 'where.json'))).code,
  ).toBe(1);
  expect(await beckon('user', 'export', '--user', 'eve', '--json')).toMatchObject({ code: 1, out: '' });
});

test('event list is the catalogue: how often, since when, canonical or not, and properties whose types differ', async () => {
  const first = now();
  clock.advance(31 * 86_400_000);
  const records = [
    { external_user_id: 'ada', name: 'login', properties: { n: 'two', where: null } },
    { external_user_id: 'ada', name: 'trial_started', properties: { trialDays: 14 } },
  ];
  await putRecords(db, {
    projectId,
    kind: 'events',
    records: [...records, { external_user_id: 'bob', name: 'login', properties: {} }],
  });
  while ((await digest.batch('live', [projectId])).records > 0);
  expect((await beckon('event', 'list', '--json')).json).toEqual([
    {
      name: 'login',
      canonical: false,
      count: 3,
      last_30_days: 2,
      first_at: first,
      last_at: now(),
      properties: [
        { property: 'n', types: ['number', 'string'], conflict: true },
        { property: 'where', types: ['null', 'string'], conflict: false },
      ],
    },
    {
      name: 'trial_started',
      canonical: true,
      count: 1,
      last_30_days: 1,
      first_at: now(),
      last_at: now(),
      properties: [{ property: 'trialDays', types: ['number'], conflict: false }],
    },
  ]);
  expect((await beckon('event', 'list')).out).toMatch(
    /no +n: number or string \(conflict\), where: null or string/,
  );
});

test('settings set how long things are kept, but not shorter than an audience looks back', async () => {
  const definition = { event: 'login', at_least: 1, within: '90d' };
  await createAudience(db, { projectId, name: 'Lately', definition });
  const refused = await beckon('settings', 'set', 'keep_events=31d');
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('"Lately"') as string });
  await beckon('settings', 'set', 'keep_events=90d', 'keep_stream=forever');
  expect((await beckon('settings', 'get', '--json')).json).toMatchObject({
    keep_events: '90d',
    keep_stream: 'forever',
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
  });
});
