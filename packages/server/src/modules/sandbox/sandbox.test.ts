import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CheckedResponse } from '../../../testing/servers/http-client.ts';
import { type Caller, endpointServer, newCaller, twinOf } from '../../../testing/servers/endpoint-server.ts';
import { EVENTS } from '../../../testing/factories/endpoints.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { clockBy, testSandbox, type TestSandbox } from '../../../testing/factories/sandbox.ts';
import { createAudience } from '../audiences/change-audience.ts';
import { createRule } from '../rules/write-rule.ts';
import { setSettings } from '../administration/set-settings.ts';
import { resumeProject, suspendProject } from '../administration/suspend-project.ts';
import { listRuleNeeds } from '../rules/runs/rules-in-force.ts';

const server = await endpointServer();
const { db, clock } = server;
const DAY = 86_400_000;

async function pair(): Promise<{ live: Caller; sandbox: TestSandbox }> {
  const live = await newCaller(server, EVENTS);
  return { live, sandbox: await testSandbox(server, live.id) };
}

const person = (id: string, more: object = {}): object => ({
  external_user_id: id,
  email: `${id}@example.com`,
  ...more,
});
const event = (id: string, name: string, properties: object = {}): object => ({
  external_user_id: id,
  name,
  properties,
});
const clockOf = async (sandbox: Pick<TestSandbox, 'clock'>): Promise<unknown> =>
  (await sandbox.clock()).json.data;

async function count(table: string, projectId: number): Promise<number> {
  const [row] = await db.query<{ rows: number }>(
    `SELECT count(*) AS rows FROM beckon.${table} WHERE project_id = $1`,
    [projectId],
  );
  return row?.rows ?? 0;
}

test('runs a trial of fourteen days at once, with each email at its planned time', async () => {
  const { sandbox } = await pair();
  const at = (days: number, hours: number): string =>
    new Date(clock.now() + days * DAY + hours * 3_600_000).toISOString();
  await sandbox.post('users', person('ada'));
  await sandbox.post('events', event('ada', 'user_signed_up'));
  await sandbox.post('events', event('ada', 'trial_started', { trialDays: 14 }));
  expect(await sandbox.advance('7d')).toEqual({
    now: at(7, 0),
    advanced_ms: 7 * DAY,
    drafts: 2,
    emails: 2,
  });
  expect(await sandbox.advance('5d')).toEqual({
    now: at(12, 0),
    advanced_ms: 5 * DAY,
    drafts: 1,
    emails: 1,
  });
  expect(await sandbox.emails()).toEqual([
    { rule: 'welcome', user: 'ada', at: at(0, 2) },
    { rule: 'onboarding_stall', user: 'ada', at: at(3, 2) },
    { rule: 'trial_expiring', user: 'ada', at: at(11, 2) },
  ]);
  // They are in its test inbox, with the times of its own clock.
  const mails = await db.query<{ at: Date; subject: string }>(
    `SELECT at, subject FROM beckon.test_inbox_email WHERE project_id = $1 ORDER BY at`,
    [sandbox.id],
  );
  expect(mails.map((mail) => mail.at.toISOString())).toEqual([at(0, 2), at(3, 2), at(11, 2)]);
  // Their text is the same as in the project.
  expect(mails[0]?.subject).toBe('Welcome to Acme');
});

test('dates records by the sandbox clock, and accepts times as far ahead of it as elsewhere of real time', async () => {
  const { live, sandbox } = await pair();
  await sandbox.advance('30d');
  const soon = new Date(clock.now() + 30 * DAY + 50 * 60_000).toISOString();
  const later = new Date(clock.now() + 30 * DAY + 70 * 60_000).toISOString();
  const eventAt = (occurred_at: string): object => ({ ...event('ada', 'signed_up'), occurred_at });
  expect((await sandbox.post('events', eventAt(soon))).status).toBe(202);
  expect((await sandbox.post('events', eventAt(later))).errors).toMatchObject([{ field: 'occurred_at' }]);
  expect((await live.send({ body: eventAt(soon) })).errors).toMatchObject([{ field: 'occurred_at' }]);
  await sandbox.post('events', event('ada', 'report_shared'));
  await sandbox.advance('1s');
  const [stored] = await db.query<Record<'occurred_at' | 'accepted_at' | 'received_at', Date>>(
    `SELECT occurred_at, accepted_at, received_at FROM beckon.event WHERE project_id = $1 AND name = 'report_shared'`,
    [sandbox.id],
  );
  const then = new Date(clock.now() + 30 * DAY);
  expect(stored).toEqual({ occurred_at: then, accepted_at: then, received_at: then });
});

