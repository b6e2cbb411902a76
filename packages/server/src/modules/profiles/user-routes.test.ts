import { afterAll, beforeEach, expect, test } from 'vitest';
import type { TimelineItem, UserDetails, UserThen, WhyRule } from '@beckon/contract/dashboard';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { testDashboard } from '../../../testing/servers/dashboard.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { listEntries } from '../workspace/audit/store.ts';
import { createProject } from '../administration/create-project.ts';
import { createRule } from '../rules/write-rule.ts';
import { setSettings } from '../administration/set-settings.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

const MINUTE = 60_000;
const ID = 'ada/1 <b>%?#';
let projectId = 0;
beforeEach(async () => {
  clock.advance(86_400_000);
  projectId = (await createProject(db, { name: 'Acme' })).id;
  await setSettings(db, projectId, { quiet_hours: 'off' });
  clock.advance(MINUTE);
});

async function know(traits: object, more: object = {}): Promise<void> {
  await putRecords(db, {
    projectId,
    kind: 'users',
    records: [{ external_user_id: ID, email: 'ada@x.org', traits, ...more }],
  });
  await engine.settle();
}
async function happen(name: string, properties: object = {}): Promise<void> {
  await putRecords(db, {
    projectId,
    kind: 'events',
    records: [{ external_user_id: ID, name, properties }],
  });
  await engine.settle();
}
const path = (rest = '', id = ID): string => `/projects/${projectId}/users/${encodeURIComponent(id)}${rest}`;
const VIP = {
  name: 'vip',
  when: { event: 'order_placed', where: [{ property: 'total', at_least: 100 }] },
  only_if: { trait: 'plan', equals: 'pro' },
  enrollment: { cooldown: '1d' },
  steps: [{ draft: { subject: 'Hello', body: 'Hello' } }],
};

test('shows a user with the last change of each trait, if it made the current value', async () => {
  await know({ plan: 'trial', seats: 1, timezone: 'Europe/Paris' });
  clock.advance(MINUTE);
  await know({ plan: 'pro' });
  const changedAt = new Date(clock.now()).toISOString();
  clock.advance(MINUTE);
  await putRecords(db, {
    projectId,
    kind: 'users',
    priority: 'bulk',
    records: [{ external_user_id: ID, traits: { seats: 9 } }],
  });
  await engine.settle();
  const { status, json } = await dashboard.request(`GET ${path()}`, { as: 'viewer' });
  expect(status).toBe(200);
  const user = json.data as UserDetails;
  expect(user).toMatchObject({
    external_user_id: ID,
    email: 'ada@x.org',
    suppression: null,
    zone: 'Europe/Paris',
  });
  expect(user.traits).toEqual([
    { trait: 'plan', value: 'pro', known: true, changed: { at: changedAt, before: 'trial' } },
    { trait: 'seats', value: 9, known: false, changed: null },
    {
      trait: 'timezone',
      value: 'Europe/Paris',
      known: false,
      changed: expect.objectContaining({ before: null }),
    },
  ]);
  await dashboard.request(`POST /projects/${projectId}/users/suppress`, { body: { users: [ID] } });
  const held = (await dashboard.request(`GET ${path()}`)).json.data as UserDetails;
  expect(held.suppression).toMatchObject({ reason: 'manual', kind: 'user', until: null });
});

test('GET user names a time zone that is invalid, and the one that is used', async () => {
  const zones = async () => {
    const { zone, invalid_zones } = (await dashboard.request(`GET ${path()}`)).json.data as UserDetails;
    return { zone, invalid_zones };
  };
  await know({ timezone: 'Mars/Olympus' });
  expect(await zones()).toEqual({ zone: null, invalid_zones: ['Mars/Olympus'] });
  await know({ time_zone: 'Asia/Tokyo' });
  expect(await zones()).toEqual({ zone: 'Asia/Tokyo', invalid_zones: ['Mars/Olympus'] });
  await know({ timezone: 'Europe/Paris' });
  expect(await zones()).toEqual({ zone: 'Europe/Paris', invalid_zones: [] });
});

test('GET user names the locale that is used, and one that is invalid', async () => {
  const locales = async () => {
    const { locale, invalid_locale } = (await dashboard.request(`GET ${path()}`)).json.data as UserDetails;
    return { locale, invalid_locale };
  };
  await know({ locale: 'xx-DE' });
  expect(await locales()).toEqual({ locale: null, invalid_locale: 'xx-DE' });
  await know({ locale: 'de_AT' });
  expect(await locales()).toEqual({ locale: 'de-AT', invalid_locale: null });
});

