import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { allows, type Role, ROLES, TOKEN_SCOPES } from '@beckon/contract/dashboard';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { testTeam } from '../../../../testing/factories/team.ts';
import { insertOrganization } from '../members/store.ts';
import { createProject } from '../../administration/create-project.ts';
import { DASHBOARD_ROUTES } from '../../../main/dashboard-routes.ts';

/** The tables in `docs/reference/access-control.md` are written by hand. */
const page = readFileSync(
  new URL('../../../../../../docs/reference/access-control.md', import.meta.url),
  'utf8',
);
const rows = [...page.matchAll(/^\| `([A-Z]+ \/\S*)` \| ([a-z ]+) \| ([a-z]+|–) \|$/gm)];
const written = new Map(rows.map(([, route = '', needs = '']) => [route, needs.replace(' ', '_')]));
const writtenScopes = new Map(rows.map(([, route = '', , scope = '']) => [route, scope]));

const server = await endpointServer();
const { setUp, browser, join, tokenFor } = testTeam(server);
const { ada, projectId } = await setUp();
await insertOrganization(server.db, { id: 'theirs', name: 'Theirs', createdAt: new Date(0) });
const theirs = await createProject(server.db, { name: 'Theirs', organizationId: 'theirs' });
const clients = new Map([['owner', ada]]);
for (const role of ROLES)
  if (role !== 'owner') clients.set(role, await join(ada, { projectId, email: `${role}@x.org`, role }));

const routes = DASHBOARD_ROUTES.map(({ key }) => ({
  key,
  needs: written.get(key) ?? 'unwritten',
  scope: writtenScopes.get(key) ?? 'unwritten',
}));

/** Sends a field that no route has: an authorized request gets 422, and nothing is changed. */
async function knock(client: ReturnType<typeof browser>, key: string, project = projectId): Promise<number> {
  const [method = '', path = ''] = key.split(' ');
  const filled = path.replace(':project', String(project)).replaceAll(/:\w+/g, 'nothing');
  const isRead = method === 'GET';
  return (
    await client.request(
      `${method} ${filled}${isRead ? '?no_such_thing=1' : ''}`,
      isRead ? undefined : { no_such_thing: 1 },
    )
  ).status;
}

async function strangers(
  expected: (route: (typeof routes)[number]) => number,
  statusOf: (key: string) => Promise<number>,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const route of routes) {
    const status = await statusOf(route.key);
    if (status !== expected(route)) wrong.push(`${route.key} (${route.needs}, ${route.scope}): ${status}`);
  }
  return wrong;
}

test('the page lists every route, and no other', () => {
  expect([...written.keys()].toSorted()).toEqual(DASHBOARD_ROUTES.map(({ key }) => key).toSorted());
  expect(new Set(written.values())).toEqual(new Set(['anyone', 'signed_in', ...ROLES]));
  expect(new Set(writtenScopes.values())).toEqual(new Set(['–', 'any', ...TOKEN_SCOPES]));
});

test('the page lists the routes that need a confirmation, and the server requires it for those alone', async () => {
  const section = /### Confirming who you are\n(.*?)\n### /s.exec(page)?.[1] ?? '';
  const listed = [...section.matchAll(/^- `([A-Z]+ \/\S*)`/gm)].map(([, key = '']) => key);
  const marked = DASHBOARD_ROUTES.filter(({ needsConfirmation }) => needsConfirmation).map(({ key }) => key);
  expect(listed.toSorted()).toEqual(marked.toSorted());
  await server.db.query('UPDATE beckon.team_session SET confirmed_at = to_timestamp(0)');
  const refused: string[] = [];
  for (const { key } of routes) if ((await knock(ada, key)) === 403) refused.push(key);
  expect(refused.toSorted()).toEqual(marked.toSorted());
  await server.db.query('UPDATE beckon.team_session SET confirmed_at = $1', [new Date(server.clock.now())]);
});

test('no two routes share an address', () => {
  const shapes = routes.map(({ key }) => key.replaceAll(/:\w+/g, ':'));
  expect(shapes.length).toBe(new Set(shapes).size);
});

test('every change is audited, of the reads only exports may be, and a project route has the project in its path', () => {
  for (const { key, needs, audit, reads } of DASHBOARD_ROUTES) {
    const changes = !key.startsWith('GET ') && reads !== true;
    const mayBeIn = changes || /\bexport$|\.csv$/.test(key);
    expect([key, audit !== undefined]).toEqual([key, changes || (mayBeIn && audit !== undefined)]);
    const isOfProject = needs !== 'anyone' && needs !== 'signed_in';
    expect([key, key.includes(' /projects/:project/')]).toEqual([key, isOfProject]);
  }
});

test('answers without a session only on the routes that lead to one', async () => {
  const anonymous = browser();
  const ended = browser();
  ended.cookies.set('beckon_session', 'no.session');
  const expected = ({ needs }: { needs: string }): number => (needs === 'anyone' ? 422 : 401);
  expect(await strangers(expected, (key) => knock(anonymous, key))).toEqual([]);
  expect(await strangers(expected, (key) => knock(ended, key))).toEqual([]);
});

function opens(role: Role, needs: string): boolean {
  return needs === 'anyone' || needs === 'signed_in' || allows(role, needs as Role);
}

