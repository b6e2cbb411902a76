import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { allows, ROLES } from '@beckon/contract/dashboard';
import { endpointServer } from '../../../testkit/endpoint-server.ts';
import { testTeam } from '../../../testkit/team.ts';
import { insertOrganisation } from '../../features/team/index.ts';
import { createProject } from '../../flows/create-project.ts';
import { DASHBOARD_ROUTES } from './index.ts';

/** `docs/access.md`, which people wrote and people read. */
const page = readFileSync(new URL('../../../../../docs/access.md', import.meta.url), 'utf8');
const written = new Map(
  [...page.matchAll(/^\| `([A-Z]+ \/\S*)` \| ([a-z ]+) \|$/gm)].map(([, route = '', needs = '']) => [
    route,
    needs.replace(' ', '_'),
  ]),
);

const server = await endpointServer();
const { setUp, browser, join } = testTeam(server);
const { ada, projectId } = await setUp();
await insertOrganisation(server.db, { id: 'theirs', name: 'Theirs', createdAt: new Date(0) });
const theirs = await createProject(server.db, { name: 'Theirs', organisationId: 'theirs' });
const people = new Map([['owner', ada]]);
for (const role of ROLES)
  if (role !== 'owner') people.set(role, await join(ada, { projectId, email: `${role}@x.org`, role }));

const routes = DASHBOARD_ROUTES.map(({ key }) => ({ key, needs: written.get(key) ?? 'unwritten' }));

/** With something that no route asks for: whoever gets past the door is told so, and nothing is done. */
async function knock(one: ReturnType<typeof browser>, key: string, project = projectId): Promise<number> {
  const [method = '', path = ''] = key.split(' ');
  const filled = path.replace(':project', String(project)).replaceAll(/:\w+/g, 'nothing');
  const isRead = method === 'GET';
  return (
    await one.ask(
      `${method} ${filled}${isRead ? '?no_such_thing=1' : ''}`,
      isRead ? undefined : { no_such_thing: 1 },
    )
  ).status;
}

async function strangers(
  expected: (needs: string) => number,
  ask: (key: string) => Promise<number>,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const { key, needs } of routes) {
    const status = await ask(key);
    if (status !== expected(needs)) wrong.push(`${key} (${needs}): ${status}`);
  }
  return wrong;
}

test('the page names every route, and none that is not there', () => {
  expect([...written.keys()].toSorted()).toEqual(DASHBOARD_ROUTES.map(({ key }) => key).toSorted());
  expect(new Set(written.values())).toEqual(new Set(['anyone', 'signed_in', ...ROLES]));
});

test('no two routes answer to one address', () => {
  const shapes = routes.map(({ key }) => key.replaceAll(/:\w+/g, ':'));
  expect(shapes.length).toBe(new Set(shapes).size);
});

test('every route that changes something is in the audit log, and a project of its own is in its path', () => {
  for (const { key, needs, audit, reads } of DASHBOARD_ROUTES) {
    expect([key, audit !== undefined]).toEqual([key, !key.startsWith('GET ') && reads !== true]);
    const isOfProject = needs !== 'anyone' && needs !== 'signed_in';
    expect([key, key.includes(' /projects/:project/')]).toEqual([key, isOfProject]);
  }
});

test('without a session nothing answers but what leads to one', async () => {
  const nobody = browser();
  const ended = browser();
  ended.cookies.set('beckon_session', 'no.session');
  const expected = (needs: string): number => (needs === 'anyone' ? 422 : 401);
  expect(await strangers(expected, (key) => knock(nobody, key))).toEqual([]);
  expect(await strangers(expected, (key) => knock(ended, key))).toEqual([]);
});

test.each(ROLES)('%s comes in where the page says so, and nowhere else', async (role) => {
  const one = people.get(role);
  if (!one) throw new Error(`nobody is ${role}`);
  const opens = (needs: string): boolean =>
    needs === 'anyone' || needs === 'signed_in' || allows(role, needs as (typeof ROLES)[number]);
  const wrong = await strangers(
    (needs) => (opens(needs) ? 422 : 403),
    (key) => knock(one, key),
  );
  expect(wrong).toEqual([]);
});

test("another organisation's project is not there, whatever one is in one's own", async () => {
  const ofProject = routes.filter(({ key }) => key.includes(':project'));
  for (const project of [theirs.id, 999])
    for (const { key } of ofProject) expect([key, await knock(ada, key, project)]).toEqual([key, 404]);
});

test('a change that another page sent is refused, whoever is signed in', async () => {
  for (const { key } of routes.filter((one) => !one.key.startsWith('GET '))) {
    const [method = '', path = ''] = key.split(' ');
    const filled = path.replace(':project', String(projectId)).replaceAll(/:\w+/g, 'nothing');
    const { status } = await ada.ask(`${method} ${filled}`, {}, { origin: 'https://evil.example' });
    expect([key, status]).toEqual([key, 403]);
  }
});