test('accepts an id as long as the public API allows', async () => {
  const id = 'é'.repeat(255);
  await putRecords(db, { projectId, kind: 'users', records: [{ external_user_id: id }] });
  await engine.settle();
  const { status, json } = await dashboard.request(`GET ${path('', id)}`);
  expect([status, (json.data as UserDetails).external_user_id]).toEqual([200, id]);
});

test('returns 404 for an unknown user on every route', async () => {
  for (const rest of ['', '/next-email', '/timeline', '/at?at=2026-01-01', '/why', '/export'])
    for (const id of ['unknown', 'nul\0', '\ud800x'.toWellFormed()])
      expect((await dashboard.request(`GET ${path(rest, id)}`)).status, rest).toBe(404);
  const erase = await dashboard.request(`POST ${path('/erase', 'unknown')}`, {
    body: { confirm: 'unknown' },
  });
  expect(erase.status).toBe(404);
});

test('lists all events of a user newest first, and continues after a page', async () => {
  await createRule(db, { projectId, document: VIP });
  await know({ plan: 'pro' });
  for (const total of [5, 500]) {
    clock.advance(MINUTE);
    await happen('order_placed', { total, note: '<script>alert(1)</script>' });
  }
  const all = await dashboard.request(`GET ${path('/timeline')}`, { as: 'viewer' });
  const items = all.json.data as TimelineItem[];
  const kinds = items.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'event')).toHaveLength(2);
  expect(kinds).toEqual(expect.arrayContaining(['created', 'decision', 'email']));
  expect(items.find(({ kind }) => kind === 'email')?.rule?.name).toBe('vip');
  expect(items.map(({ at }) => at)).toEqual(
    items
      .map(({ at }) => at)
      .toSorted()
      .toReversed(),
  );
  expect(all.json.meta.pagination.total).toBe(items.length);
  const read: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Awaited<ReturnType<typeof dashboard.request>> = await dashboard.request(
      `GET ${path(`/timeline?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`)}`,
    );
    read.push(...(page.json.data as TimelineItem[]).map(({ id }) => id));
    cursor = page.json.meta.cursor;
  }
  expect(read).toEqual(items.map(({ id }) => id));
  const only = await dashboard.request(`GET ${path('/timeline?kinds=event,created')}`);
  expect(new Set((only.json.data as TimelineItem[]).map(({ kind }) => kind))).toEqual(
    new Set(['event', 'created']),
  );
  for (const bad of ['kinds=colour', 'cursor=x', 'cursor=WzFd'])
    expect((await dashboard.request(`GET ${path(`/timeline?${bad}`)}`)).status, bad).toBe(422);
});

test('lists an email once, at the time of its last step, with all its steps', async () => {
  await createRule(db, { projectId, document: VIP });
  await know({ plan: 'pro' });
  await happen('order_placed', { total: 500 });
  const draftedAt = new Date(clock.now()).toISOString();
  const emails = async (): Promise<TimelineItem[]> =>
    (await dashboard.request(`GET ${path('/timeline?kinds=email')}`)).json.data as TimelineItem[];
  const [email] = await emails();
  expect(email).toMatchObject({ kind: 'email', title: 'Hello', at: draftedAt, rule: { name: 'vip' } });
  expect(email?.steps.map(({ title, actor }) => [title, actor])).toEqual([['schedule', 'engine']]);
  const draft = `/projects/${projectId}/drafts/${email?.draft_id}`;
  clock.advance(MINUTE);
  expect((await dashboard.request(`POST ${draft}/open-editor`, { body: {} })).status).toBe(200);
  // An open editor is a step, but does not make an old email the newest entry.
  expect((await emails()).map(({ at, steps }) => [at, steps.length])).toEqual([[draftedAt, 2]]);
  clock.advance(MINUTE);
  expect((await dashboard.request(`POST ${draft}/skip`, { body: { reason: 'not now' } })).status).toBe(200);
  const [skipped, ...others] = await emails();
  expect(others).toEqual([]);
  expect(skipped?.at).toBe(new Date(clock.now()).toISOString());
  expect(skipped?.steps.at(-1)).toMatchObject({
    kind: 'draft_changed',
    title: 'skip',
    actor: expect.not.stringMatching(/^team:|^engine$/) as string,
    detail: { reason: 'not now' },
  });
});

test('explains rule by rule why there was no email, and what would allow one', async () => {
  await createRule(db, { projectId, document: VIP });
  await know({ plan: 'trial' });
  await happen('order_placed', { total: 500 });
  const { json } = await dashboard.request(`GET ${path('/why')}`, { as: 'viewer' });
  const [vip] = (json.data as WhyRule[]).filter(({ rule }) => rule.name === 'vip');
  expect(vip?.decisions[0]).toMatchObject({ reason: 'only_if', fired: false });
  expect(vip?.triggers[0]).toMatchObject({ would_fire: false, reason: 'only_if' });
  expect(vip?.triggers[0]?.would_pass_if[0]).toMatchObject({ sentence: 'plan is pro', holds: false });
  expect((await dashboard.request(`GET ${path('/why?rule=vip')}`)).json.data).toHaveLength(1);
  expect((await dashboard.request(`GET ${path('/why?rule=none')}`)).status).toBe(404);
});

