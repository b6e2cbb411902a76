import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { DraftListed, TestEvent } from '@beckon/contract/dashboard';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';
import { newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { resumeProject, suspendProject } from '../../administration/suspend-project.ts';
import { listEntries } from '../../workspace/audit/store.ts';

const stage = await openStage();
const { db } = stage.server;
let wakes = 0;
const dashboard = testDashboard(db, { wake: () => (wakes += 1) });
const shell = testDashboard(db, { isLocalShell: true });
afterAll(() => Promise.all([dashboard.close(), shell.close()]));

let scenario: Scenario;
let path: string;
beforeEach(async () => {
  scenario = await newScenario(stage);
  path = `/projects/${scenario.projectId}`;
  await db.query(`DELETE FROM beckon.team_attempt`);
});

const send = (as: 'owner' | 'editor' | 'reviewer' = 'editor') =>
  dashboard.request<TestEvent>(`POST ${path}/test-event`, { as });

describe('POST /projects/:project/test-event', () => {
  it('creates a new user with the address of the member, whose sign-up starts the welcome rule', async () => {
    const wakesBefore = wakes;
    const first = await send();
    const second = await send();
    expect(first.json.data).toMatchObject({ email: 'ada@x.org', event: 'user_signed_up' });
    expect(second.json.data.external_user_id).not.toBe(first.json.data.external_user_id);
    expect(wakes).toBe(wakesBefore + 2);
    await scenario.later(0);
    const { json } = await dashboard.request<DraftListed[]>(`GET ${path}/drafts`);
    const drafts = new Map(
      json.data.map(({ user, subject }) => [user.external_user_id, [user.email, subject]]),
    );
    const expected = ['ada@x.org', 'Welcome to Acme'];
    expect(drafts).toEqual(
      new Map([first, second].map(({ json: { data } }) => [data.external_user_id, expected])),
    );
  });

  it('is audited without the user, and needs an editor', async () => {
    const { external_user_id: user } = (await send()).json.data;
    const entries = await listEntries(db, {
      projectIds: [scenario.projectId],
      actor: null,
      action: 'event.send_test',
      after: null,
      limit: 10,
    });
    expect(entries).toMatchObject([{ subject: 'user_signed_up', actorName: 'Ada', isCompleted: true }]);
    expect(JSON.stringify(entries)).not.toContain(user);
    expect((await send('reviewer')).status).toBe(403);
  });

  it('returns 429 after 20 test events of a member in a project', async () => {
    for (let sent = 0; sent < 20; sent += 1) expect((await send()).status).toBe(200);
    const refused = await send();
    expect([refused.status, refused.json.errors[0]?.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await send('owner')).status).toBe(200);
  });

  it('accepts nothing for a suspended project, nor from the local shell', async () => {
    await suspendProject(db, scenario.projectId);
    expect((await send()).status).toBe(409);
    await resumeProject(db, scenario.projectId);
    expect((await shell.request(`POST ${path}/test-event`)).status).toBe(409);
    await scenario.later(0);
    expect(await scenario.drafts()).toEqual([]);
  });
});
