import type {
  Home,
  Relay,
  RelayFeedback,
  RelayRecords,
  RelaySetup,
  SuppressionImport,
} from '@beckon/contract/dashboard';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { testMail, testSendServices } from '../../../../testing/factories/send-services.ts';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { type FakeRelay, startFakeRelay } from '../../../../testing/servers/relays/fake-relay.ts';
import { RELAY_ADAPTERS } from '../../../platform/relays/adapters.ts';
import { relayKinds } from '../../../platform/relays/kinds.ts';
import { createProject } from '../../administration/create-project.ts';
import { closeGate } from '../../operations/restore/confirm-restore.ts';
import { readRelaySettings } from '../../sending/relays/read-settings.ts';

const { db } = await endpointServer();
const dashboard = testDashboard(db, { relayKinds: relayKinds(Object.values(RELAY_ADAPTERS)) });
/** The dashboard of an installation whose SMTP_URL belongs to Postmark. */
const SMTP_URL = 'smtp://user:secret@smtp.postmarkapp.com:587';
const bySmtpUrl = testDashboard(db, {
  isLocalShell: true,
  relayKinds: relayKinds(Object.values(RELAY_ADAPTERS), SMTP_URL),
  smtpUrl: SMTP_URL,
  installation: {
    publicUrl: 'http://localhost:8080',
    relay: 'smtp://smtp.postmarkapp.com:587',
    mailFrom: null,
    hasModel: false,
  },
  sendServices: testSendServices({
    outlet: { kind: 'relay', publicUrl: 'http://localhost:8080', mailDomain: null },
  }),
});
const { encrypter } = testMail();
const fakes: FakeRelay[] = [];
afterAll(async () => {
  await dashboard.close();
  await bySmtpUrl.close();
  for (const fake of fakes) await fake.close();
});

let project = 0;
let at = '';
beforeEach(async () => {
  ({ id: project } = await createProject(db, { name: 'Acme' }));
  at = `/projects/${project}`;
});

async function add(kind: 'postmark' | 'resend' | 'sendgrid', without: string[] = []): Promise<Relay> {
  const fake = await startFakeRelay(kind);
  fakes.push(fake);
  const settings = Object.fromEntries(
    Object.entries(fake.settings).filter(([name]) => name !== 'hook_secret' && !without.includes(name)),
  );
  const body = { kind, name: `Main ${fakes.length}`, settings };
  return (await dashboard.request<Relay>(`POST ${at}/relays`, { body })).json.data;
}

const feedbackOf = async ({ id }: Relay, as: 'admin' | 'viewer' = 'admin') =>
  dashboard.request<RelayFeedback>(`GET ${at}/relays/${id}/feedback`, { as });

