import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXTERNAL_USER_ID_MAX_CHARS } from '@beckon/contract';
import type { SavedView, SuppressedUsers, UserListed } from '@beckon/contract/dashboard';
import { testHasher } from '../../../testing/factories/send-services.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { testDashboard } from '../../../testing/servers/dashboard.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { idMaker } from '../../platform/ids.ts';
import { listEntries } from '../workspace/audit/store.ts';
import { createAudience } from '../audiences/change-audience.ts';
import { createProject } from '../administration/create-project.ts';
import { erasePerson } from './erase-user.ts';
import { listRuleNeeds } from '../rules/runs/rules-in-force.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

const DAY = 86_400_000;
let [projectId, others] = [0, 0];
const start = new Date(clock.now()).toISOString();
beforeAll(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  others = (await createProject(db, { name: 'Other' })).id;
  await know([
    { external_user_id: 'ada', email: 'Ada@x.org', traits: { plan: 'pro', seats: 5, name: '=1+1' } },
    { external_user_id: 'bob', email: 'bob@y.org', traits: { plan: 'trial', tags: ['a'] } },
  ]);
  clock.advance(DAY);
  await know([{ external_user_id: 'cleo', traits: { plan: 'pro', 'a b': 'c' } }]);
  const definition = { trait: 'plan', equals: 'pro' };
  await createAudience({ db, listRuleNeeds }, { projectId, name: 'Paying ones', definition });
  await engine.settle();
});

async function know(records: object[]): Promise<void> {
  await putRecords(db, { projectId, kind: 'users', records });
  await engine.settle();
}

const users = (filter = '', more = ''): ReturnType<typeof dashboard.request> =>
  dashboard.request(`GET /projects/${projectId}/users?filter=${encodeURIComponent(filter)}${more}`, {
    as: 'viewer',
  });
async function found(filter: string): Promise<string[]> {
  const { status, json } = await users(filter);
  expect([status, json.errors], filter).toEqual([200, undefined]);
  return (json.data as UserListed[]).map(({ external_user_id: id }) => id);
}

test('lists users by id, in pages, with their total', async () => {
  const first = await users('', '&limit=2');
  expect(first.json.data).toEqual([
    expect.objectContaining({ external_user_id: 'ada', email: 'Ada@x.org', plan: 'pro', name: '=1+1' }),
    expect.objectContaining({ external_user_id: 'bob', triggers_suppressed: false }),
  ]);
  expect(first.json.meta.pagination).toEqual({ total: 3, offset: 0, limit: 2 });
  const next = await users('', `&limit=2&cursor=${first.json.meta.cursor}`);
  expect((next.json.data as UserListed[]).map(({ external_user_id: id }) => id)).toEqual(['cleo']);
  expect(next.json.meta.cursor).toBeNull();
});

test('finds users by id, address, trait, audience and time, in the shared grammar', async () => {
  const day = start.slice(0, 10);
  for (const [filter, expected] of [
    ['user:ada', ['ada']],
    ['user:a*,c*', ['ada', 'cleo']],
    ['email:ADA@x*', ['ada']],
    ['-email:*@x.org', ['bob', 'cleo']],
    ['plan:pro', ['ada', 'cleo']],
    ['-plan:pro', ['bob']],
    ['trait.seats:5', ['ada']],
    ['trait.plan:trial', ['bob']],
    ['name:=1+1', ['ada']],
    ['audience:"Paying ones"', ['ada', 'cleo']],
    ['audience:Pay* -user:ada', ['cleo']],
    ['-audience:Pay*', ['bob']],
    ['audience:unknown', []],
    ['-audience:unknown', ['ada', 'bob', 'cleo']],
    ['AD', ['ada']],
    ['ada@x', ['ada']],
    ['"=1+1"', ['ada']],
    ['-ada', ['bob', 'cleo']],
    ['ada plan:trial', []],
    [`first_seen:${day}`, ['ada', 'bob']],
    [`seen:>${day}`, ['cleo']],
    [`seen:<${start}`, []],
    [`-seen:>${day} plan:pro`, ['ada']],
    // The first and the last possible day, and both with an offset.
    ['seen:9999-12-31', []],
    ['seen:>9999-12-31', []],
    ['first_seen:<9999-12-31T23:59:59-14:59', ['ada', 'bob', 'cleo']],
    ['seen:<0001-01-01T00:00:00+14:00', []],
    ['-first_seen:0001-01-01', ['ada', 'bob', 'cleo']],
  ] as [string, string[]][])
    expect(await found(filter), filter).toEqual(expected);
});

test('reports an invalid filter or cursor with its field', async () => {
  for (const filter of ['colour:red', 'seen:yesterday', 'seen:2026*', 'plan:']) {
    const { status, json } = await users(filter);
    expect([status, json.errors[0]?.field], filter).toEqual([422, 'filter']);
  }
  const { status, json } = await users('', '&cursor=nonsense');
  expect([status, json.errors[0]?.field]).toEqual([422, 'cursor']);
  expect((await users('', '&offset=10')).status).toBe(422);
});

