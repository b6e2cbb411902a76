import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import type { AuditListed, OrganizationListed, SessionState } from '@beckon/contract/dashboard';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { testTeam } from '../../../../testing/factories/team.ts';
import { insertOrganization } from '../members/store.ts';
import { DASHBOARD_ROUTES } from '../../../main/dashboard-routes.ts';

const server = await endpointServer();
const { db } = server;
const { browser, setUp, team } = testTeam(server);
const shell = testDashboard(db, { isLocalShell: true, access: team, team });
afterAll(() => shell.close());
/** Sends a request as over the local socket: no credentials, and no page. */
const request = <T>(what: string, body?: unknown) =>
  shell.request<T>(what, { body, as: null, headers: { origin: undefined } });

const page = readFileSync(
  new URL('../../../../../../docs/reference/access-control.md', import.meta.url),
  'utf8',
);
/** The routes of one section of the page. */
const routesOf = (title: string): string[] => {
  const section = new RegExp(`### ${title}\n(.*?)\n### `, 's').exec(page)?.[1] ?? '';
  return [...section.matchAll(/^\| `([A-Z]+ \/\S*)`/gm)].map(([, key = '']) => key);
};
const ofAccounts = [...routesOf('Sign-in'), ...routesOf('Your own account')].filter(
  (key) => key !== 'GET /session',
);

/** Before anyone has signed up. */
const early = await request<{ id: number; role: string }>('POST /projects', { name: 'Early' });
const { ada } = await setUp();
const projectId = early.json.data.id;
const at = `/projects/${projectId}`;