test('a project and its sandbox share only the settings and definitions at its creation', async () => {
  const live = await newCaller(server, EVENTS);
  const definition = { trait: 'plan', equals: 'pro' };
  const { id: audience } = await createAudience(
    { db, listRuleNeeds },
    { projectId: live.id, name: 'Pro', definition },
  );
  const steps = [{ draft: { subject: 'Hi', body: 'Hi' } }];
  const document = { name: 'Hello', when: { audience, move: 'joined' }, steps };
  await createRule(db, { projectId: live.id, document });
  await setSettings(db, live.id, { autopilot: '1h', team_addresses: 'ada@example.com', quiet_hours: 'off' });
  const sandbox = await testSandbox(server, live.id);
  const pro = person('ada', { traits: { plan: 'pro' } });
  await sandbox.post('users', pro);
  expect(await sandbox.advance('1d')).toMatchObject({ drafts: 1, emails: 1 });
  expect(await sandbox.emails()).toEqual([
    { rule: 'Hello', user: 'ada', at: new Date(clock.now() + 3_600_000).toISOString() },
  ]);
  const [settings] = await db.query(`SELECT settings FROM beckon.project_settings WHERE project_id = $1`, [
    sandbox.id,
  ]);
  expect(settings).toEqual({ settings: { autopilot: '1h', quiet_hours: 'off' } });
  for (const table of ['person', 'event', 'draft', 'email', 'ingest_queue'])
    expect([table, await count(table, live.id)]).toEqual([table, 0]);

  // The same Idempotency-Key in both is two keys.
  const once = crypto.randomUUID();
  const body = event('ada', 'report_shared');
  const replayed = async (response: Promise<CheckedResponse>): Promise<unknown> =>
    (await response).headers['idempotent-replayed'];
  expect(await replayed(live.send({ once, body }))).toBeUndefined();
  expect(await replayed(sandbox.post('events', body, { 'Idempotency-Key': once }))).toBeUndefined();
  expect(await replayed(sandbox.post('events', body, { 'Idempotency-Key': once }))).toBe('true');
  expect([await count('ingest_queue', live.id), await count('ingest_queue', sandbox.id)]).toEqual([1, 1]);
});

test('rejects sandbox keys while the setting is off, and keeps its data for when it is on', async () => {
  const { live, sandbox } = await pair();
  await sandbox.post('users', person('ada'));
  await sandbox.advance('1d');
  await setSettings(db, live.id, { sandbox: 'off' });
  expect((await sandbox.post('users', person('ada'))).status).toBe(401);
  expect((await sandbox.clock()).status).toBe(401);
  expect((await sandbox.clock({ advance: '1d' })).status).toBe(401);
  await setSettings(db, live.id, { sandbox: 'on' });
  expect((await sandbox.post('users', person('eve'))).status).toBe(202);
  expect(await clockOf(sandbox)).toMatchObject({ ahead_ms: DAY });
  expect(await count('person', sandbox.id)).toBe(1);
  // It is suspended and resumed with its project.
  await suspendProject(db, live.id);
  expect((await sandbox.post('users', person('ada'))).status).toBe(403);
  expect((await sandbox.clock({ advance: '1d' })).status).toBe(403);
  await resumeProject(db, live.id);
  expect((await sandbox.post('users', person('ada'))).status).toBe(202);
  await expect(setSettings(db, sandbox.id, { sandbox: 'on' })).rejects.toThrow('no sandbox of its own');
});

