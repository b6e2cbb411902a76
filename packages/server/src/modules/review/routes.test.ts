import { afterAll, beforeEach, expect, test } from 'vitest';
import type { DraftContext, DraftListed, DraftPreview, DraftVersions } from '@beckon/contract/dashboard';
import { testHasher } from '../../../testing/factories/send-services.ts';
import { testDashboard } from '../../../testing/servers/dashboard.ts';
import { newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';
import { idMaker } from '../../platform/ids.ts';
import { createProject } from '../administration/create-project.ts';
import { erasePerson } from '../profiles/erase-user.ts';

const stage = await openStage();
const { db } = stage.server;
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

const HOUR = 3_600_000;
const STEPS = [
  { draft: { subject: 'Hello {{ user.name }}', body: 'Your plan is {{ user.plan }}.\n\nBye for now' } },
];
const RULE = { name: 'vip', when: { event: 'order_placed' }, enrollment: 'once', steps: STEPS };

let scenario: Scenario;
let at: string;
beforeEach(async () => {
  scenario = await newScenario(stage);
  at = `/projects/${scenario.projectId}/drafts`;
  await scenario.rule(RULE);
  await scenario.set({ autopilot: '4h' });
});

const get = <T = DraftListed[]>(path: string, options = {}) =>
  dashboard.request<T>(`GET ${at}${path}`, options);
const post = (path: string, body: object = {}, options = {}) =>
  dashboard.request(`POST ${at}${path}`, { body, ...options });
const list = async (query = ''): Promise<DraftListed[]> => (await get(query)).json.data;
const userIds = async (query = ''): Promise<string[]> =>
  (await list(query)).map(({ user: person }) => person.external_user_id);

async function order(...users: string[]): Promise<DraftListed[]> {
  for (const user of users) {
    await scenario.user(user, {
      email: `${user}@x.org`,
      traits: { name: user, plan: 'pro', timezone: 'Asia/Tokyo' },
    });
    await scenario.event(user, 'order_placed', { total: 5 });
    await scenario.later(60_000);
  }
  return list('?view=all');
}

async function orderDraft(user = 'ada'): Promise<DraftListed> {
  const [draft] = await order(user);
  if (!draft) throw new Error('there is no draft');
  return draft;
}

test('orders Review by deadline, in pages, with held drafts after that and postponed ones last', async () => {
  await order('ada', 'ben', 'cleo', 'dan', 'eve', 'fay');
  const [ada, ben, cleo, , eve, fay] = await list();
  await db.query(`UPDATE beckon.draft SET deadline_at = NULL, due_at = NULL WHERE id = ANY ($1::uuid[])`, [
    [eve?.id, fay?.id],
  ]);
  await post(`/${eve?.id}/postpone`, { until: new Date(scenario.now() + HOUR).toISOString() });
  await post(`/${ben?.id}/postpone`, { until: new Date(scenario.now() + 30 * HOUR).toISOString() });
  const [held, why] = [ada?.id, 'needs_review'];
  await db.query(
    `UPDATE beckon.draft SET state = 'held', resume_state = 'scheduled', reason = $2, due_at = NULL WHERE id = $1`,
    [held, why],
  );
  expect(cleo?.user).toEqual({
    external_user_id: 'cleo',
    name: 'cleo',
    email: 'cleo@x.org',
    time_zone: 'Asia/Tokyo',
  });
  const order6 = ['cleo', 'dan', 'ben', 'fay', 'ada', 'eve'];
  expect(await userIds()).toEqual(order6);
  const paged: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Awaited<ReturnType<typeof get<DraftListed[]>>> = await get(
      `?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    expect(page.json.meta.pagination).toEqual({ total: 6, offset: 0, limit: 2 });
    paged.push(...page.json.data.map((listedDraft: DraftListed) => listedDraft.user.external_user_id));
    cursor = page.json.meta.cursor;
  }
  expect(paged).toEqual(order6);
  expect((await get('/counts')).json.data).toEqual({
    soon: 0,
    today: 2,
    later: 1,
    no_deadline: 1,
    held: 1,
    postponed: 1,
    held_by: [{ reason: 'needs_review', drafts: 1 }],
    at_least: false,
  });
});

test('removes decided drafts from Review, and finds them in the view of all', async () => {
  const [ada, ben] = (await order('ben', 'ada')) as [DraftListed, DraftListed];
  await post(`/${ada.id}/approve`);
  await post(`/${ben.id}/skip`, { reason: 'not them' });
  expect(await userIds()).toEqual([]);
  expect(await userIds('?view=all')).toEqual(['ada', 'ben']);
  expect(await userIds('?view=all&filter=state:skipped')).toEqual(['ben']);
});

test('filters by the shared grammar, and reports an invalid filter', async () => {
  await order('ada', 'ben');
  for (const [filter, found] of [
    ['user:ada', ['ada']],
    ['rule:vip subject:*ben*', ['ben']],
    ['-user:ada', ['ben']],
    ['edited:yes', []],
    ['state:scheduled', ['ada', 'ben']],
    ['rule:other', []],
    ['ADA', ['ada']],
    ['vip -ada', ['ben']],
    ['hold:action', []],
  ] as const)
    expect([filter, await userIds(`?filter=${encodeURIComponent(filter)}`)]).toEqual([filter, found]);
  for (const wrong of ['colour:red', 'state:gone', 'user:']) {
    const { status, json } = await get(`?filter=${encodeURIComponent(wrong)}`);
    expect([status, json.errors[0]?.field]).toEqual([422, 'filter']);
  }
  for (const cursor of ['x', 'W10', Buffer.from('["0","","x"]').toString('base64url')])
    expect((await get(`?cursor=${cursor}`)).json.errors[0]?.field).toBe('cursor');
});

test('shows a whole draft, with the send check that holds it and each action by its actor', async () => {
  const { id } = await orderDraft();
  await scenario.set({ quiet_hours: '00:00-23:59' });
  const { data } = (await get(`/${id}`)).json;
  expect(data).toMatchObject({
    id,
    content: { subject: 'Hello ada', body: 'Your plan is pro.\n\nBye for now', format: 'markdown' },
    facts: { 'user.name': 'ada', 'user.plan': 'pro' },
    rule: { name: 'vip' },
    rule_holds: true,
    send_check: { reason: 'quiet_hours', sentence: expect.any(String) },
    history: [{ number: 1, action: 'schedule', to: 'scheduled', actor: 'Ada' }],
    autopilot: true,
    lease: null,
  });
});

test('explains a draft from its event on, with the values that were found', async () => {
  const only_if = {
    all: [
      { trait: 'plan', equals: 'pro' },
      { event: 'order_placed', at_least: 1 },
    ],
  };
  await scenario.rule({ ...RULE, name: 'best', when: { event: 'praised' }, only_if });
  await scenario.user('ada', { email: 'ada@x.org', traits: { name: 'Ada', plan: 'pro' } });
  await scenario.event('ada', 'order_placed');
  await scenario.event('ada', 'praised', { stars: 5 });
  await scenario.later(1_000);
  const [draft] = await list('?filter=rule:best');
  await post(`/${draft?.id}/postpone`, { until: new Date(scenario.now() + 5 * HOUR).toISOString() });
  const { data } = (await get<DraftContext>(`/${draft?.id}/context`)).json;
  const steps = data.why.map(({ kind, sentence, holds, values, actor }) => ({
    kind,
    sentence,
    holds,
    values,
    actor,
  }));
  expect(steps).toMatchObject([
    { kind: 'trigger', sentence: expect.stringContaining('praised happened'), values: { stars: 5 } },
    { kind: 'condition', sentence: 'plan is pro', holds: true, values: { plan: 'pro' } },
    { kind: 'condition', holds: true, values: { order_placed: { count: 1 } } },
    { kind: 'email', values: { 'user.name': 'Ada' } },
    { kind: 'deadline', values: { autopilot: '4 hours' } },
    { kind: 'action', sentence: 'Postponed', actor: 'Ada' },
    { kind: 'send_check', holds: true },
  ]);
  expect(data.user).toMatchObject({ external_user_id: 'ada', traits: { plan: 'pro' }, suppressed: false });
  expect(data.emails).toMatchObject([{ rule: 'vip', subject: 'Hello Ada', outcomes: [] }]);
  expect(data.thread).toEqual([]);
});

test('renders the email as a sandboxed page, for light or dark screens, without remote images', async () => {
  const { id } = await orderDraft();
  await post(`/${id}/edit`, { body: 'See ![a cat](https://cats.example/cat.png) <script>alert(1)</script>' });
  const { status, text, headers } = await get(`/${id}/email.html?scheme=dark`);
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'; .*img-src data:/);
  expect([headers['x-content-type-options'], headers['cache-control']]).toEqual(['nosniff', 'no-store']);
  expect(text).toContain('color-scheme:only dark');
  expect(text).not.toContain('<script');
  const { data } = (await get<DraftPreview>(`/${id}/preview`)).json;
  expect(data).toMatchObject({ to: 'ada@x.org', remote_images: 1, bytes: { html_max: 104_448 } });
  expect(data.headers.map(({ name }) => name)).toContain('list-unsubscribe');
  expect(data.text).toContain('See');
  expect(data.checks.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['links', 'placeholders', 'unsubscribe', 'contrast', 'tone', 'size']),
  );
});

test('uses the locale of the user for the preview and the page of a draft', async () => {
  const { id } = await orderDraft();
  await scenario.user('ada', { traits: { locale: 'it' } });
  await scenario.later(60_000);
  expect((await get(`/${id}/email.html`)).text).toContain('<html lang="it" dir="ltr" ');
  expect((await get<DraftPreview>(`/${id}/preview`)).json.data.text).toContain(
    'Ricevi questa email perché usi',
  );
});

test('keeps each version of the text with its author, beside the current template', async () => {
  const { id } = await orderDraft();
  await post(`/${id}/edit`, { body: 'First' });
  await post(`/${id}/edit`, { subject: 'Second' });
  await scenario.user('ada', { traits: { plan: 'free' } });
  await scenario.later(1_000);
  const { data } = (await get<DraftVersions>(`/${id}/versions`)).json;
  expect(data.template).toMatchObject({ name: null, body: 'Your plan is free.\n\nBye for now' });
  expect(data.versions.map(({ content, actor }) => [content.subject, content.body, actor])).toEqual([
    ['Second', 'First', 'Ada'],
    ['Hello ada', 'First', 'Ada'],
    ['Hello ada', 'Your plan is pro.\n\nBye for now', 'Ada'],
  ]);
});

test('reports repeated edits on the rule, with a proposed change of its template', async () => {
  for (const { id, user: person } of await order('adam', 'benny', 'cleo'))
    if (person.external_user_id !== 'cleo')
      await post(`/${id}/edit`, { body: `Your plan is pro.\n\nCheers for now` });
  const [draft] = await list();
  const { json } = await dashboard.request(
    `GET /projects/${scenario.projectId}/rules/${draft?.rule.id}/edits`,
  );
  expect(json.data).toMatchObject({
    drafts: 2,
    edited: 2,
    changes: [
      { template: null, part: 'body', count: 2, total: 2, sentence: '2 of 2 wrote “Cheers” for “Bye”' },
    ],
    proposals: [
      {
        before: 'Your plan is {{ user.plan }}.\n\nBye for now',
        after: 'Your plan is {{ user.plan }}.\n\nCheers for now',
      },
    ],
  });
  expect((await dashboard.request(`GET /projects/${scenario.projectId}/rules/nothing/edits`)).status).toBe(
    404,
  );
});

test('returns 404 for a draft of another project and for an unknown id', async () => {
  const { id } = await orderDraft();
  const other = await createProject(db, { name: 'Other' });
  for (const of of [
    `/projects/${other.id}/drafts/${id}`,
    `${at}/0198b1c2-0000-7000-8000-000000000001`,
    `${at}/x`,
  ]) {
    for (const what of ['', '/context', '/preview', '/versions', '/email.html'])
      expect([of, what, (await dashboard.request(`GET ${of}${what}`)).status]).toEqual([of, what, 404]);
    for (const act of ['approve', 'skip', 'edit', 'undo', 'open-editor', 'close-editor', 'send-again'])
      expect([act, (await dashboard.request(`POST ${of}/${act}`, { body: {} })).status]).toEqual([act, 404]);
  }
  expect((await dashboard.request(`GET /projects/${other.id}/drafts?view=all`)).json.data).toEqual([]);
});

test('deletes all texts of the drafts of an erased user', async () => {
  const { id } = await orderDraft();
  await post(`/${id}/edit`, { body: 'For ada alone' });
  const kept = () => db.query('SELECT 1 FROM beckon.draft_content WHERE draft_id = $1', [id]);
  expect(await kept()).toHaveLength(2);
  await erasePerson(
    { db, newId: idMaker(db.clock), hasher: testHasher },
    { projectId: scenario.projectId, userId: 'ada' },
  );
  expect(await kept()).toEqual([]);
});
