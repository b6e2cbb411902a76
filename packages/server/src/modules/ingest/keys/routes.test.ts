import { afterAll, expect, test } from 'vitest';
import type { ApiKey } from '@beckon/contract/dashboard';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';
import { endpointServer, newCaller } from '../../../../testing/servers/endpoint-server.ts';
import { EVENTS } from '../../../../testing/factories/endpoints.ts';
import { silentLog } from '../../../platform/log.ts';
import { keyUse } from './key-use.ts';
import { createProject } from '../../administration/create-project.ts';

const server = await endpointServer();
const { db, clock } = server;
const dashboard = testDashboard(db, { minimumVersions: new Map([['beckon-js', '2.0.0']]) });
afterAll(() => dashboard.close());

const DAY = 86_400_000;

test('creates a key, shows its secret once, and lists it without the secret and with its author', async () => {
  const { id: project } = await createProject(db, { name: 'Acme' });
  const at = `/projects/${project}/keys`;
  const made = await dashboard.request<ApiKey & { secret: string }>(`POST ${at}`, {
    body: { label: 'shop' },
  });
  expect([made.status, made.json.data]).toEqual([
    200,
    expect.objectContaining({ label: 'shop', created_by: 'Ada', last_used_at: null, revoked_at: null }),
  ]);
  const { secret, ...shown } = made.json.data;
  expect(shown.display).toBe(`${secret.slice(0, 8)}…${secret.slice(-4)}`);
  const listed = await dashboard.request<ApiKey[]>(`GET ${at}`, { as: 'admin' });
  expect(listed.json.data).toEqual([shown]);
  expect(listed.text).not.toContain(secret);
  const caller = await newCaller(server, EVENTS);
  expect((await caller.send({ secret })).status).toBe(202);
});

test('counts traffic by key and day, and flags a client below its least version', async () => {
  const { id: project } = await createProject(db, { name: 'Acme' });
  const at = `/projects/${project}/keys`;
  const { id } = (await dashboard.request<ApiKey>(`POST ${at}`, { body: { label: 'shop' } })).json.data;
  const uses = keyUse({ db, clock, log: silentLog });
  for (let i = 0; i < 3; i += 1) uses.note({ id, projectId: project }, 'beckon-js/1.4.0');
  await uses.flush();
  clock.advance(DAY);
  uses.note({ id, projectId: project }, 'beckon-js/1.4.0');
  await uses.close();
  const [key] = (await dashboard.request<ApiKey[]>(`GET ${at}`)).json.data;
  expect(key).toMatchObject({ client: { name: 'beckon-js', version: '1.4.0' }, minimum_version: '2.0.0' });
  expect(key?.traffic).toHaveLength(14);
  expect(key?.traffic.slice(-3).map(({ requests }) => requests)).toEqual([0, 3, 1]);
});

test('forgets old traffic with the first request of a new day', async () => {
  const { id: project } = await createProject(db, { name: 'Acme' });
  const { id } = (
    await dashboard.request<ApiKey>(`POST /projects/${project}/keys`, { body: { label: 'shop' } })
  ).json.data;
  const uses = keyUse({ db, clock, log: silentLog });
  for (let i = 0; i < 2; i += 1) {
    uses.note({ id, projectId: project }, undefined);
    await uses.flush();
    clock.advance(91 * DAY);
  }
  await uses.close();
  const rows = await db.query('SELECT day FROM beckon.api_key_traffic WHERE project_id = $1', [project]);
  expect(rows).toHaveLength(1);
});

test('revokes a key only by its typed label, and refuses it from then on', async () => {
  const { id: project } = await createProject(db, { name: 'Acme' });
  const at = `/projects/${project}/keys`;
  const made = (
    await dashboard.request<ApiKey & { secret: string }>(`POST ${at}`, { body: { label: 'shop' } })
  ).json.data;
  const revoke = `POST ${at}/${made.id}/revoke`;
  const wrong = await dashboard.request(revoke, { body: { label: 'Shop' } });
  expect([wrong.status, wrong.json.errors[0]?.field]).toEqual([422, 'label']);
  const caller = await newCaller(server, EVENTS);
  expect((await caller.send({ secret: made.secret })).status).toBe(202);
  const { status, json } = await dashboard.request<ApiKey>(revoke, { body: { label: 'shop' } });
  expect([status, json.data.revoked_at]).toEqual([200, new Date(clock.now()).toISOString()]);
  expect((await caller.send({ secret: made.secret })).status).toBe(401);
});

test('restricts keys to admins, and returns 404 for those of another project', async () => {
  const { id: project } = await createProject(db, { name: 'Acme' });
  const { id: other } = await createProject(db, { name: 'Other' });
  const at = `/projects/${project}/keys`;
  const { id } = (await dashboard.request<ApiKey>(`POST ${at}`, { body: { label: 'shop' } })).json.data;
  for (const [what, body] of [
    [`GET ${at}`, undefined],
    [`POST ${at}`, { label: 'x' }],
    [`POST ${at}/${id}/revoke`, { label: 'shop' }],
  ] as const)
    expect((await dashboard.request(what, { as: 'editor', body })).status).toBe(403);
  const theirs = `POST /projects/${other}/keys`;
  expect((await dashboard.request(`${theirs}/${id}/revoke`, { body: { label: 'shop' } })).status).toBe(404);
  expect((await dashboard.request(theirs, { body: { label: '' } })).json.errors[0]?.field).toBe('label');
  expect((await dashboard.request(theirs, { body: { label: 'x', env: 'test' } })).json.errors[0]?.field).toBe(
    'env',
  );
});
