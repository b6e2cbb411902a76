import { afterAll, beforeEach, expect, test } from 'vitest';
import { EXTERNAL_USER_ID_MAX_CHARS } from '@beckon/contract';
import type {
  AudienceListed,
  AudienceMember,
  AudienceDetails,
  DefinitionPreview,
  PredicateFacts,
} from '@beckon/contract/dashboard';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { testDashboard } from '../../../testing/servers/dashboard.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { listEntries } from '../workspace/audit/store.ts';
import { createProject } from '../administration/create-project.ts';
import { createRule } from '../rules/write-rule.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

const HOUR = 3_600_000;
const PRO = { trait: 'plan', equals: 'pro' };
let projectId = 0;
beforeEach(async () => {
  // Four hours before the end of a day in UTC, the project's time zone.
  clock.advance(86_400_000 - ((clock.now() + 4 * HOUR) % 86_400_000));
  projectId = (await createProject(db, { name: 'Acme' })).id;
  await put('users', [
    { external_user_id: 'ada', traits: { plan: 'pro', seats: 3 } },
    { external_user_id: 'bob', traits: { plan: 'trial', tags: ['x'] } },
    { external_user_id: 'cleo', traits: { plan: 'pro', '<b>': '=1' } },
  ]);
});

async function put(kind: 'users' | 'events', records: object[]): Promise<void> {
  await putRecords(db, { projectId, kind, records });
  await engine.settle();
}
const at = (rest = ''): string => `/projects/${projectId}/audiences${rest}`;
async function make(name: string, definition: unknown = PRO): Promise<AudienceDetails> {
  const { status, json } = await dashboard.request(`POST ${at()}`, {
    body: { name, definition },
    as: 'editor',
  });
  expect([status, json.errors]).toEqual([200, undefined]);
  await engine.settle();
  return json.data as AudienceDetails;
}

test('lists an audience with its members, its growth and its uses', async () => {
  const { id } = await make('Paying');
  await make('Not paying', { not: { audience: id } });
  const steps = [{ draft: { subject: 'Hello', body: 'Hello' } }];
  await createRule(db, {
    projectId,
    document: { name: 'hello', when: { audience: id, move: 'joined' }, steps },
  });
  clock.advance(24 * HOUR);
  await put('users', [{ external_user_id: 'bob', traits: { plan: 'pro' } }]);
  const { json } = await dashboard.request(`GET ${at()}`, { as: 'viewer' });
  const [notPaying, paying] = json.data as AudienceListed[];
  expect(paying).toMatchObject({ id, name: 'Paying', state: 'ready', members: 3, sentence: 'plan is pro' });
  expect(paying?.growth.at(-1)).toMatchObject({ joined: 1, left: 0, members: 3 });
  expect(paying?.used_by.map(({ kind, name }) => [kind, name])).toEqual([
    ['audience', 'Not paying'],
    ['rule', 'hello'],
  ]);
  expect(notPaying).toMatchObject({ name: 'Not paying', members: 0, used_by: [] });
  expect(notPaying?.growth.at(-1)).toMatchObject({ joined: 0, left: 1 });
});

test('shows an audience with its definition, and pages through its members', async () => {
  const { id } = await make('Paying');
  const { json } = await dashboard.request(`GET ${at(`/${id}`)}`, { as: 'viewer' });
  expect(json.data).toMatchObject({ definition: PRO, members: 2, sample: [{ external_user_id: 'ada' }, {}] });
  const first = await dashboard.request(`GET ${at(`/${id}/members?limit=1`)}`, { as: 'viewer' });
  expect((first.json.data as AudienceMember[]).map(({ external_user_id: user }) => user)).toEqual(['ada']);
  expect(first.json.meta.pagination.total).toBe(2);
  const next = await dashboard.request(
    `GET ${at(`/${id}/members?limit=1&cursor=${first.json.meta.cursor}`)}`,
  );
  expect((next.json.data as AudienceMember[]).map(({ external_user_id: user }) => user)).toEqual(['cleo']);
  expect(next.json.meta.cursor).toBeNull();
  for (const path of ['/none', '/none/members', '/none/test?user=ada'])
    expect((await dashboard.request(`GET ${at(path)}`)).status).toBe(404);
});

test('previews the count, the sentence, and who enters or leaves by time and by the edit', async () => {
  const { id } = await make('Paying');
  const preview = async (definition: unknown, audience?: string): Promise<DefinitionPreview> => {
    const body = { definition, ...(audience === undefined ? {} : { audience }) };
    const { status, json } = await dashboard.request(`POST ${at('/preview')}`, { body, as: 'viewer' });
    expect([status, json.errors]).toEqual([200, undefined]);
    return json.data as DefinitionPreview;
  };
  expect(await preview(PRO)).toMatchObject({
    count: 2,
    sample: [{ external_user_id: 'ada' }, { external_user_id: 'cleo' }],
    sentence: 'plan is pro',
    today: { enters: 0, leaves: 0 },
    edit: null,
  });
  expect((await preview({ trait: 'plan', one_of: ['trial'] }, id)).edit).toEqual({ joins: 1, leaves: 2 });
  await put('events', [
    {
      external_user_id: 'ada',
      name: 'login',
      properties: {},
      occurred_at: new Date(clock.now() - 22 * HOUR).toISOString(),
    },
    { external_user_id: 'bob', name: 'login', properties: {} },
  ]);
  const within = { event: 'login', within: '1d' };
  expect(await preview(within)).toMatchObject({ count: 2, today: { enters: 0, leaves: 1 } });
  expect(await preview({ not: within })).toMatchObject({ count: 1, today: { enters: 1, leaves: 0 } });
  expect((await preview({ event: 'login' })).uncounted_events).toEqual(['login']);
  expect(
    await listEntries(db, { projectIds: [projectId], actor: null, action: null, after: null, limit: 9 }),
  ).toHaveLength(1);
});

