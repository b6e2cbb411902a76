import { afterAll, beforeEach, expect, test } from 'vitest';
import type { SendingDomain } from '@beckon/contract/dashboard';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';
import { startDnsServer } from '../../../../testing/servers/dns-server.ts';
import { testResolver } from '../../../../testing/servers/test-resolver.ts';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { listEntries } from '../../workspace/audit/store.ts';
import { createProject } from '../../administration/create-project.ts';

const { db, clock } = await endpointServer();
const dns = await startDnsServer();
const dashboard = testDashboard(db, {
  resolver: testResolver(dns),
  mail: { mailDomain: 'in.beckon.test', spfInclude: 'spf.relay.test' },
});
afterAll(async () => {
  await dashboard.close();
  await dns.stop();
});

let project = 0;
let name = '';
let at = '';
beforeEach(async () => {
  ({ id: project } = await createProject(db, { name: 'Acme' }));
  name = `mail${project}.acme.test`;
  at = `/projects/${project}/domains`;
});

const add = async (body: object = {}) =>
  (await dashboard.request<SendingDomain>(`POST ${at}`, { body: { name, ...body } })).json.data;
const publish = ({ records }: SendingDomain): void => {
  for (const { type, name: host, value } of records) dns.set(type, host, [value]);
};

const byAction = ([first]: (string | null)[], [second]: (string | null)[]): number =>
  String(first).localeCompare(String(second));

test('adds a domain with the records to publish, and verifies it once they are published', async () => {
  const added = await add({ throttle: '5/s' });
  expect(added).toMatchObject({ name, state: 'pending', can_send: false, throttle: '5/s', warm: false });
  expect(added.records.map(({ kind, status }) => [kind, status])).toEqual([
    ['dkim', 'unchecked'],
    ['return_path_mx', 'unchecked'],
    ['return_path_spf', 'unchecked'],
    ['dmarc', 'unchecked'],
  ]);
  publish(added);
  dns.set('TXT', `_dmarc.${name}`, ['v=DMARC1; p=perhaps']);
  const wrong = (await dashboard.request<SendingDomain>(`POST ${at}/${name}/check`)).json.data;
  expect(wrong.records.find(({ kind }) => kind === 'dmarc')).toMatchObject({
    status: 'wrong',
    found: ['v=DMARC1; p=perhaps'],
  });
  publish(added);
  clock.advance(1_000);
  const right = (await dashboard.request<SendingDomain>(`POST ${at}/${name}/check`)).json.data;
  expect(right).toMatchObject({
    state: 'verified',
    can_send: true,
    checked_at: new Date(clock.now()).toISOString(),
  });
  const listed = await dashboard.request<SendingDomain[]>(`GET ${at}`, { as: 'viewer' });
  expect(listed.json.data).toEqual([right]);
  expect((await dashboard.request(`GET ${at}/${name.toUpperCase()}`)).json.data).toEqual(right);
});

test('pauses a domain with a reason that all members see, and resumes it', async () => {
  publish(await add());
  await dashboard.request(`POST ${at}/${name}/check`);
  clock.advance(1_000);
  const paused = await dashboard.request<SendingDomain>(`POST ${at}/${name}/pause`, {
    body: { reason: 'new IP' },
  });
  expect(paused.json.data).toMatchObject({ can_send: false, paused_reason: 'Ada paused it: new IP' });
  clock.advance(1_000);
  const again = await dashboard.request(`POST ${at}/${name}/pause`);
  expect([again.status, again.json.errors[0]?.message]).toEqual([409, expect.stringContaining('new IP')]);
  const resumed = await dashboard.request<SendingDomain & { retried: number }>(`POST ${at}/${name}/resume`);
  expect(resumed.json.data).toMatchObject({ can_send: true, paused_at: null, retried: 0 });
  const query = { projectIds: [project], actor: null, action: 'domain.', after: null, limit: 9 };
  expect(
    (await listEntries(db, query)).map(({ action, subject }) => [action, subject]).toSorted(byAction),
  ).toEqual([
    ['domain.add', name],
    ['domain.check', name],
    ['domain.pause', name],
    ['domain.resume', name],
  ]);
});

test('changes speed, DKIM key and link host, and names the field of an invalid value', async () => {
  publish(await add());
  await dashboard.request(`POST ${at}/${name}/check`);
  const edited = await dashboard.request<SendingDomain>(`PATCH ${at}/${name}`, {
    body: { throttle: 'off', warm: true },
  });
  expect(edited.json.data).toMatchObject({ throttle: 'off', warm: true });
  const rotated = await dashboard.request<SendingDomain>(`POST ${at}/${name}/rotate`);
  expect(rotated.json.data.records.filter(({ kind }) => kind === 'dkim')).toHaveLength(2);
  const track = (host: string | null) =>
    dashboard.request<SendingDomain>(`PUT ${at}/${name}/tracking`, { body: { host } });
  expect((await track(`t.${name}`)).json.data.tracking).toMatchObject({
    host: `t.${name}`,
    state: 'pending',
    cname_target: 'localhost',
  });
  expect((await track(null)).json.data.tracking).toBeNull();
  expect((await track('t.other.test')).status).toBe(422);
  const bad = await dashboard.request(`PATCH ${at}/${name}`, { body: { throttle: 'fast' } });
  expect([bad.status, bad.json.errors[0]?.field]).toEqual([422, 'throttle']);
  expect((await dashboard.request(`POST ${at}`, { body: { name: 'co.uk' } })).status).toBe(422);
  expect((await dashboard.request(`POST ${at}`, { body: { name } })).status).toBe(409);
});

test('removes a domain only by its typed name and for admins, and shows none of another project', async () => {
  await add();
  const wrong = await dashboard.request(`DELETE ${at}/${name}`, { body: { name: 'acme' } });
  expect([wrong.status, wrong.json.errors[0]?.field]).toEqual([422, 'name']);
  for (const what of [
    `POST ${at}`,
    `POST ${at}/${name}/check`,
    `DELETE ${at}/${name}`,
    `PATCH ${at}/${name}`,
  ])
    expect((await dashboard.request(what, { as: 'editor' })).status).toBe(403);
  const { id: other } = await createProject(db, { name: 'Other' });
  expect((await dashboard.request(`GET /projects/${other}/domains/${name}`)).status).toBe(404);
  expect((await dashboard.request(`POST /projects/${other}/domains/${name}/pause`)).status).toBe(404);
  expect((await dashboard.request(`DELETE ${at}/${name}`, { body: { name } })).json.data).toEqual({ name });
  expect((await dashboard.request<unknown[]>(`GET ${at}`)).json.data).toEqual([]);
});
