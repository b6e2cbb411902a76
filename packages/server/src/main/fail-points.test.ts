import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../testing/factories/database.ts';
import { HOOK_CA, hookServer } from '../../testing/servers/hook-server.ts';
import { dsn } from '../../testing/factories/inbound-email.ts';
import { uploadFile } from '../../testing/factories/imports.ts';
import { testMail, TOKEN_KEYS } from '../../testing/factories/send-services.ts';
import { type TestServer, testProject, testServer } from '../../testing/servers/server.ts';
import { startSink } from '../../testing/servers/smtp-sink.ts';
import { openTalk } from '../../testing/servers/smtp-client.ts';
import { FAILPOINTS, type Failpoint } from '../platform/failpoints.ts';
import { idMaker } from '../platform/ids.ts';
import { type EmailName, emailToken } from '../platform/crypto/email-token.ts';
import { createRule } from '../modules/rules/write-rule.ts';
import { requestCheck, startImport } from '../modules/imports/run/manage-imports.ts';
import { setSettings } from '../modules/administration/set-settings.ts';
import { addEndpoint } from '../modules/webhooks/endpoints/change-endpoint.ts';
import { migrate } from '../platform/db/migrate.ts';
import { createOutbound } from '../platform/outbound/outbound.ts';

const passed = new Map<Failpoint, number>();
const failpoint = (point: Failpoint): void => void passed.set(point, (passed.get(point) ?? 0) + 1);

let refused = 0;
const sink = await startSink({
  // The first email is deferred.
  atBody: () => (refused++ === 0 ? { code: 451, text: '4.3.0 Later' } : null),
});
const hooks = await hookServer();
afterAll(async () => {
  await hooks.close();
  await sink.close();
});

const MAIL_DOMAIN = 'in.beckon.test';
const SETTINGS = {
  autopilot: '1s',
  quiet_hours: 'off',
  frequency_cap: 'off',
  throttle: 'off',
  postal_address: '1 Main Street',
};
const RULE = {
  name: 'order',
  when: { event: 'ordered' },
  steps: [{ draft: { subject: 'Thanks', preheader: '', body: 'Look at [this](https://acme.test/this).' } }],
};

/** Does a little of everything that the product does, through its public interfaces. */
async function ordinaryLife(server: TestServer): Promise<void> {
  const { db, url } = server;
  const { id: projectId, secret } = await testProject(server);
  const { encrypter } = testMail();
  await setSettings(db, projectId, SETTINGS);
  await createRule(db, { projectId, document: RULE });
  const deps = { db, encrypter, newId: idMaker(db.clock), rules: { allowPrivate: true } };
  await addEndpoint(deps, { projectId, url: hooks.url('/hook') });
  const post = async (path: string, body: object): Promise<void> => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    expect((await fetch(`${url}${path}`, init)).status).toBe(202);
  };
  for (const userId of ['ada', 'bob']) {
    await post('/api/v1/users', { external_user_id: userId, email: `${userId}@home.test` });
    await post('/api/v1/events', { external_user_id: userId, name: 'ordered', properties: {} });
  }
  const email = async (): Promise<string | undefined> => {
    const rows = await db.query<{ id: string }>(
      `SELECT id FROM beckon.email WHERE project_id = $1 AND state = 'sent'`,
      [projectId],
    );
    return rows[0]?.id;
  };
  await expect.poll(email, { timeout: 20_000 }).toBeDefined();
  const name = { projectId, emailId: (await email()) ?? '' };
  expect((await fetch(`${url}/o/${emailToken(name, 'open', TOKEN_KEYS)}.gif`)).status).toBe(200);
  await comesBack(server, name);
  const file = { projectId, kind: 'users', text: 'id,plan\nada,pro\ncat,free\n' } as const;
  const brought = await uploadFile(db, file);
  await requestCheck(db, brought);
  await expect.poll(() => stateOf(server, brought.id), { timeout: 20_000 }).toBe('checked');
  await startImport(db, brought, { liveEvents: null });
  await expect.poll(() => stateOf(server, brought.id), { timeout: 20_000 }).toBe('done');
}

/** Sends a bounce: the recipient does not exist any more, and the remote server reports that later. */
async function comesBack({ ports }: TestServer, name: EmailName): Promise<void> {
  const talk = await openTalk(ports.mailIn ?? 0);
  const to = `b+${emailToken(name, 'bounce', TOKEN_KEYS)}@${MAIL_DOMAIN}`;
  const { data } = await talk.submit({ to: [to], raw: dsn({ recipient: 'bob@home.test' }) });
  expect(data).toMatch(/^250/);
  talk.close();
}

async function stateOf({ db }: TestServer, id: string): Promise<string | undefined> {
  const [row] = await db.query<{ state: string }>('SELECT state FROM beckon.import WHERE id = $1', [id]);
  return row?.state;
}

test('an ordinary life of a server passes every failpoint', async () => {
  const fresh = await testDatabase('empty');
  await migrate(fresh.connection, { failpoint });
  const outbound = createOutbound({ allowPrivate: true, ca: HOOK_CA });
  const server = await testServer({
    database: fresh,
    smtpUrl: `smtp://127.0.0.1:${sink.port}?tls=optional`,
    more: {
      openOutbound: () => outbound,
      failpoint,
      roles: new Set(['api', 'worker', 'mail-in']),
      mail: { mailDomain: MAIL_DOMAIN, spfInclude: null },
      mailIn: { host: '127.0.0.1', port: 0, isExplicit: true },
    },
  });
  await ordinaryLife(server);
  const missed = (): Failpoint[] => FAILPOINTS.filter((point) => point !== 'stopping' && !passed.has(point));
  // A hit is classified after some seconds.
  await expect.poll(missed, { timeout: 25_000 }).toEqual([]);
  expect(passed.has('stopping')).toBe(false);
  await server.stop();
  await fresh.drop();
  expect(passed.has('stopping')).toBe(true);
}, 90_000);

test('there are as many failpoints as documented', () => {
  expect(FAILPOINTS.length).toBeGreaterThanOrEqual(20);
  expect(new Set(FAILPOINTS).size).toBe(FAILPOINTS.length);
});
