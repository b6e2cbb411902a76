import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type {
  BulkActed,
  DraftListed,
  DraftMoved,
  DraftWhole,
  EmailListed,
  EmailsSentAgain,
} from '@beckon/contract/dashboard';
import { testDashboard } from '../../../testing/servers/dashboard.ts';
import { newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';
import { listEntries } from '../workspace/audit/store.ts';

const stage = await openStage();
const { db } = stage.server;
const submitted: string[] = [];
const dashboard = testDashboard(db, {
  openRelay: () =>
    Promise.resolve({
      submit: ({ to }: { to: string }) => {
        submitted.push(to);
        return Promise.resolve({ result: 'sent', reply: '250 kept', relayId: null } as never);
      },
    }),
});
afterAll(() => dashboard.close());

const HOUR = 3_600_000;
const EMAIL = { draft: { subject: 'Hello {{ user.name }}', body: 'Your plan is {{ user.plan }}.' } };

let scenario: Scenario;
let at: string;
beforeEach(async () => {
  scenario = await newScenario(stage);
  at = `/projects/${scenario.projectId}/drafts`;
  await scenario.rule({ name: 'vip', when: { event: 'order_placed' }, enrollment: 'once', steps: [EMAIL] });
  await scenario.set({ autopilot: '4h' });
});

const post = <T = DraftMoved>(path: string, body: object = {}, options = {}) =>
  dashboard.request<T>(`POST ${at}${path}`, { body, ...options });
const list = async (query = ''): Promise<DraftListed[]> =>
  (await dashboard.request<DraftListed[]>(`GET ${at}${query}`)).json.data;
const later = (ms: number): string => new Date(scenario.now() + ms).toISOString();

async function order(...users: string[]): Promise<DraftListed[]> {
  for (const user of users) {
    await scenario.user(user, { email: `${user}@x.org`, traits: { name: user, plan: 'pro' } });
    await scenario.event(user, 'order_placed');
  }
  await scenario.later(1_000);
  return list();
}

async function orderDraft(): Promise<DraftListed> {
  const [draft] = await order('ada');
  if (!draft) throw new Error('there is no draft');
  return draft;
}

const stateOf = async (id: string): Promise<string> =>
  (await dashboard.request<DraftListed>(`GET ${at}/${id}`)).json.data.state;

test('returns the draft after an action, and the send check that still holds an approved one', async () => {
  const { id, content_hash: hash } = await orderDraft();
  await scenario.set({ quiet_hours: '00:00-23:59' });
  const { status, json } = await post(`/${id}/approve`, { hash });
  expect([status, json.data]).toMatchObject([
    200,
    {
      draft: { id, state: 'approved', not_before: later(10_000), user: { name: 'ada' } },
      send_check: { reason: 'quiet_hours', detail: { time_zone: 'UTC' } },
    },
  ]);
  const undone = await post(`/${id}/undo`);
  expect(undone.json.data).toMatchObject({ draft: { state: 'scheduled' }, send_check: null });
});

test('skips with a reason, postpones past the expiry only on request, and sends no skipped draft', async () => {
  const { id } = await orderDraft();
  const far = { until: later(100 * HOUR) };
  expect((await post(`/${id}/postpone`, far)).json.errors[0]).toMatchObject({ field: 'until' });
  expect((await post(`/${id}/postpone`, { ...far, extend: true })).json.data.draft.deadline_at).toBe(
    far.until,
  );
  for (const until of ['tomorrow', later(-HOUR), ''])
    expect((await post(`/${id}/postpone`, { until })).status).toBe(422);
  const skipped = await post(`/${id}/skip`, { reason: ' not them ' });
  expect(skipped.json.data.draft).toMatchObject({ state: 'skipped', reason: 'not them' });
  await scenario.later(200 * HOUR);
  expect(await scenario.emails()).toEqual([]);
});

test('undoes a postponement for ten seconds, and not after that', async () => {
  const { id, deadline_at: deadline, expires_at: expires } = await orderDraft();
  const off = { until: later(100 * HOUR), extend: true };
  await post(`/${id}/postpone`, off);
  const back = await post(`/${id}/undo`);
  expect(back.json.data.draft).toMatchObject({
    state: 'scheduled',
    deadline_at: deadline,
    expires_at: expires,
  });
  await db.query(`UPDATE beckon.draft SET deadline_at = NULL, due_at = NULL WHERE id = $1`, [id]);
  expect((await post(`/${id}/postpone`, off)).json.data.draft).toMatchObject({
    state: 'held',
    reason: 'postponed',
  });
  expect((await post(`/${id}/undo`)).json.data.draft).toMatchObject({
    state: 'scheduled',
    deadline_at: null,
  });
  await post(`/${id}/approve`);
  await post(`/${id}/postpone`, off);
  expect((await post(`/${id}/undo`)).json.data.draft.state).toBe('approved');
  await post(`/${id}/postpone`, off);
  stage.server.clock.advance(10_000);
  expect((await post(`/${id}/undo`)).status).toBe(409);
});

test('names the author in a conflict with a newer text, and does not save the stale edit', async () => {
  const { id, content_hash: hash, moves } = await orderDraft();
  await post(`/${id}/edit`, { hash, body: 'Written by the first' }, { as: 'editor' });
  stage.server.clock.advance(3_000);
  for (const seen of [{ hash }, { moves }]) {
    const { status, json } = await post(
      `/${id}/edit`,
      { ...seen, body: 'Written by the second' },
      { as: 'admin' },
    );
    expect(status).toBe(409);
    expect(json.errors[0]?.message).toContain('Ada');
  }
  expect((await dashboard.request<DraftWhole>(`GET ${at}/${id}`)).json.data.content.body).toBe(
    'Written by the first',
  );
});

test('refuses actions while another member has the editor open, and names that member', async () => {
  const { id } = await orderDraft();
  const opened = await post(`/${id}/open-editor`, {}, { as: 'editor' });
  expect(opened.json.data.draft).toMatchObject({
    state: 'held',
    reason: 'editing',
    lease: { by: 'Ada', mine: true },
  });
  expect((await list())[0]?.lease).toMatchObject({ by: 'Ada', mine: false });
  const refused = await post(`/${id}/approve`, {}, { as: 'reviewer' });
  expect([refused.status, refused.json.errors[0]?.message]).toEqual([409, expect.stringContaining('Ada')]);
  expect((await post(`/${id}/close-editor`, {}, { as: 'editor' })).json.data.draft).toMatchObject({
    state: 'scheduled',
    lease: null,
  });
  expect((await post(`/${id}/close-editor`)).status).toBe(409);
});

test('rejects a text that an email cannot have, with its field', async () => {
  const { id } = await orderDraft();
  expect((await post(`/${id}/edit`, { subject: ' ' })).json.errors[0]).toMatchObject({ field: 'subject' });
  expect((await post(`/${id}/edit`, { body: '' })).json.errors[0]).toMatchObject({ field: 'body' });
  expect((await post(`/${id}/edit`, { words: 'x' })).json.errors[0]).toMatchObject({ field: 'words' });
});

test('resends an email of unknown delivery only with the typed id of its user', async () => {
  const { id } = await orderDraft();
  await db.query(
    `UPDATE beckon.draft SET state = 'unknown', resume_state = NULL, reason = 'lost', due_at = NULL, ended_at = now() WHERE id = $1`,
    [id],
  );
  expect((await post(`/${id}/send-again`)).status).toBe(409);
  expect((await post(`/${id}/send-again`, { confirm: 'ben' })).json.errors[0]).toMatchObject({
    field: 'confirm',
  });
  const again = await post(`/${id}/send-again`, { confirm: 'ada' });
  expect(again.json.data.draft).toMatchObject({ state: 'approved', resend_of: id });
  const twice = await post(`/${id}/send-again`, { confirm: 'ada' });
  expect(twice.json.errors[0]?.message).toContain(again.json.data.draft.id);
});

test('resends many emails at once, and refuses those that were delivered or may have been', async () => {
  const drafts = await order('ada', 'ben', 'cleo', 'dan');
  const states: Record<string, string> = { ada: 'failed', ben: 'failed', cleo: 'unknown', dan: 'sent' };
  for (const { id, user } of drafts) {
    const state = states[user.external_user_id];
    await db.query(
      `UPDATE beckon.draft SET state = $2, resume_state = NULL, reason = 'lost', due_at = NULL, ended_at = now() WHERE id = $1`,
      [id, state],
    );
    await db.query(
      `INSERT INTO beckon.email (project_id, draft_id, id, rule_id, external_user_id, address, state, counts, claimed_at)
       SELECT project_id, id, md5(id::text)::uuid, rule_id, external_user_id, '', $2, false, now() FROM beckon.draft WHERE id = $1`,
      [id, state],
    );
  }
  const path = `POST /projects/${scenario.projectId}/emails/send-again`;
  const { json } = await dashboard.request<EmailListed[]>(`GET /projects/${scenario.projectId}/emails`);
  const emails = [...json.data.map(({ id }) => id), randomUUID(), 'none'];
  expect((await dashboard.request(path, { body: { emails }, as: 'viewer' })).status).toBe(403);
  const first = await dashboard.request<EmailsSentAgain>(path, { body: { emails }, as: 'reviewer' });
  expect(first.json.data.sent_again).toBe(2);
  expect(first.json.data.refused).toEqual([
    { message: 'The email is no longer stored', rows: 2 },
    expect.objectContaining({ rows: 1 }),
    expect.objectContaining({ rows: 1 }),
  ]);
  expect(first.json.data.refused.map(({ message }) => message)).toEqual(
    expect.arrayContaining([expect.stringContaining('may have arrived'), 'The email was already sent']),
  );
  const again = await dashboard.request<EmailsSentAgain>(path, { body: { emails }, as: 'reviewer' });
  expect(again.json.data).toMatchObject({
    sent_again: 0,
    refused: expect.arrayContaining([{ message: 'The email was already sent again', rows: 2 }]),
  });
});

test('sends a test email to the member who requests it, and changes nothing', async () => {
  const { id } = await orderDraft();
  const { json } = await post(`/${id}/send-test`);
  expect(json.data).toEqual({ to: 'ada@x.org', subject: '[Test] Hello ada', reply: '250 kept' });
  expect((await post(`/${id}/send-test`, { to: 'no address' })).json.errors[0]).toMatchObject({
    field: 'to',
  });
  expect([submitted, await stateOf(id)]).toEqual([['ada@x.org'], 'scheduled']);
});

test('allows each action by role, and logs it without any text of the email', async () => {
  const { id } = await orderDraft();
  const may: [string, string, object][] = [
    ['approve', 'reviewer', {}],
    ['undo', 'reviewer', {}],
    ['open-editor', 'editor', {}],
    ['close-editor', 'editor', {}],
    ['edit', 'editor', { body: 'A secret word' }],
    ['postpone', 'reviewer', { until: later(5 * HOUR) }],
    ['skip', 'reviewer', {}],
  ];
  const below = { reviewer: 'viewer', editor: 'reviewer' } as Record<string, string>;
  for (const [act, role, body] of may) {
    expect([act, (await post(`/${id}/${act}`, body, { as: below[role] })).status]).toEqual([act, 403]);
    expect([act, (await post(`/${id}/${act}`, body, { as: role })).status]).toEqual([act, 200]);
  }
  const entries = await listEntries(db, {
    projectIds: [scenario.projectId],
    actor: null,
    action: null,
    after: null,
    limit: 50,
  });
  const actions = ['approve', 'close_editor', 'edit', 'open_editor', 'postpone', 'skip', 'undo'];
  expect(entries.map(({ action }) => action).toSorted()).toEqual(actions.map((act) => `draft.${act}`));
  expect(entries.every(({ subject }) => subject === id)).toBe(true);
  expect(JSON.stringify(entries)).not.toContain('secret word');
});

test('previews the effect of a bulk action, which then has that effect', async () => {
  const drafts = await order('ada', 'ben', 'cleo', 'dan');
  const [ada, ben] = drafts.toSorted((a, b) => (a.user.external_user_id < b.user.external_user_id ? -1 : 1));
  await post(`/${ada?.id}/open-editor`, {}, { as: 'editor' });
  await post(`/${ben?.id}/approve`);
  await scenario.set({ quiet_hours: '00:00-23:59' });
  const body = { action: { kind: 'approve' }, ids: drafts.map(({ id }) => id) };
  const { json: preview } = await post('/bulk/preview', body, { as: 'reviewer' });
  expect(preview.data).toEqual({
    drafts: 4,
    more: false,
    would_change: 2,
    users: 2,
    unchanged: expect.arrayContaining([
      { message: expect.stringContaining('editing'), drafts: 1 },
      { message: expect.stringContaining('approved'), drafts: 1 },
    ]),
    held_by: [{ reason: 'quiet_hours', sentence: expect.any(String), drafts: 2 }],
    sends_now: 0,
    rules: [{ name: 'vip', drafts: 2 }],
  });
  const states = await Promise.all(drafts.map(({ id }) => stateOf(id)));
  expect(states.toSorted()).toEqual(['approved', 'held', 'scheduled', 'scheduled']);
  const { json: result } = await post<BulkActed>('/bulk', body, { as: 'reviewer' });
  const acted = result.data.changed.map(({ user: person, state }: DraftListed) => `${person.name} ${state}`);
  expect(acted.toSorted()).toEqual(['cleo approved', 'dan approved']);
  expect(result.data.unchanged).toHaveLength(2);
});

test('skips or postpones all drafts of a filter at once, and none without a selection', async () => {
  await order('ada', 'ben', 'cleo');
  const skip = { kind: 'skip', reason: 'not today' };
  const result = await post('/bulk', { action: skip, filter: 'user:ada' });
  expect(result.json.data).toMatchObject({
    changed: [{ state: 'skipped', reason: 'not today' }],
    unchanged: [],
    more: false,
  });
  const off = await post<BulkActed>('/bulk', {
    action: { kind: 'postpone', until: later(9 * HOUR) },
    filter: '',
  });
  expect(off.json.data.changed.map(({ deadline_at }: DraftListed) => deadline_at)).toEqual(
    Array(2).fill(later(9 * HOUR)),
  );
  for (const body of [
    { action: skip },
    { action: skip, ids: ['x'], filter: '' },
    { action: { kind: 'edit' }, filter: '' },
  ])
    expect((await post('/bulk', body)).status).toBe(422);
  expect((await post('/bulk', { action: skip, ids: ['x'] })).status).toBe(404);
  expect((await post('/bulk/preview', { action: skip, filter: '' }, { as: 'viewer' })).status).toBe(403);
});
