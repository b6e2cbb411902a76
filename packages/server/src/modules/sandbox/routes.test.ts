import { afterAll, expect, test, vi } from 'vitest';
import type { ApiKey, ClockAdvanced, FeedItem, ProjectListed } from '@beckon/contract/dashboard';
import { alsoForPages } from '../../../testing/factories/database.ts';
import { testDashboard } from '../../../testing/servers/dashboard.ts';
import { endpointServer, newCaller } from '../../../testing/servers/endpoint-server.ts';
import { EVENTS } from '../../../testing/factories/endpoints.ts';
import { testSandbox, type TestSandbox } from '../../../testing/factories/sandbox.ts';
import { listenTo } from '../../../testing/servers/server-events.ts';
import { createProject } from '../administration/create-project.ts';
import { readProjectLock } from '../../platform/locks/project-lock.ts';
import { setSettings } from '../administration/set-settings.ts';

const server = await endpointServer();
const { db, clock } = server;
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());
const DAY = 86_400_000;

async function newSandbox(): Promise<TestSandbox & { liveId: number }> {
  const { id: liveId } = await newCaller(server, EVENTS);
  return { ...(await testSandbox(server, liveId)), liveId };
}

async function signUp(sandbox: TestSandbox, id: string): Promise<void> {
  await sandbox.post('users', { external_user_id: id, email: `${id}@example.com` });
  await sandbox.post('events', { external_user_id: id, name: 'user_signed_up' });
}

test('shows a sandbox in its project while it is on, with a clock of its own that editors may move', async () => {
  const sandbox = await newSandbox();
  const listed = async (): Promise<unknown[]> =>
    (await dashboard.request<ProjectListed[]>('GET /projects')).json.data
      .filter(({ id }) => id === sandbox.id || id === sandbox.liveId)
      .map(({ id, name, livemode, sandbox_of: of, ahead_ms: ahead }) => [id, name, livemode, of, ahead]);
  await signUp(sandbox, 'ada');
  const at = `/projects/${sandbox.id}/clock`;
  const body = { advance: '1d' };
  expect((await dashboard.request(`POST ${at}`, { body, as: 'reviewer' })).status).toBe(403);
  const { json } = await dashboard.request<ClockAdvanced>(`POST ${at}`, { body, as: 'editor' });
  const now = new Date(clock.now() + DAY).toISOString();
  expect(json.data).toEqual({ now, advanced_ms: DAY, drafts: 1, emails: 1 });
  expect((await dashboard.request(`GET ${at}`, { as: 'viewer' })).json.data).toEqual({ now, ahead_ms: DAY });
  expect(await listed()).toEqual([
    [sandbox.liveId, 'Acme', true, null, 0],
    [sandbox.id, 'Acme (sandbox)', false, sandbox.liveId, DAY],
  ]);
  const entries = await db.query(
    `SELECT action, subject, at FROM beckon.audit WHERE project_id = $1 AND completed`,
    [sandbox.id],
  );
  expect(entries).toEqual([{ action: 'test_clock.advance', subject: '1d', at: new Date(clock.now()) }]);
  const live = await dashboard.request(`POST /projects/${sandbox.liveId}/clock`, { body });
  expect([live.status, live.json.errors[0]?.message]).toEqual([
    409,
    expect.stringContaining('is a production project'),
  ]);
  await setSettings(db, sandbox.liveId, { sandbox: 'off' });
  expect(await listed()).toEqual([[sandbox.liveId, 'Acme', true, null, 0]]);
  expect((await dashboard.request(`POST ${at}`, { body })).status).toBe(409);
});

test('records in the audit log how far an interrupted advance came', async () => {
  const sandbox = await newSandbox();
  await signUp(sandbox, 'ada');
  const real = performance.now.bind(performance);
  const aheadMs = async (): Promise<number> => (await readProjectLock(db, sandbox.id)).aheadMs;
  // Once the clock has moved, the time that an advance may take is used up.
  const slow = testDashboard(
    alsoForPages(db, (base) => ({
      ...base,
      async transaction(work) {
        const result = await base.transaction(work);
        if ((await aheadMs()) > 0) vi.spyOn(performance, 'now').mockImplementation(() => real() + 60_000);
        return result;
      },
    })),
  );
  const at = `/projects/${sandbox.id}/clock`;
  const stopped = await slow.request(`POST ${at}`, { body: { advance: '30d' }, as: 'editor' });
  vi.restoreAllMocks();
  expect([stopped.status, stopped.json.errors[0]?.message]).toEqual([
    409,
    expect.stringContaining('The advance reached its work limit'),
  ]);
  const now = new Date(clock.now() + (await aheadMs())).toISOString();
  const entries = await db.query(`SELECT subject, after, completed FROM beckon.audit WHERE project_id = $1`, [
    sandbox.id,
  ]);
  expect(entries).toEqual([{ subject: '30d', after: { now }, completed: true }]);
  await slow.close();
});

