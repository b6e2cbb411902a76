import { describe, expect, test } from 'vitest';
import type {
  AuditListed,
  MemberListed,
  OrganizationListed,
  ProjectListed,
  ProjectQueue,
} from '@beckon/contract/dashboard';
import { sendRequest } from '../../../../testing/servers/http-client.ts';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { PEPPER } from '../../../../testing/servers/server.ts';
import { testTeam } from '../../../../testing/factories/team.ts';
import { insertOrganization, upsertMember } from './store.ts';
import { createKey } from '../../ingest/keys/change-key.ts';
import { createProject } from '../../administration/create-project.ts';

const server = await endpointServer();
const { db } = server;
const { setUp, join } = testTeam(server);
const { ada, projectId } = await setUp();
const at = (what: string): string => what.replace(' ', ` /projects/${projectId}`);
const edda = await join(ada, { projectId, email: 'edda@x.org', role: 'editor' });
const grace = await join(ada, { projectId, email: 'grace@x.org', role: 'admin' });
const idOf = async (email: string): Promise<string> =>
  ((await ada.request(at('GET /members'))).json.data as MemberListed[]).find(
    (member) => member.email === email,
  )?.id ?? '';
server.clock.advance(1_000);
await insertOrganization(db, { id: 'theirs', name: 'Theirs', createdAt: new Date(server.clock.now()) });
const theirs = await createProject(db, { name: 'Theirs', organizationId: 'theirs' });

const organizations = async (client: typeof ada): Promise<OrganizationListed[]> =>
  (await client.request('GET /organizations')).json.data as OrganizationListed[];

describe('GET /organizations', () => {
  test("lists the caller's organizations with role, projects and members, and no others", async () => {
    expect(await organizations(edda)).toEqual([
      {
        id: expect.any(String),
        name: 'Acme',
        role: 'editor',
        requires_two_factor: false,
        projects: 1,
        members: 3,
      },
    ]);
  });
});

describe('POST /organizations', () => {
  test('creates an organization that the caller owns, and records it in the audit log of that one', async () => {
    const { status, json } = await ada.request('POST /organizations', { name: '  Second ' });
    expect(status).toBe(200);
    const made = json.data as OrganizationListed;
    expect(made).toMatchObject({ name: 'Second', role: 'owner', projects: 0, members: 1 });
    expect((await organizations(ada)).map(({ name }) => name)).toEqual(['Acme', 'Second']);
    const project = (await ada.request('POST /projects', { name: 'Own', organization: made.id })).json
      .data as ProjectListed;
    const log = (await ada.request(`GET /projects/${project.id}/audit?action=organization.`)).json
      .data as AuditListed[];
    expect(log).toMatchObject([{ action: 'organization.create', subject: 'Second', actor_name: 'ada' }]);
    expect((await ada.request('POST /organizations', { name: ' ' })).status).toBe(422);
  });

  test('refuses an admin of the first organization and an owner of another one', async () => {
    expect((await grace.request('POST /organizations', { name: 'Third' })).status).toBe(403);
    await upsertMember(db, {
      organizationId: 'theirs',
      userId: await idOf('edda@x.org'),
      role: 'owner',
      at: new Date(server.clock.now()),
    });
    const { status, json } = await edda.request('POST /organizations', { name: 'Third' });
    expect([status, json.errors]).toMatchObject([403, [{ code: 'role_required' }]]);
    expect(json.errors[0]?.message).toMatchInlineSnapshot(
      `"Only an owner of this installation's first organization can create organizations"`,
    );
    expect((await organizations(edda)).map(({ name }) => name)).toEqual(['Acme', 'Theirs']);
  });
});

describe('POST /projects/:project/suspend and unsuspend', () => {
  test('are closed to the owner of another organization', async () => {
    for (const action of ['suspend', 'unsuspend']) {
      const { status, json } = await edda.request(`POST /projects/${theirs.id}/${action}`);
      expect([status, json.errors]).toMatchObject([403, [{ code: 'role_required' }]]);
    }
  });

  test('refuses the API keys of the project until it is unsuspended, by an owner alone', async () => {
    const { secret } = await createKey({ db, pepper: PEPPER }, { projectId, label: 'app' });
    const send = async (): Promise<number> =>
      (
        await sendRequest(server.url, {
          path: '/api/v1/users',
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
          body: JSON.stringify({ external_user_id: 'ada' }),
        })
      ).status;
    expect(await send()).toBe(202);
    expect((await grace.request(at('POST /suspend'))).status).toBe(403);
    expect((await ada.request(at('POST /suspend'))).json.data).toMatchObject({
      id: projectId,
      suspended: true,
    });
    expect(await send()).toBe(403);
    server.clock.advance(1_000);
    expect((await ada.request(at('POST /unsuspend'))).json.data).toMatchObject({
      id: projectId,
      suspended: false,
    });
    expect(await send()).toBe(202);
    expect((await ada.request(`POST /projects/${theirs.id}/suspend`)).status).toBe(404);
    const log = (await ada.request(at('GET /audit?action=project.'))).json.data as AuditListed[];
    expect(log.map(({ action }) => action).slice(0, 2)).toEqual(['project.unsuspend', 'project.suspend']);
  });
});

describe('GET /queue', () => {
  test("shows the waiting and dead-lettered records of the caller's projects alone, oldest first", async () => {
    const bury = (id: number) =>
      db.query(
        `INSERT INTO beckon.dead_letter SELECT $1, next_seq, 'live', 'users', '{"external_user_id": "x"}', 'bad', now(), now()
         FROM beckon.ingest_queue_state WHERE project_id = $1`,
        [id],
      );
    await bury(projectId);
    await bury(theirs.id);
    const queue = async (client: typeof ada) =>
      (await client.request('GET /queue')).json.data as ProjectQueue[];
    const queues = await queue(grace);
    expect(queues).toMatchObject([
      { project: { id: projectId, name: 'Acme' }, live: 2, bulk: 0, dead_letters: 1 },
    ]);
    expect((await queue(edda)).map(({ project }) => project.name)).toEqual(['Acme', 'Theirs']);
  });
});

describe('members and invitations by email address', () => {
  test('changes the role of a member, and removes them', async () => {
    await join(ada, { projectId, email: 'mary@x.org', role: 'viewer' });
    const changed = await ada.request(at('POST /members/Mary@X.org/role'), { role: 'reviewer' });
    expect(changed.json.data).toMatchObject({ email: 'mary@x.org', role: 'reviewer' });
    expect((await ada.request(at('POST /members/mary@x.org/remove'))).status).toBe(200);
    const gone = await ada.request(at('POST /members/mary@x.org/remove'));
    expect([gone.status, gone.json.errors]).toMatchObject([404, [{ code: 'not_found', field: 'member' }]]);
  });

  test('revokes an open invitation', async () => {
    await ada.request(at('POST /invites'), { email: 'joan@x.org', role: 'viewer' });
    expect((await ada.request(at('POST /invites/joan@x.org/revoke'))).status).toBe(200);
    expect((await ada.request(at('GET /invites'))).json.data).toEqual([]);
    expect((await ada.request(at('POST /invites/joan@x.org/revoke'))).status).toBe(404);
  });

  test('finds no member of another organization', async () => {
    await upsertMember(db, {
      organizationId: 'theirs',
      userId: await idOf('grace@x.org'),
      role: 'owner',
      at: new Date(server.clock.now()),
    });
    expect((await grace.request(`POST /projects/${theirs.id}/members/ada@x.org/remove`)).status).toBe(404);
  });
});