test.each(ROLES)('gives %s access where the page says so, and nowhere else', async (role) => {
  const client = clients.get(role);
  if (!client) throw new Error(`no member has the role ${role}`);
  const wrong = await strangers(
    ({ needs }) => (opens(role, needs) ? 422 : 403),
    (key) => knock(client, key),
  );
  expect(wrong).toEqual([]);
});

/** A request of a program: no cookie, and no origin. */
const program = (token: string) => browser({ authorization: `Bearer ${token}`, origin: undefined });
const forPrograms = new Set(
  DASHBOARD_ROUTES.filter((route) => route.isForPrograms === true).map(({ key }) => key),
);

test.each(TOKEN_SCOPES)(
  'a token with the scope %s opens the routes of that scope that the role of its member opens',
  async (scope) => {
    for (const role of ['owner', 'editor', 'reviewer', 'viewer'] as const) {
      const client = program(await tokenFor(clients.get(role) ?? ada, [scope]));
      const wrong = await strangers(
        ({ key, needs, scope: good }) => {
          if (needs === 'anyone') return key.startsWith('GET ') || forPrograms.has(key) ? 422 : 403;
          const isGood = good === 'any' || good === scope;
          return isGood && opens(role, needs) ? 422 : 403;
        },
        (key) => knock(client, key),
      );
      expect([role, wrong]).toEqual([role, []]);
    }
  },
);

/** The routes that no token opens. Each reason holds for all routes below it. */
const CLOSED_TO_TOKENS: Record<string, string[]> = {
  'It is open, so it needs no token, or it leads to a session or a token of its own.': routes
    .filter(({ needs }) => needs === 'anyone')
    .map(({ key }) => key),
  'It changes how the member signs in: a stolen token would become a way into the account.': [
    'POST /password',
    'POST /two-factor/begin',
    'POST /two-factor/confirm',
    'POST /two-factor/end',
    'POST /two-factor/backup-codes',
    'GET /passkeys',
    'POST /passkeys/options',
    'POST /passkeys',
    'POST /passkeys/:passkey/delete',
  ],
  'It proves who sits at the dashboard.': [
    'POST /confirm',
    'POST /confirm/passkey-options',
    'POST /confirm/passkey',
  ],
  'It is about sessions of the dashboard. A token has none.': [
    'POST /sign-out',
    'GET /sessions',
    'POST /sessions/:session/end',
    'POST /sessions/end-others',
  ],
  'A token must not create another one, which could have more scopes or a longer life.': [
    'GET /device/:code',
    'POST /device/:code/approve',
    'POST /device/:code/deny',
  ],
  'It is a preference of the member at the dashboard.': [
    'POST /profile',
    'POST /organizations/:organization/digest',
  ],
};

test('every other route has a scope', () => {
  const closed = routes.filter(({ scope }) => scope === '–').map(({ key }) => key);
  expect(Object.values(CLOSED_TO_TOKENS).flat().toSorted()).toEqual(closed.toSorted());
});

/** Routes whose scope differs from the one of their least role. */
const OTHER_SCOPES: Record<string, string> = {
  // Organizations and their members are administered, even where any member may read them.
  'GET /projects/:project/organization': 'admin',
  'GET /projects/:project/members': 'admin',
  'POST /projects/:project/test-email': 'admin',
  // Developers follow webhooks on their own machine, with the role for it.
  'GET /projects/:project/webhooks': 'read',
  'GET /projects/:project/webhook-deliveries': 'read',
  'GET /projects/:project/webhook-deliveries/:message/:endpoint': 'read',
  'POST /projects/:project/webhook-replays': 'review',
  'POST /projects/:project/listener': 'read',
  'GET /projects/:project/listen': 'read',
};
const SCOPE_OF_ROLE: Record<string, string> = {
  viewer: 'read',
  reviewer: 'review',
  editor: 'edit',
  admin: 'admin',
  owner: 'admin',
};

test('the scope of a route in a project follows from its least role', () => {
  for (const { key, needs, scope } of routes) {
    if (!key.includes(':project')) continue;
    const isImport = key.includes('/imports');
    expect([key, scope]).toEqual([key, isImport ? 'import' : (OTHER_SCOPES[key] ?? SCOPE_OF_ROLE[needs])]);
  }
});

test("returns 404 for another organization's project, whatever the caller's own role", async () => {
  const ofProject = routes.filter(({ key }) => key.includes(':project'));
  for (const project of [theirs.id, 999])
    for (const client of [ada, program(await tokenFor(ada, [...TOKEN_SCOPES]))])
      for (const { key } of ofProject) expect([key, await knock(client, key, project)]).toEqual([key, 404]);
});

test('refuses a change from a page of another origin for every session', async () => {
  for (const { key } of routes.filter((route) => !route.key.startsWith('GET '))) {
    const [method = '', path = ''] = key.split(' ');
    const filled = path.replace(':project', String(projectId)).replaceAll(/:\w+/g, 'nothing');
    const { status } = await ada.request(`${method} ${filled}`, {}, { origin: 'https://evil.example' });
    expect([key, status]).toEqual([key, 403]);
  }
});

test('refuses a route for programs to a page that names another site by Sec-Fetch-Site', async () => {
  const page = browser({ origin: undefined, 'sec-fetch-site': 'cross-site' });
  for (const key of forPrograms) expect([key, await knock(page, key)]).toEqual([key, 403]);
  expect(forPrograms.size).toBeGreaterThan(0);
});