test('uses the sandbox clock for the actions of members and for everything they see', async () => {
  const sandbox = await newSandbox();
  await setSettings(db, sandbox.id, { autopilot: 'draft', quiet_hours: 'off' });
  await sandbox.advance('40d');
  await signUp(sandbox, 'ada');
  await sandbox.advance('1h');
  const drafts = `/projects/${sandbox.id}/drafts`;
  const [draft] = (await dashboard.request<{ id: string; version: number }[]>(`GET ${drafts}`)).json.data;
  expect(draft).toMatchObject({ state: 'scheduled' });
  const detail = await dashboard.request<{ hash: string; moves: number }>(`GET ${drafts}/${draft?.id}`);
  const approving = { hash: detail.json.data.hash };
  const approved = await dashboard.request(`POST ${drafts}/${draft?.id}/approve`, { body: approving });
  expect([approved.status, approved.text]).toEqual([200, expect.any(String)]);
  expect(await sandbox.emails()).toEqual([]);
  await sandbox.advance('10s');
  expect(await sandbox.emails()).toEqual([
    { rule: 'welcome', user: 'ada', at: new Date(clock.now() + 40 * DAY + 3_610_000).toISOString() },
  ]);
  const home = await dashboard.request<{ emails?: unknown }>(`GET /projects/${sandbox.id}/insights/days`);
  expect(home.text).toContain(new Date(clock.now() + 40 * DAY).toISOString().slice(0, 10));
});

test('runs two backtests of one project at once, whatever its clock shows, and leaves places for others', async () => {
  const opened = Promise.withResolvers<void>();
  const held = testDashboard(
    alsoForPages(db, (base) => ({
      ...base,
      session: (options) => opened.promise.then(() => base.session(options)),
    })),
  );
  const run = ({ id }: TestSandbox) =>
    held.request(`POST /projects/${id}/rules/backtest`, { body: { days: 7, rule: 'welcome' } });
  const [sandbox, other] = [await newSandbox(), await newSandbox()];
  await sandbox.advance('1d');
  const running = [run(sandbox), run(sandbox), run(sandbox)];
  const first = await Promise.race(running);
  expect([first.status, first.json.errors[0]?.code]).toEqual([409, 'conflict']);
  const others = run(other);
  opened.resolve();
  const all = await Promise.all([...running, others]);
  expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 409]);
  await held.close();
});

test('creates, lists and revokes test keys in their project, only while its sandbox is on', async () => {
  const { id } = await createProject(db, { name: 'Acme' });
  const at = `/projects/${id}/keys`;
  const body = { label: 'tests', env: 'test' };
  const refused = await dashboard.request(`POST ${at}`, { body });
  expect([refused.status, refused.json.errors[0]?.field]).toEqual([422, 'env']);
  await setSettings(db, id, { sandbox: 'on' });
  const made = await dashboard.request<ApiKey & { secret: string }>(`POST ${at}`, { body });
  expect(made.json.data).toMatchObject({ env: 'test', display: expect.stringMatching(/^sk_test_…/) });
  await dashboard.request(`POST ${at}`, { body: { label: 'shop' } });
  const listed = await dashboard.request<ApiKey[]>(`GET ${at}`);
  expect(listed.json.data.map(({ label, env }) => [label, env])).toEqual([
    ['shop', 'live'],
    ['tests', 'test'],
  ]);
  const revoke = `POST ${at}/${made.json.data.id}/revoke`;
  expect((await dashboard.request(revoke, { body: { label: 'tests' } })).status).toBe(200);
  const { sandbox_id: sandboxId } = (
    await db.query<{ sandbox_id: number }>(`SELECT sandbox_id FROM beckon.project WHERE project_id = $1`, [
      id,
    ])
  )[0] ?? { sandbox_id: 0 };
  const there = await dashboard.request<ApiKey>(`POST /projects/${sandboxId}/keys`, {
    body: { label: 'more' },
  });
  expect(there.json.data.env).toBe('test');
  const wrong = await dashboard.request(`POST /projects/${sandboxId}/keys`, {
    body: { label: 'x', env: 'live' },
  });
  expect(wrong.status).toBe(422);
});

test('streams the results of an advance, though they happened in another month', async () => {
  const sandbox = await newSandbox();
  const url = `${await dashboard.url()}/api/dashboard/projects/${sandbox.id}/feed?filter=type:draft`;
  const listener = await listenTo(url, { 'x-test-role': 'viewer' });
  await signUp(sandbox, 'ada');
  await sandbox.advance('45d');
  const event = await listener.next();
  expect(event?.data as FeedItem).toMatchObject({ type: 'draft', external_user_id: 'ada' });
  listener.leave();
});
