import type { Home, HomeCounts } from '@beckon/contract/dashboard';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { testDashboard } from '../../../testing/servers/dashboard.ts';
import { HOUR } from '../../../testing/factories/drafts.ts';
import { testMail } from '../../../testing/factories/send-services.ts';
import { DAY, newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';

const stage = await openStage();
const { db } = stage.server;
const dashboard = testDashboard(db);
const relay = testDashboard(
  db,
  testMail({ outlet: { kind: 'relay', publicUrl: 'https://mail.x.org', mailDomain: null } }),
);
afterAll(() => Promise.all([dashboard.close(), relay.close()]));

const EMAIL = { draft: { subject: 'Hello', body: 'Hello' } };
let scenario: Scenario;
type HomeResponses = { home: Home; counts: HomeCounts };
const request = async <P extends keyof HomeResponses>(path: P): Promise<HomeResponses[P]> =>
  (await dashboard.request<HomeResponses[P]>(`GET /projects/${scenario.projectId}/${path}`, { as: 'viewer' }))
    .json.data;

beforeEach(async () => {
  scenario = await newScenario(stage);
  await scenario.rule({ name: 'greeter', when: { event: 'hello' }, deadline: '4h', steps: [EMAIL] });
});

async function greet(user: string): Promise<void> {
  await scenario.user(user, { email: `${user}@x.org` });
  await scenario.event(user, 'hello');
  await scenario.later(0);
}

const counts = async () => {
  const { review, held, failed, dead_letters: dead } = await request('counts');
  return [review, held, failed, dead].map(({ count }) => count);
};
const needs = async (): Promise<{ kind: string }[]> => (await request('home')).needs;
const after = (ms: number): string => new Date(scenario.now() + ms).toISOString();

test('shows a new project the steps to its first email, and nothing that needs attention', async () => {
  const home = await request('home');
  expect(home).toMatchObject({ time_zone: 'UTC', needs: [], first_email: null });
  expect(home.health).toMatchObject({
    queue: { waiting: 0, waiting_max: 50_000, oldest_ms: 0 },
    last_event: null,
    sender: { test_inbox: true, problem: null },
    domain: null,
  });
  expect(home.setup).toEqual([
    { id: 'key_created', done: true, required: true },
    { id: 'first_event', done: false, required: true },
    { id: 'rule_on', done: true, required: true },
    { id: 'first_email', done: false, required: true },
    { id: 'team_invited', done: false, required: false },
  ]);
});

test('shows the first draft with its send time and its send check, until an email was sent', async () => {
  await scenario.until('20:00');
  await greet('ada');
  const { first_email: first, health } = await request('home');
  expect(health.last_event).toEqual({ name: 'hello', received_at: after(0) });
  expect(first).toMatchObject({
    subject: 'Hello',
    rule: 'greeter',
    external_user_id: 'ada',
    state: 'scheduled',
    reason: 'quiet_hours',
    quiet_until: after(12 * HOUR),
    time_zone: 'UTC',
  });
  const leavesAt = Date.parse(first?.sends_at ?? '');
  expect(leavesAt).toBeGreaterThanOrEqual(scenario.now() + 12 * HOUR);
  await scenario.later(leavesAt - scenario.now());
  expect((await scenario.emails()).map(({ at }) => at)).toEqual([leavesAt]);
  const home = await request('home');
  expect([home.first_email, home.setup]).toEqual([null, null]);
});

test('shows no send time for a draft that only a member can send', async () => {
  await scenario.set({ autopilot: 'draft' });
  await greet('ada');
  expect((await request('home')).first_email).toMatchObject({
    sends_at: null,
    reason: null,
    state: 'scheduled',
  });
});

test('adds the steps to real sending to the setup if there is a relay', async () => {
  const home = async () => (await relay.request<Home>(`GET /projects/${scenario.projectId}/home`)).json.data;
  const ofRelay = async () =>
    (await home()).setup
      ?.filter(({ id }) => /domain|sender|suppressions/.test(id))
      .map(({ id, done }) => [id, done]);
  expect(await ofRelay()).toEqual([
    ['domain_verified', false],
    ['sender_set', false],
    ['suppressions_imported', false],
  ]);
  expect((await home()).health.sender).toMatchObject({ test_inbox: false, problem: { reason: 'no_sender' } });
  await scenario.set({ from_name: 'Ada', from_address: 'ada@x.org', postal_address: 'Here 1' });
  await db.query(
    `INSERT INTO beckon.suppression (project_id, kind, value, reason, created_at, created_by)
     VALUES ($1, 'email', 'bo@x.org', 'import', now(), 'operator')`,
    [scenario.projectId],
  );
  expect(await ofRelay()).toEqual([
    ['domain_verified', false],
    ['sender_set', true],
    ['suppressions_imported', true],
  ]);
});

test('counts waiting, held, failed and dead-lettered items for the badges', async () => {
  expect(await counts()).toEqual([0, 0, 0, 0]);
  for (const user of ['ada', 'bo', 'cy', 'di']) await greet(user);
  expect(await counts()).toEqual([4, 0, 0, 0]);
  await scenario.user('ed', {});
  await scenario.event('ed', 'hello');
  await scenario.later(0);
  expect(await counts()).toEqual([4, 1, 0, 0]);
  for (const [user, state] of [
    ['ada', 'failed'],
    ['bo', 'unknown'],
  ])
    await db.query(
      `UPDATE beckon.draft SET state = $3, reason = 'timeout', ended_at = $4, due_at = NULL
       WHERE project_id = $1 AND external_user_id = $2`,
      [scenario.projectId, user, state, new Date(scenario.now())],
    );
  await db.query(
    `INSERT INTO beckon.dead_letter (project_id, seq, priority, kind, record, reason, accepted_at, dead_lettered_at)
     VALUES ($1, 900, 'live', 'events', '{}', 'refused', now(), now())`,
    [scenario.projectId],
  );
  expect(await counts()).toEqual([2, 1, 2, 1]);
  expect((await needs()).filter(({ kind }) => kind !== 'due_today')).toEqual([
    { kind: 'held', drafts: { count: 1, at_least: false }, reasons: [{ reason: 'no_address', drafts: 1 }] },
    { kind: 'failed', failed: 1, unknown: 1, at_least: false, since: expect.any(String) as string },
    { kind: 'dead_letters', records: { count: 1, at_least: false } },
  ]);
  // Resent emails and old failures need no attention any more.
  await scenario.act('bo', { kind: 'send_again', confirmed: true });
  expect(await counts()).toEqual([2, 1, 1, 1]);
  await scenario.set({ paused: 'true' });
  await scenario.later(8 * DAY);
  expect((await counts())[2]).toBe(0);
});

test('lists the drafts due today first, with the one that is sent next, and the filter that lists them', async () => {
  await greet('ada');
  await scenario.later(HOUR);
  await greet('bo');
  await scenario.later(2 * HOUR + HOUR / 2);
  const [first, ...others] = await needs();
  expect(others).toEqual([]);
  expect(first).toEqual({
    kind: 'due_today',
    drafts: { count: 2, at_least: false },
    soon: { count: 1, at_least: false },
    filter: expect.stringMatching(/^state:scheduled deadline:<\d/) as string,
    first: {
      draft_id: (await scenario.drafts('ada'))[0]?.id,
      subject: 'Hello',
      rule: 'greeter',
      external_user_id: 'ada',
      deadline_at: after(HOUR / 2),
    },
  });
  const listed = async (filter: string): Promise<string[]> =>
    (
      await dashboard.request<{ user: { external_user_id: string } }[]>(
        `GET /projects/${scenario.projectId}/drafts?filter=${encodeURIComponent(filter)}`,
      )
    ).json.data.map(({ user }) => user.external_user_id);
  expect(await listed((first as { filter?: string }).filter ?? '')).toEqual(['ada', 'bo']);
  expect(await listed(`deadline:>${after(HOUR)}`)).toEqual(['bo']);
  const wrong = await dashboard.request(`GET /projects/${scenario.projectId}/drafts?filter=deadline:soon`);
  expect([wrong.status, wrong.json.errors[0]?.field]).toEqual([422, 'filter']);
});

test('counts a draft as due today until midnight in the time zone of the project', async () => {
  await scenario.set({ time_zone: 'Pacific/Auckland' });
  // Noon in UTC is 01:00 in Auckland, so the deadline in four hours is today, and the one after 23:00 is not.
  await greet('ada');
  expect((await needs()).map(({ kind }) => kind)).toEqual(['due_today']);
  await scenario.rule({ name: 'later', when: { event: 'asked' }, deadline: '30h', steps: [EMAIL] });
  await scenario.user('bo', { email: 'bo@x.org' });
  await scenario.event('bo', 'asked');
  await scenario.later(0);
  expect((await needs())[0]).toMatchObject({ drafts: { count: 1 } });
});

test('lists a pause, a demoted rule and a failing domain or endpoint until they are resolved', async () => {
  await scenario.set({ paused: 'true' });
  const at = new Date(scenario.now());
  const id = (n: number): string => `00000000-0000-7000-8000-00000000000${n}`;
  await db.query(
    `UPDATE beckon.rule SET mode = 'draft', deadline_ms = NULL, demoted_at = $2, demoted_reason = 'bounces'
     WHERE project_id = $1 AND name = 'greeter'`,
    [scenario.projectId, at],
  );
  await db.query(
    `INSERT INTO beckon.sending_domain (project_id, id, name, state, findings, misses, created_at, state_at, throttle, warm)
     VALUES ($1, $2, 'x.org', 'failed', '[]', 3, $3, $3, 'off', false)`,
    [scenario.projectId, id(1), at],
  );
  await db.query(
    `INSERT INTO beckon.webhook_endpoint (project_id, id, url, created_at, disabled_at, disabled_reason, per_second, in_flight_max)
     VALUES ($1, $2, 'https://x.org/hook', $3, $3, 'gone', 50, 10)`,
    [scenario.projectId, id(2), at],
  );
  await db.query(
    `INSERT INTO beckon.webhook_health (project_id, endpoint_id, tokens, refilled_at) VALUES ($1, $2, 1, $3)`,
    [scenario.projectId, id(2), at],
  );
  expect(await needs()).toEqual([
    { kind: 'paused' },
    { kind: 'domain', name: 'x.org', state: 'failed', paused: null },
    { kind: 'endpoint', id: id(2), url: 'https://x.org/hook', problem: 'gone', since: null },
    { kind: 'rule_demoted', id: expect.any(String) as string, name: 'greeter', why: 'bounces' },
  ]);
  await scenario.set({ paused: 'false' });
  expect((await needs()).map(({ kind }) => kind)).not.toContain('paused');
});

test('returns 404 for another project, and 401 without a session', async () => {
  for (const path of ['counts', 'home']) {
    expect((await dashboard.request(`GET /projects/999999/${path}`)).status).toBe(404);
    expect(
      (await dashboard.request(`GET /projects/${scenario.projectId}/${path}`, { as: null })).status,
    ).toBe(401);
  }
});
