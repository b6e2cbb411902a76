import type {
  PauseEffect,
  PolicyEffect,
  ProjectSettingsDetails,
  EndpointRateLimit,
  ResumeEffect,
  SendingState,
} from '@beckon/contract/dashboard';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { testDashboard } from '../../../testing/servers/dashboard.ts';
import { newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';
import { HOUR } from '../../../testing/factories/drafts.ts';
import { listEntries } from '../workspace/audit/store.ts';

const stage = await openStage();
const { db } = stage.server;
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

const EMAIL = { draft: { subject: 'Hello', body: 'Hello' } };
let scenario: Scenario;
const request = <T = ProjectSettingsDetails>(
  what: string,
  options: Parameters<typeof dashboard.request>[1] = {},
) => {
  const [method, path] = what.split(' ');
  return dashboard.request<T>(`${method} /projects/${scenario.projectId}/${path}`, options);
};

beforeEach(async () => {
  scenario = await newScenario(stage);
});

/** Creates users with one waiting email each, which is sent in four hours. */
async function greet(...users: string[]): Promise<void> {
  await scenario.rule({ name: 'greeter', when: { event: 'hello' }, deadline: '4h', steps: [EMAIL] });
  for (const user of users) {
    await scenario.user(user, { email: `${user}@x.org` });
    await scenario.event(user, 'hello');
  }
  await scenario.later(0);
}

const textOf = (json: { data: ProjectSettingsDetails }, name: string) =>
  json.data.settings.find((setting) => setting.name === name)?.value;

test('shows every setting with its allowed values, and changes it in its stored text form', async () => {
  const { json } = await request('GET settings', { as: 'viewer' });
  expect(json.data.settings).toContainEqual({
    name: 'quiet_hours',
    value: '21:00-08:00',
    default: '21:00-08:00',
    format: expect.stringContaining('two different times of day') as string,
  });
  expect(json.data.parsed).toMatchObject({
    quiet_hours: { start: '21:00', end: '08:00' },
    frequency_cap: [
      { emails: 1, window_ms: 24 * HOUR },
      { emails: 3, window_ms: 7 * 24 * HOUR },
    ],
    throttle: { emails: 10, per_ms: 1_000 },
    tracking: { opens: true, clicks: true },
  });
  const changed = await request('PATCH settings', {
    as: 'admin',
    body: { settings: { quiet_hours: 'off', topics: 'news:News' } },
  });
  expect([changed.status, textOf(changed.json, 'quiet_hours')]).toEqual([200, 'off']);
  expect(changed.json.data.parsed.topics).toEqual([{ id: 'news', title: 'News' }]);
  expect((await request('GET settings')).json).toEqual(changed.json);
});

test('applies the default quiet hours only with a relay', async () => {
  const inForce = async () => (await request('GET settings')).json.data.quiet_hours_in_force;
  expect(await inForce()).toBe(true);
  await request('PATCH settings', { body: { settings: { quiet_hours: 'off' } } });
  expect(await inForce()).toBe(false);
  scenario = await newScenario(stage, { throttle: '5/s' });
  expect(await inForce()).toBe(false);
});

test('audits a change with its previous value, and without unchanged settings', async () => {
  await request('PATCH settings', { body: { settings: { throttle: '5/s', quiet_hours: '21:00-08:00' } } });
  const query = { projectIds: [scenario.projectId], actor: null, action: null, after: null, limit: 5 };
  expect(await listEntries(db, query)).toMatchObject([
    {
      action: 'settings.update',
      subject: 'throttle',
      before: { throttle: '10/s' },
      after: { throttle: '5/s' },
    },
  ]);
});

test('names each invalid setting, and changes none', async () => {
  const { status, json } = await request('PATCH settings', {
    body: { settings: { quiet_hours: 'always', throttle: 'much', footer: 'Bye', colour: 'red' } },
  });
  expect([status, json.errors.map(({ field }) => field)]).toEqual([
    422,
    ['quiet_hours', 'throttle', 'colour'],
  ]);
  expect(textOf((await request('GET settings')).json, 'footer')).toBe('none');
});

test("refuses to overwrite another member's change, and names that member", async () => {
  await request('PATCH settings', { body: { settings: { throttle: '7/s' } } });
  await scenario.set({ footer: 'Bye' });
  const { status, json } = await request('PATCH settings', {
    body: {
      settings: { throttle: '5/s', footer: 'See you' },
      seen: { throttle: '10/s', footer: 'none' },
    },
  });
  const messages = json.errors.map(({ field, message }) => [field, message]);
  expect([status, messages]).toEqual([
    409,
    [
      ['throttle', expect.stringMatching(/^Ada changed the setting at .*: .* It is 7\/s now$/)],
      ['footer', 'The setting footer was changed by another member. It is Bye now'],
    ],
  ]);
  const again = await request('PATCH settings', {
    body: { settings: { throttle: '5/s' }, seen: { throttle: '7/s' } },
  });
  expect(again.status).toBe(200);
  expect(textOf((await request('GET settings')).json, 'footer')).toBe('Bye');
});

test('lets only permitted roles change the policy, and returns 404 for another project', async () => {
  for (const what of ['PATCH settings', 'POST pause', 'POST resume', 'PATCH rate-limits/events']) {
    const body = what.endsWith('settings') ? { settings: { footer: 'x' } } : {};
    expect((await request(what, { as: 'editor', body })).status, what).toBe(403);
    const [method, path] = what.split(' ');
    expect((await dashboard.request(`${method} /projects/999999/${path}`, { body })).status, what).toBe(404);
  }
  for (const path of [
    'settings',
    'sending',
    'policy/simulate?quiet_hours=off',
    'pause',
    'resume',
    'rate-limits',
  ]) {
    expect((await request(`GET ${path}`, { as: 'viewer' })).status, path).toBe(200);
    expect((await dashboard.request(`GET /projects/999999/${path}`)).status, path).toBe(404);
  }
});

test('previews the effect of a policy hour by hour before it is saved', async () => {
  await greet('u1', 'u2');
  const { json } = await request<PolicyEffect>('GET policy/simulate?quiet_hours=15:00-20:00');
  const [at, later] = [16, 20].map((hour) => new Date(scenario.now()).setUTCHours(hour, 0, 0, 0));
  expect(json.data).toMatchObject({ drafts: 2, later: 2, earlier: 0, newly_expire: 0, stop_sending: 0 });
  expect(json.data.hours).toEqual([
    { at: new Date(at ?? 0).toISOString(), current: 2, proposed: 0 },
    { at: new Date(later ?? 0).toISOString(), current: 0, proposed: 2 },
  ]);
  expect((await request<PolicyEffect>('GET policy/simulate?autopilot=draft')).json.data.stop_sending).toBe(2);
  expect(textOf((await request('GET settings')).json, 'quiet_hours')).toBe('21:00-08:00');
  for (const wrong of ['quiet_hours=always', 'colour=red', 'autopilot=2h', '']) {
    expect((await request<PolicyEffect>(`GET policy/simulate?${wrong}`)).status, wrong).toBe(422);
  }
});

test('counts the emails that would expire under a policy', async () => {
  await scenario.set({ quiet_hours: 'off' });
  await greet('u1');
  await db.query(
    `UPDATE beckon.draft SET expires_at = deadline_at + interval '1 hour' WHERE project_id = $1`,
    [scenario.projectId],
  );
  expect(
    (await request<PolicyEffect>('GET policy/simulate?quiet_hours=15:00-20:00')).json.data.newly_expire,
  ).toBe(1);
});

test('changes one rate limit alone, and rejects a value out of bounds', async () => {
  const { json } = await request<EndpointRateLimit>('PATCH rate-limits/events', { body: { rate: 12.5 } });
  expect(json.data).toMatchObject({ endpoint: 'events', rate: 12.5 });
  expect((await request<EndpointRateLimit[]>('GET rate-limits')).json.data).toContainEqual(json.data);
  expect(
    (await request<EndpointRateLimit>('PATCH rate-limits/users-bulk', { body: { burst: 7 } })).json.data
      .burst,
  ).toBe(7);
  for (const body of [{ rate: 0 }, { burst: 1.5 }, {}, { rate: 'x' }])
    expect((await request<EndpointRateLimit>('PATCH rate-limits/events', { body })).status).toBe(422);
  expect((await request<EndpointRateLimit>('PATCH rate-limits/unknown', { body: { rate: 1 } })).status).toBe(
    422,
  );
});

test('previews a pause, sends nothing during it, and previews what resuming releases', async () => {
  await greet('u1', 'u2');
  expect((await request<PauseEffect>('GET pause')).json.data).toEqual({
    paused: false,
    next_hour: 0,
    next_day: 2,
    open: 2,
    truncated: false,
  });
  expect((await request('POST pause', { as: 'admin' })).json.data).toEqual({ paused: true });
  await scenario.later(6 * HOUR);
  expect(await scenario.emails()).toEqual([]);
  expect((await request<PauseEffect>('GET pause')).json.data).toMatchObject({ paused: true, next_hour: 2 });
  expect((await request<ResumeEffect>('GET resume')).json.data).toEqual({
    was_paused: true,
    open: 2,
    expired: 0,
    overdue: 2,
    held: 0,
    long_held: 0,
    needs_confirmation: false,
  });
  const resumed = await request<{ paused: false; canceled: number; postponed: number }>('POST resume', {
    as: 'admin',
    body: {},
  });
  expect(resumed.json.data).toEqual({ paused: false, canceled: 0, postponed: 2 });
  const again = await request<{ paused: false; canceled: number; postponed: number }>('POST resume', {
    body: {},
  });
  expect([again.status, again.json.errors[0]?.message]).toEqual([
    409,
    expect.stringContaining('not paused') as string,
  ]);
  const [draft] = await scenario.drafts('u1');
  expect(draft?.deadlineAt).toBeGreaterThan(scenario.now());
  const query = { projectIds: [scenario.projectId], actor: null, action: 'project.', after: null, limit: 5 };
  expect((await listEntries(db, query)).map(({ action }) => action)).toEqual([
    'project.resume',
    'project.pause',
  ]);
});

test('releases more than a hundred drafts held for a day only with their number typed', async () => {
  await greet('u1');
  await request('POST pause');
  await db.query(
    `INSERT INTO beckon.draft SELECT (d).* FROM (SELECT jsonb_populate_record(d, jsonb_build_object(
         'id', gen_random_uuid(), 'run_id', NULL, 'external_user_id', 'x' || n)) AS d
       FROM beckon.draft d, generate_series(1, 100) n WHERE d.project_id = $1) d`,
    [scenario.projectId],
  );
  await scenario.later(30 * HOUR);
  expect((await request<ResumeEffect>('GET resume')).json.data).toMatchObject({
    long_held: 101,
    needs_confirmation: true,
  });
  for (const body of [{}, { confirmed: 100 }]) {
    const { status, json } = await request<{ paused: false; canceled: number; postponed: number }>(
      'POST resume',
      { body },
    );
    expect([status, json.errors[0]]).toEqual([
      409,
      expect.objectContaining({ field: 'confirmed', message: expect.stringContaining('101') as string }),
    ]);
  }
  expect((await request<PauseEffect>('GET pause')).json.data.paused).toBe(true);
  expect(
    (
      await request<{ paused: false; canceled: number; postponed: number }>('POST resume', {
        body: { confirmed: 101 },
      })
    ).json.data.postponed,
  ).toBe(101);
});

test('shows the sender of emails, and its problem with a relay before there is one', async () => {
  const before = (await request<SendingState>('GET sending')).json.data;
  expect(before).toMatchObject({
    sender: { test_inbox: true, problem: null, address: 'emails@test-inbox.invalid', domain: null },
    with_relay: { reason: 'no_sender' },
    warmup: { off: 'test_inbox' },
    replies: { captured: false, missing: 'mail_domain' },
    domains: [],
    has_model: false,
  });
  await scenario.set({
    from_name: 'Ada',
    from_address: 'ada@x.org',
    postal_address: 'Here 1',
    reply_to: 'r@x.org',
  });
  const after = (await request<SendingState>('GET sending')).json.data;
  expect(after.sender).toMatchObject({ name: 'Ada', address: 'ada@x.org', reply_to: 'r@x.org' });
  expect(after.with_relay).toEqual({
    reason: 'domain_not_ready',
    detail: 'x.org was not added as a sending domain',
  });
});