test('shows a user as of a time, reports a time before they existed, and rejects the future', async () => {
  await know({ plan: 'trial' });
  const then = new Date(clock.now()).toISOString();
  clock.advance(MINUTE);
  await know({ plan: 'pro', seats: 3 });
  const at = async (moment: string): Promise<UserThen> =>
    (await dashboard.request(`GET ${path(`/at?at=${moment}`)}`, { as: 'viewer' })).json.data as UserThen;
  expect(await at(then)).toMatchObject({
    state: 'known',
    traits: [{ trait: 'plan', value: 'trial', certainty: 'exact' }],
  });
  expect((await at(new Date(Date.parse(then) - 1).toISOString())).state).toBe('not_created');
  expect((await at('2020-01-01')).state).toBe('unknown');
  for (const wrong of ['yesterday', new Date(clock.now() + MINUTE).toISOString()])
    expect((await dashboard.request(`GET ${path(`/at?at=${wrong}`)}`)).status).toBe(422);
});

test('exports all stored data for admins alone', async () => {
  await know({ plan: 'pro' });
  expect((await dashboard.request(`GET ${path('/export')}`, { as: 'editor' })).status).toBe(403);
  const { status, text, headers } = await dashboard.request(`GET ${path('/export')}`, { as: 'admin' });
  expect([status, headers['content-disposition']]).toEqual([200, 'attachment; filename="user.json"']);
  expect(JSON.parse(text)).toMatchObject({ external_user_id: ID, traits: { plan: 'pro' } });
});

test('audits each export of user data once, without ids, and no export that fails', async () => {
  await know({ plan: 'pro' });
  await dashboard.request(`GET ${path('/export')}`, { as: 'editor' });
  await dashboard.request(`GET /projects/${projectId}/users/unknown/export`, { as: 'admin' });
  await dashboard.request(`GET ${path('/export')}`, { as: 'admin' });
  clock.advance(1);
  await dashboard.request(`GET /projects/${projectId}/users.csv`, { as: 'admin' });
  const listed = () =>
    listEntries(db, { projectIds: [projectId], actor: null, action: null, after: null, limit: 9 });
  // An entry is completed once the file is sent.
  await expect
    .poll(async () => (await listed()).map(({ action, isCompleted: isDone }) => [action, isDone]))
    .toEqual([
      ['users.export', true],
      ['user.export', true],
    ]);
  expect(JSON.stringify(await listed())).not.toContain('ada/1');
});

test('erases only with the exact id typed, and keeps no trace of it in the log', async () => {
  await know({ plan: 'pro' });
  const erase = (confirm: string, as: 'admin' | 'editor' = 'admin') =>
    dashboard.request(`POST ${path('/erase')}`, { body: { confirm }, as });
  expect((await erase(ID, 'editor')).status).toBe(403);
  const mistyped = await erase('ada');
  expect([mistyped.status, mistyped.json.errors[0]?.field]).toEqual([422, 'confirm']);
  const { json } = await erase(ID);
  expect(json.data).toMatchObject({ external_user_id: ID, removed: { person: 1, person_email: 1 } });
  expect((await dashboard.request(`GET ${path()}`)).status).toBe(404);
  const entries = await listEntries(db, {
    projectIds: [projectId],
    actor: null,
    action: 'user.erase',
    after: null,
    limit: 9,
  });
  expect(entries).toHaveLength(1);
  expect(JSON.stringify(entries)).not.toContain('ada/1');
});

test('history and explanations leave the connections of ingest free', async () => {
  await know({ plan: 'pro' });
  const paths = ['at?at=2026-01-15T12:00:00Z', 'why'];
  const pending = await db.transaction(async (tx) => {
    await tx.query('LOCK TABLE beckon.person IN ACCESS EXCLUSIVE MODE');
    const requests = Array.from({ length: 12 }, (_, n) =>
      dashboard.request(`GET /projects/${projectId}/users/${encodeURIComponent(ID)}/${paths[n % 2]}`),
    );
    for (let held = 0; held === 0;) {
      const [row] = await tx.query<{ held: number }>(
        `SELECT count(*) AS held FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'beckon dashboard_heavy' AND wait_event_type = 'Lock'`,
      );
      held = row?.held ?? 0;
    }
    // As many sessions as a flush takes.
    for (let n = 0; n < 50; n += 1) (await db.session()).release();
    return requests;
  });
  const statuses = (await Promise.all(pending)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200]));
});
