import { afterAll, beforeEach, expect, test } from 'vitest';
import type {
  CanReceiveResult,
  SuppressionImport,
  SuppressionListed,
  TopicUnsubscribeListed,
} from '@beckon/contract/dashboard';
import { type DashboardRequestOptions, testDashboard } from '../../../../testing/servers/dashboard.ts';
import { DAY, newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { listEntries } from '../../workspace/audit/store.ts';
import { setTopicUnsubscribes } from './store.ts';
import { createProject } from '../../administration/create-project.ts';

const stage = await openStage();
const { db } = stage.server;
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

let scenario: Scenario;
beforeEach(async () => {
  scenario = await newScenario(stage);
});

const request = <T>(what: string, options: DashboardRequestOptions = {}) => {
  const [method, path = ''] = what.split(' ');
  return dashboard.request<T>(`${method} /projects/${scenario.projectId}/suppressions${path}`, options);
};
const add = (body: object, as: DashboardRequestOptions['as'] = 'admin') =>
  request<{ drafts: number; added: boolean }>('POST ', { body, as });
const list = async (filter = ''): Promise<SuppressionListed[]> =>
  (await request<SuppressionListed[]>(`GET ?filter=${encodeURIComponent(filter)}`, { as: 'viewer' })).json
    .data;
const check = async (query: string): Promise<CanReceiveResult> =>
  (await request<CanReceiveResult>(`GET /check?${query}`, { as: 'viewer' })).json.data;
const audited = async (): Promise<unknown[]> =>
  (
    await listEntries(db, {
      projectIds: [scenario.projectId],
      actor: null,
      action: null,
      after: null,
      limit: 50,
    })
  ).map(({ action, subject, after }) => ({ action, subject, after }));

test('suppresses an address or a user for an admin, ends drafts and runs, and logs no name', async () => {
  await scenario.user('ada', { email: 'ada@x.org' });
  await scenario.rule({
    name: 'greeter',
    when: { event: 'hello' },
    steps: [{ draft: { subject: 'Hello', body: 'You' } }],
  });
  await scenario.event('ada', 'hello');
  await stage.engine.settle();
  expect((await add({ email: 'ada@x.org' }, 'editor')).status).toBe(403);
  const made = await add({ email: ' Ada@X.org ' });
  expect(made.json.data).toMatchObject({
    suppression: {
      kind: 'email',
      value: 'ada@x.org',
      reason: 'manual',
      until: null,
      in_force: true,
      created_by_name: 'Ada',
    },
    added: true,
    drafts: 1,
  });
  expect(await audited()).toEqual([
    {
      action: 'suppression.add',
      subject: 'an address at x.org',
      after: expect.objectContaining({ drafts: 1 }),
    },
  ]);
  expect((await add({ email: 'ada@x.org' })).json.data.added).toBe(false);
});

test('rejects an invalid target, reason or end with its field', async () => {
  const field = async (body: object): Promise<unknown> => {
    const { status, json } = await add(body);
    return [status, json.errors[0]?.field];
  };
  expect(await field({})).toEqual([422, 'email']);
  expect(await field({ email: 'a@x.org', user: 'a' })).toEqual([422, 'email']);
  expect(await field({ email: 'nothing' })).toEqual([422, 'email']);
  expect(await field({ user: '' })).toEqual([422, 'user']);
  expect(await field({ user: 'a', reason: 'boredom' })).toEqual([422, 'reason']);
  expect(await field({ user: 'a', until: '2020-01-01T00:00:00Z' })).toEqual([422, 'until']);
  expect(await field({ user: 'a', reason: 'snoozed' })).toEqual([422, 'until']);
  expect(await audited()).toEqual([]);
});

test('lists suppressions in pages, by every filter key, including expired ones', async () => {
  await add({ email: 'b@x.org', reason: 'complained' });
  await add({ email: 'a@x.org' });
  await add({ user: 'zed', reason: 'snoozed', until: new Date(scenario.now() + DAY).toISOString() });
  const all = await list();
  expect(all.map(({ kind, value }) => `${kind} ${value}`)).toEqual([
    'email a@x.org',
    'email b@x.org',
    'user zed',
  ]);
  const values = async (filter: string) => (await list(filter)).map(({ value }) => value);
  expect(await values('kind:user')).toEqual(['zed']);
  expect(await values('email:a*')).toEqual(['a@x.org']);
  expect(await values('user:zed')).toEqual(['zed']);
  expect(await values('-reason:manual')).toEqual(['b@x.org', 'zed']);
  expect(await values('by:team:admin')).toHaveLength(3);
  expect((await request('GET ?filter=reason:x')).json.errors[0]?.field).toBe('filter');
  const first = (await request<SuppressionListed[]>('GET ?limit=2')).json;
  const second = (await request<SuppressionListed[]>(`GET ?limit=2&cursor=${first.meta.cursor}`)).json;
  expect([...first.data, ...second.data]).toEqual(all);
  expect(first.meta.pagination.total).toBe(3);
  await scenario.later(2 * DAY);
  expect((await list('user:zed'))[0]?.in_force).toBe(false);
  expect((await request(`GET ?cursor=${Buffer.from('["x","y"]').toString('base64url')}`)).status).toBe(422);
});

test('lifts a suppression with its value typed and a reason, and keeps who lifted it', async () => {
  await add({ email: 'ada@x.org', reason: 'unsubscribed' });
  const remove = (body: object, as: DashboardRequestOptions['as'] = 'admin') =>
    request('POST /remove', { body, as });
  const right = { email: 'ada@x.org', confirm: 'ada@x.org', reason: 'user_request' };
  expect((await remove(right, 'editor')).status).toBe(403);
  expect((await remove({ ...right, confirm: 'ada' })).json.errors[0]?.field).toBe('confirm');
  expect((await remove({ ...right, reason: 'She asked for it' })).json.errors[0]?.field).toBe('reason');
  expect((await list()).length).toBe(1);
  expect((await remove(right)).json.data).toEqual({ kind: 'email', value: 'ada@x.org', removed: true });
  expect(await list()).toEqual([]);
  expect(await audited()).toContainEqual({
    action: 'suppression.remove',
    subject: 'an address at x.org',
    after: { reason: 'user_request' },
  });
  const again = await remove(right);
  expect([again.status, again.json.errors[0]?.message]).toEqual([
    404,
    expect.stringContaining('was removed at'),
  ]);
  expect(await check('email=ada@x.org')).toMatchObject({
    can_receive: null,
    suppression: null,
    lifted: { reason: 'unsubscribed', lifted_by_name: 'Ada' },
  });
});

test('previews an import with the same counts, and writes nothing', async () => {
  const body = { list: '\uFEFFemail,reason\na@x.org,bounce\nb@x.org,\nnothing,\n', reason: 'unsubscribed' };
  const state = async () => (await request<{ imported_at: string | null }>('GET /state')).json.data;
  for (const path of ['/preview-import', '/import'])
    expect((await request(`POST ${path}`, { body, as: 'editor' })).status).toBe(403);
  const preview = (await request<SuppressionImport>('POST /preview-import', { body, as: 'admin' })).json.data;
  expect(preview).toMatchObject({ rows: 3, added: 2, rejected: 1, problems: [{ line: 4, field: 'email' }] });
  expect([await list(), await state()]).toEqual([[], { imported_at: null, imported_by_name: null }]);
  expect((await request<SuppressionImport>('POST /import', { body, as: 'admin' })).json.data).toEqual(
    preview,
  );
  expect((await list()).map(({ value, reason }) => [value, reason])).toEqual([
    ['a@x.org', 'hard_bounce'],
    ['b@x.org', 'unsubscribed'],
  ]);
  expect(await state()).toEqual({
    imported_at: new Date(scenario.now()).toISOString(),
    imported_by_name: 'Ada',
  });
  expect((await request('POST /import', { body: { list: 'x'.repeat(7_000_000) }, as: 'admin' })).status).toBe(
    413,
  );
});

test('imports its own export again', async () => {
  await add({ email: 'a@x.org', reason: 'complained' });
  await add({ user: 'zed' });
  expect((await request('GET /export', { as: 'editor' })).status).toBe(403);
  const { text } = await request('GET /export', { as: 'admin' });
  const { data } = (await request<SuppressionImport>('POST /preview-import', { body: { list: text } })).json;
  expect(data).toMatchObject({ rows: 2, added: 0, already_suppressed: 2, rejected: 0 });
});

test('writes JSON lines for `format=ndjson`, which can be imported again', async () => {
  await add({ email: 'a@x.org', reason: 'complained' });
  await add({ user: 'zed' });
  const { text, headers } = await request('GET /export?format=ndjson', { as: 'admin' });
  expect(headers['content-disposition']).toContain('suppressions.ndjson');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toMatchObject([{ email: 'a@x.org', reason: 'complained' }, { user: 'zed' }]);
  expect((await request('GET /export?format=xml', { as: 'admin' })).status).toBe(422);
});

test('exports values without formulas, and imports them unchanged', async () => {
  const users = ['=HYPERLINK("https://x.org","pay")', '@SUM(A1)', "'=1", '-1', '+1'];
  for (const user of users) await add({ user });
  await add({ email: '=cmd@x.org' });
  const { text } = await request('GET /export', { as: 'admin' });
  expect(text.match(/(?:^|,)"?[=+\-@]/gm)).toBeNull();
  const { data } = (await request<SuppressionImport>('POST /preview-import', { body: { list: text } })).json;
  expect(data).toMatchObject({ rows: 6, added: 0, already_suppressed: 6, rejected: 0 });
});

test('GET /suppressions/check returns every send check, also after a failed one, for all users with the address', async () => {
  await scenario.user('ada', { email: 'shared@x.org' });
  await scenario.user('bob', { email: 'Shared@x.org' });
  await scenario.user('zed', {});
  await scenario.later(0);
  expect(await check('user=ada')).toMatchObject({
    kind: 'user',
    can_receive: true,
    users: [{ can_receive: true }],
  });
  const target = { projectId: scenario.projectId, kind: 'user' as const, value: 'ada' };
  await setTopicUnsubscribes(db, { targets: [target], refused: ['news'], accepted: [], at: scenario.now() });
  await add({ user: 'ada', reason: 'snoozed', until: new Date(scenario.now() + DAY).toISOString() });
  await scenario.set({ paused: 'true', quiet_hours: '00:00-23:59' });
  const response = await check('email=Shared@x.org');
  expect(response).toMatchObject({
    kind: 'email',
    value: 'shared@x.org',
    can_receive: false,
    suppression: null,
  });
  const of = (user: string) => response.users.find((entry) => entry.external_user_id === user);
  const closed = (user: string) =>
    of(user)
      ?.checks.filter(({ passes }) => !passes)
      .map((result) => result.check);
  expect(closed('ada')).toEqual(['pause', 'suppression', 'quiet_hours']);
  expect(closed('bob')).toEqual(['pause', 'quiet_hours']);
  expect(of('ada')?.checks.find((result) => result.check === 'suppression')).toMatchObject({
    until: new Date(scenario.now() + DAY).toISOString(),
    text: 'the user or the address is suppressed',
  });
  expect(of('ada')?.unsubscribed_topics).toEqual(['news']);
  const zed = await check('user=zed');
  expect(zed.users[0]?.checks.filter(({ passes }) => !passes).map((result) => result.check)).toContain(
    'address',
  );
  expect(await check('email=nobody@x.org')).toMatchObject({ can_receive: null, users: [] });
  expect((await request('GET /check')).status).toBe(422);
  const { data } = (await request<TopicUnsubscribeListed[]>('GET /topics', { as: 'viewer' })).json;
  expect(data).toEqual([expect.objectContaining({ kind: 'user', value: 'ada', topic: 'news' })]);
});

test('finds and lifts nothing of another project', async () => {
  await scenario.user('ada', { email: 'ada@x.org' });
  await scenario.later(0);
  await add({ email: 'ada@x.org' });
  const { id } = await createProject(db, { name: `Other ${scenario.projectId}` });
  const at = `/projects/${id}/suppressions`;
  expect((await dashboard.request(`GET ${at}`)).json.data).toEqual([]);
  expect((await dashboard.request(`GET ${at}/check?email=ada@x.org`)).json.data).toMatchObject({
    can_receive: null,
    suppression: null,
  });
  const body = { email: 'ada@x.org', confirm: 'ada@x.org', reason: 'other' };
  expect((await dashboard.request(`POST ${at}/remove`, { body })).status).toBe(404);
  expect((await dashboard.request('GET /projects/999999/suppressions')).status).toBe(404);
});