describe('the local shell', () => {
  test('creates a project before there is an organization, and the first one adopts it', async () => {
    expect([early.status, early.json.data.role]).toEqual([200, 'owner']);
    const theirs = (await ada.request('GET /projects')).json.data as { id: number; role: string }[];
    expect(theirs).toContainEqual(expect.objectContaining({ id: projectId, role: 'owner' }));
    const log = (await ada.request(`GET ${at}/audit?action=project.`)).json.data as AuditListed[];
    expect(log.map(({ action, subject, actor_name }) => [action, subject, actor_name])).toEqual([
      ['project.create', 'Early', 'local shell'],
    ]);
  });

  /** Sends a field that no route has: an authorized request gets 422, and nothing is changed. */
  async function statusOf(key: string): Promise<number> {
    const [method = '', path = ''] = key.split(' ');
    const filled = path.replace(':project', String(projectId)).replaceAll(/:\w+/g, 'nothing');
    const isRead = method === 'GET';
    const what = `${method} ${filled}${isRead ? '?no_such_thing=1' : ''}`;
    return (await request(what, isRead ? undefined : { no_such_thing: 1 })).status;
  }

  test('opens every route except those of an account', async () => {
    const statuses = new Map<string, number>();
    for (const { key } of DASHBOARD_ROUTES) statuses.set(key, await statusOf(key));
    const refused = [...statuses].filter(([, status]) => status === 403).map(([key]) => key);
    const testEmail = 'POST /projects/:project/test-email';
    expect(refused.toSorted()).toEqual([...ofAccounts, testEmail].toSorted());
    expect([...new Set(statuses.values())].toSorted((a, b) => a - b)).toEqual([403, 422]);
    for (const key of ['POST /password', 'POST /passkeys', 'POST /device', 'GET /profile/tokens'])
      expect(refused).toContain(key);
  });

  test('explains why a route of an account is closed, and what to do', async () => {
    const { status, json } = await request('GET /sessions');
    expect([status, json.errors]).toMatchInlineSnapshot(`
      [
        403,
        [
          {
            "code": "role_required",
            "message": "The local shell has no account. Sign in to the dashboard, or run beckon login and use the token.",
          },
        ],
      ]
    `);
  });

  test('owns the projects of every organization, and chooses where to create one', async () => {
    await insertOrganization(db, { id: 'theirs', name: 'Theirs', createdAt: new Date(0) });
    expect((await request('POST /projects', { name: 'Nowhere' })).json.errors[0]?.field).toBe('organization');
    const made = await request<{ id: number }>('POST /projects', { name: 'Second', organization: 'theirs' });
    const all = await request<{ id: number; role: string }[]>('GET /projects');
    expect(all.json.data.map(({ role }) => role)).toEqual(all.json.data.map(() => 'owner'));
    expect(all.json.data.map(({ id }) => id)).toEqual(expect.arrayContaining([projectId, made.json.data.id]));
    const { data } = (await request<SessionState>('GET /session')).json;
    expect([data.member, data.projects]).toEqual([null, all.json.data.length]);
    expect(data.organizations).toContainEqual(expect.objectContaining({ id: 'theirs', role: 'owner' }));
  });

  test('creates an organization without a member, and invites its owner', async () => {
    const made = await request<OrganizationListed>('POST /organizations', { name: 'Third' });
    expect([made.status, made.json.data]).toEqual([
      200,
      expect.objectContaining({ name: 'Third', role: 'owner', projects: 0, members: 0 }),
    ]);
    const { data } = (await request<OrganizationListed[]>('GET /organizations')).json;
    expect(data.map(({ name }) => name)).toContain('Third');
    const organization = made.json.data.id;
    const project = await request<{ id: number }>('POST /projects', { name: 'Of the third', organization });
    const at3 = `/projects/${project.json.data.id}`;
    const invited = await request(`POST ${at3}/invites`, { email: 'hedy@x.org', role: 'owner' });
    expect(invited.status).toBe(200);
    expect(
      await db.query('SELECT 1 FROM beckon.team_member WHERE organization_id = $1', [organization]),
    ).toEqual([]);
  });

  test('returns 404 for an unknown project', async () => {
    for (const project of ['999', '0', 'x', '-1'])
      for (const page of ['home', 'keys', 'members'])
        expect([project, page, (await request(`GET /projects/${project}/${page}`)).status]).toEqual([
          project,
          page,
          404,
        ]);
  });

  test('is named in the audit log and wherever a change has an author', async () => {
    const key = await request(`POST ${at}/keys`, { label: 'server' });
    expect(key.status).toBe(200);
    const log = await request<AuditListed[]>(`GET ${at}/audit?action=key.`);
    expect(log.json.data).toEqual([
      expect.objectContaining({
        actor: 'local-shell',
        actor_name: 'local shell',
        token: null,
        action: 'key.create',
        completed: true,
      }),
    ]);
    const keys = await request<{ created_by: string }[]>(`GET ${at}/keys`);
    expect(keys.json.data.map((row) => row.created_by)).toEqual(['local shell']);
  });

  test('invites an owner', async () => {
    const made = await request<{ by: string }>(`POST ${at}/invites`, { email: 'grace@x.org', role: 'owner' });
    expect([made.status, made.json.data.by]).toEqual([200, 'local shell']);
  });

  test('requires an authenticator app of the members without having one', async () => {
    const changed = await request(`POST ${at}/organization`, { requires_two_factor: true });
    expect([changed.status, changed.json.data]).toEqual([
      200,
      expect.objectContaining({ requires_two_factor: true }),
    ]);
    await request(`POST ${at}/organization`, { requires_two_factor: false });
  });

  test('names the recipient of a test email itself', async () => {
    const missing = await request(`POST ${at}/templates/welcome/send-test`, {});
    expect([missing.status, missing.json.errors]).toMatchInlineSnapshot(`
      [
        422,
        [
          {
            "code": "validation_failed",
            "field": "to",
            "message": "\`to\` is required: the local shell has no email address.",
          },
        ],
      ]
    `);
  });

  test('does not sign in as a member, and no header gives a request over TCP its access', async () => {
    const rows = await db.query(`SELECT FROM beckon.team_user WHERE id = 'local-shell' OR email = ''`);
    expect(rows).toEqual([]);
    const forged: Record<string, string>[] = [
      { 'x-beckon-local-shell': '1', 'x-local-shell': 'on' },
      { authorization: 'Bearer local-shell', host: 'localhost' },
      { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1', 'x-forwarded-host': 'beckon.sock' },
      { cookie: 'beckon_session=local-shell' },
    ];
    for (const headers of forged)
      expect((await browser().request('GET /projects', undefined, headers)).status).toBe(401);
  });
});