test('reports each error of a definition at its place, and saves nothing', async () => {
  const definition = { all: [PRO, { trait: 'seats', at_least: 'x' }, { event: 'login', where: [] }] };
  for (const [what, body] of [
    [`POST ${at('/preview')}`, { definition }],
    [`POST ${at('/sentence')}`, { definition }],
    [`POST ${at()}`, { name: 'Odd', definition }],
  ] as const) {
    const { status, json } = await dashboard.request(what, { body });
    expect(status).toBe(422);
    expect(json.errors.map(({ field }) => field)).toContain('definition.all.1.at_least');
  }
  const response = await dashboard.request(`POST ${at('/sentence')}`, { body: { definition: PRO } });
  expect(response.json.data).toEqual({ sentence: 'plan is pro' });
  expect(
    (await dashboard.request(`POST ${at()}`, { body: { name: '', definition: PRO } })).json.errors[0]?.field,
  ).toBe('name');
  expect((await dashboard.request(`GET ${at()}`)).json.data).toEqual([]);
});

test("refuses an edit after another member's edit, and logs one that succeeds", async () => {
  const { id, updated_at } = await make('Paying');
  clock.advance(HOUR);
  const edit = (body: object, as: 'editor' | 'viewer' = 'editor') =>
    dashboard.request(`PATCH ${at(`/${id}`)}`, { body, as });
  expect((await edit({ name: 'x' }, 'viewer')).status).toBe(403);
  const response = await edit({ name: 'Payers', definition: { trait: 'plan', equals: 'trial' }, updated_at });
  expect(response.json.data).toMatchObject({
    name: 'Payers',
    state: 'rebuilding',
    sentence: 'plan is trial',
  });
  const late = await edit({ name: 'Others', updated_at });
  expect([late.status, late.json.errors[0]?.message]).toEqual([409, expect.stringContaining('changed at')]);
  expect((await edit({ definition: 7 })).status).toBe(422);
  await engine.settle();
  expect((await dashboard.request(`GET ${at(`/${id}`)}`)).json.data).toMatchObject({
    name: 'Payers',
    members: 1,
  });
  const [entry] = await listEntries(db, {
    projectIds: [projectId],
    actor: null,
    action: 'audience.update',
    after: null,
    limit: 9,
  });
  expect(entry).toMatchObject({ subject: 'Payers', before: { name: 'Paying' }, after: { name: 'Payers' } });
});

test('deletes only with the typed name, and not while the audience is in use', async () => {
  const { id } = await make('Paying');
  const { id: needing } = await make('Not paying', { not: { audience: id } });
  const remove = (audience: string, confirm: string) =>
    dashboard.request(`DELETE ${at(`/${audience}`)}`, { body: { confirm }, as: 'editor' });
  expect((await remove(id, 'paying')).json.errors[0]?.field).toBe('confirm');
  const needed = await remove(id, 'Paying');
  expect([needed.status, needed.json.errors[0]?.message]).toEqual([
    422,
    expect.stringContaining('Not paying'),
  ]);
  expect((await remove(needing, 'Not paying')).status).toBe(200);
  expect((await remove(id, 'Paying')).json.data).toEqual({ id });
  expect((await dashboard.request(`GET ${at(`/${id}`)}`)).status).toBe(404);
});

test('tests a user condition by condition', async () => {
  await make('Both', { all: [PRO, { trait: 'seats', at_least: 5 }] });
  const { json } = await dashboard.request(`GET ${at('/Both/test?user=ada')}`, { as: 'viewer' });
  expect(json.data).toMatchObject({
    external_user_id: 'ada',
    member: false,
    explanation: { holds: false, conditions: [{ sentence: 'plan is pro', holds: true }, { holds: false }] },
  });
  for (const user of ['unknown', 'x'.repeat(EXTERNAL_USER_ID_MAX_CHARS)])
    expect((await dashboard.request(`GET ${at(`/Both/test?user=${user}`)}`)).status).toBe(404);
});

test('offers as facts for definitions only data that this project has sent', async () => {
  await put('events', [{ external_user_id: 'ada', name: 'login', properties: { device: 'phone', n: 1 } }]);
  const { json } = await dashboard.request(`GET /projects/${projectId}/predicate-facts`, { as: 'viewer' });
  const facts = json.data as PredicateFacts;
  expect(facts.traits[0]).toEqual({
    trait: 'plan',
    types: ['string'],
    known: true,
    examples: ['pro', 'trial'],
  });
  expect(facts.traits).toContainEqual({ trait: 'tags', types: ['array'], known: false, examples: [] });
  expect(facts.traits).toContainEqual({ trait: '<b>', types: ['string'], known: false, examples: ['=1'] });
  expect(facts.events).toEqual([
    {
      name: 'login',
      properties: [
        { property: 'device', types: ['string'] },
        { property: 'n', types: ['number'] },
      ],
    },
  ]);
});

test('shows nothing of it in another project', async () => {
  const { id } = await make('Paying');
  const other = (await createProject(db, { name: 'Other' })).id;
  for (const rest of ['', '/members', '/test?user=ada'])
    expect((await dashboard.request(`GET /projects/${other}/audiences/${id}${rest}`)).status).toBe(404);
  expect((await dashboard.request(`GET /projects/${other}/audiences`)).json.data).toEqual([]);
  const body = { definition: { audience: id } };
  expect((await dashboard.request(`POST /projects/${other}/audiences/preview`, { body })).status).toBe(422);
});
