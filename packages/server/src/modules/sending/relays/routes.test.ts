import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { Relay, RelaySetup, RelayTest } from '@beckon/contract/dashboard';
import { smtpSettings } from '../../../../testing/factories/relays.ts';
import { testMail } from '../../../../testing/factories/send-services.ts';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { startSink } from '../../../../testing/servers/smtp-sink.ts';
import { createProject } from '../../administration/create-project.ts';
import { silentLog } from '../../../platform/log.ts';
import { createEncrypter } from '../../../platform/crypto/encrypt.ts';
import { reencryptRelaySecrets } from './re-encrypt-secrets.ts';
import { readRelaySettings } from './read-settings.ts';

const { db } = await endpointServer();
const sink = await startSink({ credentials: { user: 'acme', pass: 'correct-horse' } });
const dashboard = testDashboard(db, {
  installation: {
    publicUrl: 'http://localhost:8080',
    relay: 'smtp://smtp.relay.test:587',
    mailFrom: null,
    hasModel: false,
  },
});
const { encrypter } = testMail();
afterAll(async () => {
  await dashboard.close();
  await sink.close();
});

const PASSWORD = 'a-password-that-never-appears';
let project = 0;
let at = '';
beforeEach(async () => {
  ({ id: project } = await createProject(db, { name: 'Acme' }));
  at = `/projects/${project}`;
});

const settings = { host: 'smtp.acme.test', port: '587', username: 'acme', password: PASSWORD };
const add = async (body: object = {}) =>
  dashboard.request<Relay>(`POST ${at}/relays`, { body: { kind: 'smtp', name: 'Main', settings, ...body } });
const valuesOf = ({ id }: Relay) => readRelaySettings({ db, encrypter }, { projectId: project, id });

describe('setting up a relay', () => {
  test('lists the kinds with their fields', async () => {
    const { data } = (await dashboard.request<RelaySetup>(`GET ${at}/relay-setup`)).json;
    const smtp = data.kinds.find(({ kind }) => kind === 'smtp');
    expect(smtp?.fields.filter(({ secret }) => secret).map(({ name }) => name)).toEqual(['password']);
    expect(data).toMatchObject({ smtp_url: { host: 'smtp.relay.test', kind: null }, inside: false });
  });

  test('stores the password encrypted, and never returns it', async () => {
    const added = await add();
    expect([added.status, added.json.data]).toMatchObject([
      200,
      {
        name: 'Main',
        owner: 'project',
        state: 'untested',
        settings: { host: 'smtp.acme.test', username: 'acme' },
      },
    ]);
    const listed = await dashboard.request(`GET ${at}/relays`, { as: 'viewer' });
    const rows = JSON.stringify(await db.query(`SELECT * FROM beckon.relay`));
    for (const text of [added.text, listed.text, rows]) expect(text).not.toContain(PASSWORD);
    expect(await valuesOf(added.json.data)).toMatchObject({ password: PASSWORD });
  });

  test('names every field that is wrong', async () => {
    const { status, json } = await add({ settings: { host: 'not a host', port: '99999', password: 'x' } });
    expect(status).toBe(422);
    expect(json.errors.map(({ field }) => field)).toEqual(['host', 'port', 'username']);
    expect((await add({ kind: 'pigeon' })).json.errors[0]).toMatchObject({ field: 'kind' });
    expect((await add({ settings: { ...settings, color: 'red' } })).json.errors[0]).toMatchObject({
      field: 'color',
    });
  });

  test('refuses a second relay of the same name', async () => {
    await add();
    expect((await add()).status).toBe(409);
  });

  test('is refused for a sandbox, whose emails stay inside', async () => {
    await db.query(`UPDATE beckon.project SET livemode = false WHERE project_id = $1`, [project]);
    expect((await add()).status).toBe(409);
  });
});

describe('changing a relay', () => {
  test('keeps secrets that are left out, and replaces the others', async () => {
    const { data } = (await add()).json;
    const change = (body: object) => dashboard.request<Relay>(`PATCH ${at}/relays/${data.id}`, { body });
    expect((await change({ settings: { port: '2525' } })).json.data.settings).toMatchObject({ port: '2525' });
    expect(await valuesOf(data)).toMatchObject({ port: '2525', password: PASSWORD });
    await change({ name: 'Other', settings: { password: 'another' } });
    expect(await valuesOf(data)).toMatchObject({ port: '2525', password: 'another' });
    const audit = JSON.stringify(
      await db.query(`SELECT * FROM beckon.audit WHERE project_id = $1`, [project]),
    );
    expect(audit).toContain('"password"');
    expect(audit).not.toContain('another');
    expect(audit).not.toContain(PASSWORD);
  });

  test('requires a new test', async () => {
    const { data } = (await add()).json;
    await db.query(`UPDATE beckon.relay SET checked_at = now() WHERE id = $1`, [data.id]);
    const change = { body: { settings: { port: '2525' } } };
    const changed = await dashboard.request<Relay>(`PATCH ${at}/relays/${data.id}`, change);
    expect(changed.json.data.state).toBe('untested');
  });
});