test('exports users as CSV without formulas, for admins alone', async () => {
  const path = `GET /projects/${projectId}/users.csv?filter=user:ada`;
  expect((await dashboard.request(path, { as: 'editor' })).status).toBe(403);
  const { status, text, headers } = await dashboard.request(path, { as: 'admin' });
  expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
  const [head, row = '', end] = text.split('\n');
  expect([head, end]).toEqual(['external_user_id,email,first_seen_at,last_seen_at,traits', '']);
  expect(row.startsWith(`ada,Ada@x.org,${start}`)).toBe(true);
  await know([{ external_user_id: '@SUM(A1)' }]);
  const hostile = await dashboard.request(`GET /projects/${projectId}/users.csv?filter=user:@*`, {
    as: 'admin',
  });
  expect(hostile.text.split('\n')[1]?.startsWith("'@SUM(A1),")).toBe(true);
  await erasePerson({ db, newId: idMaker(clock), hasher: testHasher }, { projectId, userId: '@SUM(A1)' });
});

test('suppresses many users at once, counts unknown ones, and logs no id', async () => {
  const path = `POST /projects/${projectId}/users/suppress`;
  const body = { users: ['bob', 'bob', 'unknown'] };
  expect((await dashboard.request(path, { body, as: 'editor' })).status).toBe(403);
  expect((await dashboard.request(path, { body: { users: [] }, as: 'admin' })).status).toBe(422);
  const response = await dashboard.request(path, { body, as: 'admin' });
  expect(response.json.data as SuppressedUsers).toEqual({
    added: 1,
    already_suppressed: 0,
    not_found: 1,
    drafts: 0,
    runs: 0,
  });
  const again = await dashboard.request(path, { body, as: 'admin' });
  expect(again.json.data).toMatchObject({ added: 0, already_suppressed: 1 });
  const longest = 'x'.repeat(EXTERNAL_USER_ID_MAX_CHARS);
  const long = await dashboard.request(path, { body: { users: [longest, 'bob'] }, as: 'admin' });
  expect(long.json.data).toMatchObject({ already_suppressed: 1, not_found: 1 });
  const tooLong = await dashboard.request(path, { body: { users: [`${longest}x`] }, as: 'admin' });
  expect(tooLong.status).toBe(422);
  const [entry] = await listEntries(db, {
    projectIds: [projectId],
    actor: null,
    action: 'user.suppress',
    after: null,
    limit: 1,
  });
  expect(JSON.stringify(entry)).not.toContain('bob');
});

test('saves a filter as a view, and deletes views that name an erased user', async () => {
  const path = `/projects/${projectId}/views`;
  const make = (name: string, filter: string, as: 'editor' | 'viewer' = 'editor') =>
    dashboard.request(`POST ${path}`, { body: { screen: 'users', name, filter }, as });
  const list = async (): Promise<string[]> =>
    ((await dashboard.request(`GET ${path}?screen=users`, { as: 'viewer' })).json.data as SavedView[]).map(
      ({ name }) => name,
    );
  expect((await make('Paying', 'plan:pro', 'viewer')).status).toBe(403);
  expect((await make('Paying', 'plan:pro')).json.data).toMatchObject({ name: 'Paying', created_by: 'Ada' });
  expect((await make('Paying', 'plan:trial')).status).toBe(409);
  expect((await make('', 'plan:pro')).json.errors[0]?.field).toBe('name');
  expect((await make('None', ' ')).json.errors[0]?.field).toBe('filter');
  expect((await make('Odd', 'colour:red')).json.errors[0]?.field).toBe('filter');
  await know([{ external_user_id: 'zoe', email: 'zoe@z.org' }]);
  await make('Of Zoe', 'user:zoe,ada');
  await make('By address', 'email:ZOE@z.org');
  await make('Not of her', 'user:zoella');
  await erasePerson({ db, newId: idMaker(clock), hasher: testHasher }, { projectId, userId: 'zoe' });
  expect(await list()).toEqual(['Not of her', 'Paying']);
  const views = (await dashboard.request(`GET ${path}?screen=users`)).json.data as SavedView[];
  for (const { id } of views) expect((await dashboard.request(`DELETE ${path}/${id}`)).status).toBe(200);
  expect(await list()).toEqual([]);
  expect((await dashboard.request(`DELETE ${path}/${views[0]?.id}`)).status).toBe(404);
  expect((await dashboard.request(`DELETE ${path}/x`)).status).toBe(404);
});

test('shows nothing of it in another project', async () => {
  expect((await dashboard.request(`GET /projects/${others}/users`)).json.data).toEqual([]);
  expect((await dashboard.request('GET /projects/999999/users')).status).toBe(404);
});