test('the clock accepts only sandbox keys and valid durations', async () => {
  const { live, sandbox } = await pair();
  const asKey = (secret: string): Promise<CheckedResponse> =>
    live.send({ secret, path: '/api/sandbox/clock', body: { advance: '1d' } });
  expect((await asKey(live.secret)).errors).toMatchObject([{ code: 'forbidden' }]);
  expect((await asKey('sk_test_unknown')).errors).toMatchObject([{ code: 'auth_required' }]);
  for (const advance of ['-7d', '0d', '367d', '1y', '', 7, null, ['7d']]) {
    const { status, errors } = await sandbox.clock({ advance });
    expect([advance, status, errors[0]?.field]).toEqual([advance, 422, 'advance']);
  }
  const broken = await live.send({ secret: sandbox.secret, path: '/api/sandbox/clock', body: '{"advance":' });
  expect([broken.status, broken.errors[0]?.field]).toEqual([422, 'body']);
  expect(await clockOf(sandbox)).toEqual({ now: new Date(clock.now()).toISOString(), ahead_ms: 0 });
  await sandbox.advance('366d');
  const { errors } = await sandbox.clock({ advance: '35d' });
  expect(errors).toMatchObject([
    { field: 'advance', message: expect.stringMatching(/at most 400 days ahead of real time.*34d/) },
  ]);
  await sandbox.advance('34d');
  expect((await sandbox.clock({ advance: '1s' })).status).toBe(422);
});

test('quiet hours and daylight saving time follow the sandbox clock', async () => {
  const live = await newCaller(server, EVENTS);
  await setSettings(db, live.id, {
    time_zone: 'Europe/Paris',
    autopilot: '1h',
    quiet_hours: '21:00-08:00',
  });
  const sandbox = await testSandbox(server, live.id);
  // From mid January to the evening before clocks go forward, half an hour past quiet.
  const evening = Date.UTC(2026, 2, 28, 20, 30);
  await sandbox.advance(`${(evening - clock.now()) / 60_000}m`);
  await sandbox.post('users', person('ada'));
  await sandbox.post('events', event('ada', 'user_signed_up'));
  await sandbox.advance('9h');
  expect(await sandbox.emails()).toEqual([]);
  await sandbox.advance('2h');
  const [email] = await sandbox.emails();
  // Eight in the morning there is 06:00 UTC from this day on, and the release is spread over half an hour.
  expect(email?.at.slice(0, 13)).toBe('2026-03-29T06');
  expect(email !== undefined && email.at <= '2026-03-29T06:30:00.000Z').toBe(true);
});

test('advances one sandbox alone: live projects and other sandboxes keep their time', async () => {
  const { live, sandbox } = await pair();
  const other = await pair();
  const engine = openEngine(db, clock);
  for (const project of [live, other.live]) {
    await project.send({ path: '/api/v1/users', body: person('ada') });
    await project.send({ body: event('ada', 'user_signed_up') });
  }
  await other.sandbox.post('events', event('ada', 'user_signed_up'));
  await engine.settle();
  await sandbox.post('users', person('ada'));
  await sandbox.post('events', event('ada', 'user_signed_up'));
  const alarms = (): Promise<unknown[]> =>
    db.query(
      `SELECT d.project_id, d.work, d.next_at, t.ahead_ms FROM beckon.project_timer d
       JOIN beckon.project_lock t ON t.project_id = d.project_id WHERE d.project_id <> $1 ORDER BY 1, 2`,
      [sandbox.id],
    );
  const before = await alarms();
  expect(await sandbox.advance('60d')).toMatchObject({ drafts: 2, emails: 2 });
  expect(await alarms()).toEqual(before);
  for (const { id } of [live, other.live, other.sandbox]) expect(await count('email', id)).toBe(0);
  // One batch of all of them gives each its own time.
  for (const project of [live, sandbox, other.live, other.sandbox])
    await (project === live || project === other.live
      ? project.send({ body: event('ada', 'report_shared') })
      : (project as TestSandbox).post('events', event('ada', 'report_shared')));
  await engine.settle();
  const dates = await db.query<{ project_id: number; occurred_at: Date }>(
    `SELECT project_id, occurred_at FROM beckon.event WHERE name = 'report_shared' AND project_id = ANY ($1) ORDER BY 1`,
    [[live.id, sandbox.id, other.live.id, other.sandbox.id]],
  );
  expect(dates.map((row) => [row.project_id, row.occurred_at.getTime() - clock.now()])).toEqual([
    [live.id, 0],
    [sandbox.id, 60 * DAY],
    [other.live.id, 0],
    [other.sandbox.id, 0],
  ]);
});