describe('testing a relay', () => {
  const testOf = async (more: object): Promise<RelayTest> => {
    const added = await add({ settings: { ...smtpSettings(sink.port), ...more } });
    return (await dashboard.request<RelayTest>(`POST ${at}/relays/${added.json.data.id}/test`)).json.data;
  };

  test('succeeds if the relay accepts the connection, and sends nothing', async () => {
    expect(await testOf({})).toMatchObject({ ok: true, relay: { state: 'working' } });
    expect(sink.emails).toEqual([]);
  });

  test('shows why it failed', async () => {
    const refused = await testOf({ host: '127.0.0.1', port: '1' });
    expect(refused).toMatchObject({ ok: false, relay: { state: 'test_failed' } });
    expect(refused.relay.failure).toBe(refused.message);
  });
});

describe('using a relay', () => {
  const use = (body: object, as: 'admin' | 'editor' | 'owner' = 'admin') =>
    dashboard.request<Relay[]>(`PUT ${at}/relay-use`, { body, as });

  test('shows where it is used, and refuses to delete it there', async () => {
    const { data } = (await add()).json;
    const used = await use({ relay: data.id });
    expect(used.json.data).toMatchObject([{ id: data.id, used_by_project: true, used_by_domains: [] }]);
    const remove = { body: { name: 'Main' } };
    expect((await dashboard.request(`DELETE ${at}/relays/${data.id}`, remove)).status).toBe(409);
    await use({ relay: null });
    const wrong = await dashboard.request(`DELETE ${at}/relays/${data.id}`, { body: { name: 'main' } });
    expect([wrong.status, wrong.json.errors[0]?.field]).toEqual([422, 'name']);
    expect((await dashboard.request(`DELETE ${at}/relays/${data.id}`, remove)).status).toBe(200);
    expect((await dashboard.request<Relay[]>(`GET ${at}/relays`)).json.data).toEqual([]);
  });

  test('accepts only domains and relays of the project', async () => {
    const { data } = (await add()).json;
    expect((await use({ relay: data.id, domain: 'other.test' })).json.errors[0]).toMatchObject({
      field: 'domain',
    });
    const { id: other } = await createProject(db, { name: 'Other' });
    const body = { relay: data.id };
    expect((await dashboard.request(`PUT /projects/${other}/relay-use`, { body })).status).toBe(404);
    for (const what of ['GET', 'POST'])
      expect(
        (
          await dashboard.request(
            `${what} /projects/${other}/relays/${data.id}${what === 'GET' ? '' : '/test'}`,
          )
        ).status,
      ).toBe(404);
  });

  test('requires an admin, and for the installation its operator', async () => {
    const { data } = (await add()).json;
    expect((await use({ relay: data.id }, 'editor')).status).toBe(403);
    expect((await use({ relay: data.id, installation: true }, 'owner')).status).toBe(403);
    expect((await add({ installation: true })).status).toBe(403);
  });
});

test('the local shell sets up a relay of the installation, whose settings members do not see', async () => {
  const shell = testDashboard(db, { isLocalShell: true });
  const body = { kind: 'smtp', name: 'Everywhere', settings, installation: true };
  const added = await shell.request<Relay>(`POST ${at}/relays`, { body });
  expect(added.json.data).toMatchObject({ owner: 'installation', settings: { host: 'smtp.acme.test' } });
  const { id } = added.json.data;
  await shell.request(`PUT ${at}/relay-use`, { body: { relay: id, installation: true } });
  const listed = await dashboard.request<Relay[]>(`GET ${at}/relays`);
  expect(listed.json.data).toMatchObject([{ id, used_by_installation: true, settings: {} }]);
  const change = await dashboard.request(`PATCH ${at}/relays/${id}`, { body: { name: 'Mine' } });
  expect(change.status).toBe(403);
  await shell.request(`PUT ${at}/relay-use`, { body: { relay: null, installation: true } });
  await shell.request(`DELETE ${at}/relays/${id}`, { body: { name: 'Everywhere' } });
  await shell.close();
});

test('secrets are re-encrypted with the new secret key, and stay readable', async () => {
  const { data } = (await add()).json;
  const changing = createEncrypter('a new secret of this test', 'a secret of this test alone', 'test');
  expect(await reencryptRelaySecrets(db, { encrypter: changing, log: silentLog })).toBeGreaterThan(0);
  const renewed = createEncrypter('a new secret of this test', null, 'test');
  const relay = { projectId: project, id: data.id };
  expect(await readRelaySettings({ db, encrypter: renewed }, relay)).toMatchObject({ password: PASSWORD });
  expect(await reencryptRelaySecrets(db, { encrypter: changing, log: silentLog })).toBe(0);
});

test('the support bundle contains no secret of a relay', async () => {
  await add();
  const { text } = await dashboard.request(`GET ${at}/support-bundle`, { as: 'admin' });
  expect(text).toContain('"settings"');
  expect(text).not.toContain(PASSWORD);
});