describe('feedback of a relay', () => {
  test('names the webhook to create, and the setting that is missing', async () => {
    const relay = await add('sendgrid', ['verification_key']);
    const { data } = (await feedbackOf(relay)).json;
    expect(data).toMatchObject({
      proven_at: null,
      pull: 'none',
      simulator: null,
      webhook: { missing: { field: 'verification_key' }, can_register: true },
    });
    expect(data.webhook?.url).toMatch(new RegExp(`/hooks/relays/${relay.id}$`));
  });

  test('contains the generated secret in the address, for admins only', async () => {
    const relay = await add('postmark');
    const { data } = (await feedbackOf(relay)).json;
    const secret = (await readRelaySettings({ db, encrypter }, { projectId: project, id: relay.id }))?.[
      'hook_secret'
    ];
    expect(new URL(data.webhook?.url ?? '').password).toBe(secret);
    expect((await feedbackOf(relay, 'viewer')).status).toBe(403);
    const listed = await dashboard.request(`GET ${at}/relays`);
    expect(listed.text).not.toContain(secret);
  });

  test('is by email for an SMTP relay', async () => {
    const body = { kind: 'smtp', name: 'Main', settings: { host: 'smtp.acme.test' } };
    const relay = (await dashboard.request<Relay>(`POST ${at}/relays`, { body })).json.data;
    expect((await feedbackOf(relay)).json.data).toMatchObject({ webhook: null, pull: 'none' });
  });

  test('is by webhook for an SMTP relay at the host of a provider, and by API with its key', async () => {
    const body = { kind: 'smtp', name: 'Main', settings: { host: 'smtp.postmarkapp.com' } };
    const relay = (await dashboard.request<Relay>(`POST ${at}/relays`, { body })).json.data;
    expect(relay.title).toBe('Postmark by SMTP');
    const { data } = (await feedbackOf(relay)).json;
    expect(data).toMatchObject({
      provider: 'Postmark',
      by_smtp: true,
      api_needs: ['Server API token'],
      pull: 'off',
      can_import_suppressions: false,
      webhook: { missing: null, can_register: false },
    });
    expect(data.fields.map(({ name }) => name)).toContain('server_token');
    const registered = await dashboard.request(`POST ${at}/relays/${relay.id}/feedback/webhook`);
    expect([registered.status, registered.json.errors[0]?.message]).toEqual([
      409,
      'Enter the settings for requests to Postmark first: Server API token',
    ]);
    const fake = await startFakeRelay('postmark');
    fakes.push(fake);
    const { hook_secret: _, ...settings } = fake.settings;
    const changed = await dashboard.request<Relay>(`PATCH ${at}/relays/${relay.id}`, { body: { settings } });
    expect(changed.text).not.toContain(settings['server_token']);
    expect((await feedbackOf(relay)).json.data).toMatchObject({
      api_needs: [],
      pull: 'on',
      webhook: { can_register: true },
    });
    expect((await dashboard.request(`POST ${at}/relays/${relay.id}/feedback/webhook`)).status).toBe(200);
  });

  test('stores the signing key of a webhook that Beckon created', async () => {
    const relay = await add('resend', ['webhook_secret']);
    expect((await feedbackOf(relay)).json.data.webhook?.missing?.field).toBe('webhook_secret');
    const created = await dashboard.request<RelayFeedback>(`POST ${at}/relays/${relay.id}/feedback/webhook`);
    expect([created.status, created.json.data.webhook?.missing]).toEqual([200, null]);
    const settings = await readRelaySettings({ db, encrypter }, { projectId: project, id: relay.id });
    expect(settings?.['webhook_secret']).toBe(fakes.at(-1)?.settings['webhook_secret']);
    const audit = await db.query(`SELECT * FROM beckon.audit WHERE project_id = $1`, [project]);
    expect(JSON.stringify(audit)).not.toContain(settings?.['webhook_secret']);
  });

  test('reports why the provider refused to create a webhook', async () => {
    const fake = await startFakeRelay('postal');
    fakes.push(fake);
    const body = { kind: 'postal', name: 'Postal', settings: fake.settings };
    const relay = (await dashboard.request<Relay>(`POST ${at}/relays`, { body })).json.data;
    const { status, json } = await dashboard.request(`POST ${at}/relays/${relay.id}/feedback/webhook`);
    expect([status, json.errors[0]?.message]).toEqual([
      409,
      'Postal does not create webhooks by API. Create it there',
    ]);
  });

  test('imports the suppression list of the provider, each address once', async () => {
    const relay = await add('postmark');
    const path = `POST ${at}/relays/${relay.id}/suppressions`;
    const first = await dashboard.request<SuppressionImport>(path);
    expect([first.status, first.json.data]).toMatchObject([200, { rows: 3, added: 3 }]);
    expect((await dashboard.request<SuppressionImport>(path)).json.data).toMatchObject({ rows: 3, added: 0 });
    const rows = await db.query(
      `SELECT value, reason FROM beckon.suppression WHERE project_id = $1 ORDER BY value`,
      [project],
    );
    expect(rows).toEqual([
      { value: 'bounced@home.test', reason: 'hard_bounce' },
      { value: 'left@home.test', reason: 'unsubscribed' },
      { value: 'spam@home.test', reason: 'complained' },
    ]);
    const other = await add('resend');
    expect((await dashboard.request(`POST ${at}/relays/${other.id}/suppressions`)).status).toBe(409);
  });

  test('is not proven by a project that does not use a relay', async () => {
    const relay = await add('postmark');
    const { status, json } = await dashboard.request(`POST ${at}/relays/${relay.id}/feedback/proof`, {
      body: {},
    });
    expect([status, json.errors[0]?.message]).toMatchObject([409, expect.stringMatching(/^Use the relay/)]);
  });

  test('is neither proven nor registered in a restored database', async () => {
    const relay = await add('postmark');
    await closeGate(db);
    for (const path of ['webhook', 'proof']) {
      const { status } = await dashboard.request(`POST ${at}/relays/${relay.id}/feedback/${path}`, {
        body: {},
      });
      expect(status).toBe(409);
    }
    expect(fakes.at(-1)?.submissions).toBe(0);
  });
});

