import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { testTeam } from '../../../../testing/factories/team.ts';
import { findOrganizationOf } from '../members/reads.ts';
import { createProject } from '../../administration/create-project.ts';
import { setSettings } from '../../administration/set-settings.ts';
import { suspendProject } from '../../administration/suspend-project.ts';

const MAX = 4;
const server = await endpointServer();
const { db } = server;
const { dashboard, setUp } = testTeam(server, { projectsMax: MAX });
afterAll(() => dashboard.close());
const { ada, projectId: first } = await setUp();
const organizationId = (await findOrganizationOf(db, first))?.id ?? '';

beforeEach(() =>
  db.query(
    `UPDATE beckon.project SET organization_id = NULL WHERE organization_id = $1 AND project_id <> $2`,
    [organizationId, first],
  ),
);

const create = (name: string) => ada.request('POST /projects', { name });
const count = async (): Promise<number> =>
  (
    await db.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM beckon.project WHERE organization_id = $1 AND sandbox_of IS NULL AND NOT is_demo`,
      [organizationId],
    )
  )[0]?.n ?? -1;

describe('POST /projects', () => {
  test('refuses a project beyond the maximum of the organization, and says who can raise it', async () => {
    for (const name of ['Two', 'Three', 'Four']) expect((await create(name)).status).toBe(200);
    const { status, json } = await create('Five');
    expect([status, json.errors]).toMatchObject([409, [{ code: 'conflict', field: 'organization' }]]);
    expect(json.errors[0]?.message).toMatchInlineSnapshot(
      `"This organization has 4 projects. The maximum is 4: ask the operator to raise PROJECTS_PER_ORGANIZATION"`,
    );
    expect(await count()).toBe(MAX);
  });

  test('keeps the maximum when 20 requests come at once', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => (await create(`Project ${at} of them`)).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(MAX - 1);
    expect(new Set(statuses)).toEqual(new Set([200, 409]));
    expect(await count()).toBe(MAX);
  });

  test('counts suspended projects, but neither sandboxes, demos nor projects of other organizations', async () => {
    await setSettings(db, first, { sandbox: 'on' });
    await createProject(db, { name: 'Demo', organizationId, isDemo: true });
    await createProject(db, { name: 'Without an organization' });
    const { id } = await createProject(db, { name: 'Two', organizationId });
    await suspendProject(db, id);
    for (const name of ['Three', 'Four']) expect((await create(name)).status).toBe(200);
    expect((await create('Five')).status).toBe(409);
  });
});