test('another process shows the same time, and only one can advance the clock at once', async () => {
  const { sandbox } = await pair();
  await sandbox.advance('3d');
  const twin = await twinOf(server);
  const there = { clock: clockBy(twin.url, sandbox.secret) };
  expect(await clockOf(there)).toMatchObject({ ahead_ms: 3 * DAY });
  await sandbox.post('users', person('ada'));
  await sandbox.post('events', event('ada', 'user_signed_up'));
  const responses = await Promise.all([sandbox.clock({ advance: '30d' }), there.clock({ advance: '30d' })]);
  expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  expect(await clockOf(there)).toMatchObject({ ahead_ms: 33 * DAY });
  expect(await sandbox.emails()).toHaveLength(2);
  // After a crash, the next advance waits until the lease ends.
  await db.query(
    `INSERT INTO beckon.sandbox_advance VALUES ($1, gen_random_uuid(), $2::timestamptz + interval '1 minute')`,
    [sandbox.id, new Date(clock.now())],
  );
  expect((await sandbox.clock({ advance: '1d' })).status).toBe(409);
  await db.query(`UPDATE beckon.sandbox_advance SET lease_until = $1`, [new Date(clock.now())]);
  expect((await sandbox.clock({ advance: '1d' })).status).toBe(200);
});

type TestRecord = { atH: number; user: number; name: number };

/** Records that a test might send between two advances. */
const TEST_RECORDS: fc.Arbitrary<TestRecord[]> = fc.array(
  fc.record({
    atH: fc.integer({ min: 0, max: 240 }),
    user: fc.integer({ min: 0, max: 2 }),
    name: fc.integer({ min: 0, max: 3 }),
  }),
  { minLength: 1, maxLength: 5 },
);
/** Each run simulates seventeen days twice. */
const RUNS = 2;
const NAMES = ['user_signed_up', 'trial_started', 'feature_used', 'usage_threshold_reached'] as const;
const PROPERTIES = { trialDays: 7, usagePercent: 90 };

test('advancing in any number of steps gives the same emails at the same times as advancing at once', async () => {
  const run = async (records: TestRecord[], cuts: number[]): Promise<unknown> => {
    // Emails held by quiet hours are released spread by the ids of drafts.
    const live = await newCaller(server, EVENTS);
    await setSettings(db, live.id, { quiet_hours: 'off' });
    const sandbox = await testSandbox(server, live.id);
    for (const user of [0, 1, 2]) await sandbox.post('users', person(`u${user}`));
    const moments = records.toSorted((a, b) => a.atH - b.atH);
    const stops = [...new Set([...moments.map(({ atH }) => atH), ...cuts, 400])].toSorted((a, b) => a - b);
    let now = 0;
    for (const stop of stops) {
      if (stop > now) await sandbox.advance(`${stop - now}h`);
      now = stop;
      for (const { user, name } of moments.filter(({ atH }) => atH === stop))
        await sandbox.post('events', event(`u${user}`, NAMES[name] ?? '', PROPERTIES));
    }
    return sandbox.emails();
  };
  const cuts = fc.array(fc.integer({ min: 1, max: 399 }), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(TEST_RECORDS, cuts, async (records, stops) => {
      expect(await run(records, stops)).toEqual(await run(records, []));
    }),
    { numRuns: RUNS, seed: 8, endOnFailure: true },
  );
});