describe('feedback of SMTP_URL', () => {
  const needsOf = async () =>
    (await bySmtpUrl.request<Home>(`GET ${at}/home`)).json.data.needs.filter(
      ({ kind }) => kind === 'relay_unproven',
    );
  const setup = async () => (await bySmtpUrl.request<RelaySetup>(`GET ${at}/relay-setup`)).json.data;

  test('is offered for the provider, and named by Home until a bounce came back', async () => {
    expect((await setup()).smtp_url).toEqual({
      host: 'smtp.postmarkapp.com',
      kind: 'postmark',
      feedback_relay: null,
    });
    expect(await needsOf()).toEqual([{ kind: 'relay_unproven', id: null, name: 'SMTP_URL (Postmark)' }]);
    const body = { kind: 'smtp_url', name: 'SMTP_URL', settings: {}, installation: true };
    const { json } = await bySmtpUrl.request<Relay>(`POST ${at}/relays`, { body });
    const { id } = json.data;
    expect(json.data).toMatchObject({
      title: 'Postmark by SMTP_URL',
      owner: 'installation',
      used_by_installation: true,
      settings: { provider: 'postmark' },
    });
    expect((await setup()).smtp_url?.feedback_relay).toBe(id);
    expect(await needsOf()).toEqual([{ kind: 'relay_unproven', id, name: 'SMTP_URL' }]);
    const feedback = await bySmtpUrl.request<RelayFeedback>(`GET ${at}/relays/${id}/feedback`);
    expect(feedback.json.data).toMatchObject({
      provider: 'Postmark',
      by_smtp: true,
      webhook: { missing: null },
    });
    await db.query(`UPDATE beckon.relay SET feedback_proven_at = now() WHERE id = $1`, [id]);
    expect(await needsOf()).toEqual([]);
  });

  test('says that SPF needs no change', async () => {
    await bySmtpUrl.request(`POST ${at}/domains`, { body: { name: 'mail.acme.test' } });
    const id = (await setup()).smtp_url?.feedback_relay;
    const path = `GET ${at}/relays/${id}/domains/mail.acme.test`;
    expect((await bySmtpUrl.request<RelayRecords>(path)).json.data).toMatchObject({
      own_return_path: 'Postmark',
      records: [],
    });
  });

  test('is not reported by the provider of another SMTP_URL', async () => {
    const id = (await setup()).smtp_url?.feedback_relay;
    const other = testDashboard(db, {
      relayKinds: relayKinds(Object.values(RELAY_ADAPTERS), 'smtp://smtp.sendgrid.net'),
    });
    const { json } = await other.request<RelayFeedback>(`GET ${at}/relays/${id}/feedback`);
    expect(json.data).toMatchObject({ provider: null, webhook: null });
    await other.close();
  });
});
