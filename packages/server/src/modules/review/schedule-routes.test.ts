import type { Schedule, ScheduledDraft } from '@beckon/contract/dashboard';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { testDashboard } from '../../../testing/servers/dashboard.ts';
import { HOUR } from '../../../testing/factories/drafts.ts';
import { newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';

const stage = await openStage();
const { db } = stage.server;
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

const EMAIL = { draft: { subject: 'Hello', body: 'Hello' } };
let scenario: Scenario;
const request = <T = Schedule>(path: string) =>
  dashboard.request<T>(`GET /projects/${scenario.projectId}/${path}`, { as: 'viewer' });

beforeEach(async () => {
  scenario = await newScenario(stage);
  await scenario.rule({ name: 'greeter', when: { event: 'hello' }, deadline: '4h', steps: [EMAIL] });
});

async function greet(user: string, traits: Record<string, unknown> = {}): Promise<void> {
  await scenario.user(user, { email: `${user}@x.org`, traits });
  await scenario.event(user, 'hello');
  await scenario.later(0);
}

const hour = (more: number): string => new Date(scenario.now() + more * HOUR).toISOString();

test('shows emails in the hour of sending with what delayed them, and deadlines in theirs', async () => {
  await greet('ada');
  // In Tokyo it is one in the morning when her deadline comes.
  await greet('bo', { timezone: 'Asia/Tokyo' });
  const { status, json } = await request('schedule');
  expect([status, json.data]).toMatchObject([
    200,
    {
      drafts: 2,
      truncated: false,
      waits_for_review: 0,
      paused: false,
      throttle_per_hour: 36_000,
      from: hour(0),
    },
  ]);
  expect(json.data.hours).toEqual([
    { at: hour(4), sends: 1, waited: {}, deadlines: 2 },
    { at: hour(11), sends: 1, waited: { quiet_hours: 1 }, deadlines: 0 },
  ]);
  expect(json.data.beyond).toEqual({ sends: 0, held: {}, expires: 0 });
});

test('shows quiet hours as bands per time zone of the recipients, and none if they are off', async () => {
  await greet('bo', { timezone: 'Asia/Tokyo' });
  const { quiet } = (await request('schedule')).json.data;
  expect(quiet.map(({ zone, drafts }) => [zone, drafts])).toEqual([
    ['Asia/Tokyo', 1],
    ['UTC', 0],
  ]);
  expect(quiet[1]?.spans.slice(0, 2)).toEqual([
    { from: hour(9), to: hour(20) },
    { from: hour(33), to: hour(44) },
  ]);
  // Noon in UTC is nine in the evening in Tokyo: quiet hours have just begun.
  expect(quiet[0]?.spans[0]).toEqual({ from: hour(0), to: hour(11) });
  await scenario.set({ quiet_hours: 'off', throttle: 'off' });
  const off = (await request('schedule')).json.data;
  expect([off.quiet[0]?.spans, off.throttle_per_hour]).toEqual([[], null]);
});

test('lists the drafts of an hour that the ribbon counts in it, in pages', async () => {
  for (const user of ['ada', 'bo', 'cy']) await greet(user);
  const range = `from=${hour(4)}&to=${hour(5)}`;
  const first = (await request<ScheduledDraft[]>(`schedule/drafts?${range}&limit=2`)).json;
  expect(first.meta).toEqual({ pagination: { total: 3, offset: 0, limit: 2 }, cursor: '2' });
  expect(first.data[0]).toMatchObject({
    subject: 'Hello',
    rule: 'greeter',
    email: expect.stringContaining('@x.org') as string,
    deadline_at: hour(4),
    forecast: { result: 'sends', at: hour(4), reason: null },
  });
  const last = (await request<ScheduledDraft[]>(`schedule/drafts?${range}&limit=2&cursor=2`)).json;
  expect([last.data.length, last.meta.cursor]).toEqual([1, null]);
  expect(
    (await request<ScheduledDraft[]>(`schedule/drafts?from=${hour(5)}`)).json.meta.pagination.total,
  ).toBe(0);
});

test('counts held drafts and those that wait for review, without showing them on the ribbon', async () => {
  await greet('ada');
  await scenario.rule({ name: 'asker', when: { event: 'ask' }, mode: 'draft', steps: [EMAIL] });
  await scenario.user('bo', { email: 'bo@x.org' });
  await scenario.event('bo', 'ask');
  await db.query(
    `INSERT INTO beckon.suppression (project_id, kind, value, reason, created_at, created_by)
     VALUES ($1, 'user', 'ada', 'manual', now(), 'operator')`,
    [scenario.projectId],
  );
  await scenario.later(0);
  const { json } = await request('schedule');
  expect(json.data).toMatchObject({ drafts: 1, waits_for_review: 1, beyond: { held: { suppressed: 1 } } });
  const held = (await request<ScheduledDraft[]>('schedule/drafts?result=held')).json.data;
  expect(held).toMatchObject([
    { external_user_id: 'ada', forecast: { result: 'held', reason: 'suppressed' } },
  ]);
});

test('plans exactly the emails that the sender then sends, if no member acts', async () => {
  await scenario.set({ quiet_hours: '17:00-19:30', throttle: '2/h', frequency_cap: '1/5h' });
  for (const [n, user] of ['ada', 'bo', 'cy', 'di', 'ed', 'fy'].entries()) {
    await greet(user, n % 2 === 0 ? {} : { timezone: 'Asia/Kolkata' });
    await scenario.later(HOUR / 4);
  }
  const { json } = await request<ScheduledDraft[]>('schedule/drafts');
  const planned = json.data.map((draft) => [draft.external_user_id, draft.forecast.at]);
  expect(planned).toHaveLength(6);
  await scenario.later(72 * HOUR);
  const left = (await scenario.emails()).map(({ to, at }) => [to, new Date(at).toISOString()]);
  expect(left).toEqual(planned);
});

test('reports a pause, and still shows the emails that would be sent without it', async () => {
  await greet('ada');
  await scenario.set({ paused: 'true' });
  expect((await request('schedule')).json.data).toMatchObject({ paused: true, hours: [{ sends: 1 }] });
});

test('rejects an invalid time or page by its name, and returns 404 for another project', async () => {
  for (const [query, field] of [
    ['from=soon', 'from'],
    ['to=x', 'to'],
    ['limit=0', 'limit'],
    ['cursor=abc', 'cursor'],
    ['result=sent', 'result'],
  ]) {
    const { status, json } = await request<ScheduledDraft[]>(`schedule/drafts?${query}`);
    expect([status, json.errors[0]?.field]).toEqual([422, field]);
  }
  for (const path of ['schedule', 'schedule/drafts'])
    expect((await dashboard.request(`GET /projects/999999/${path}`)).status).toBe(404);
});
