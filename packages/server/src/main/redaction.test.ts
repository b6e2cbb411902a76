import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import pg from 'pg';
import { SMTPServer } from 'smtp-server';
import { afterAll, expect, inject, test } from 'vitest';
import { testDatabase } from '../../testing/factories/database.ts';
import { startDnsServer } from '../../testing/servers/dns-server.ts';
import { freePort } from '../../testing/servers/free-port.ts';
import { hookServer, HOOK_CA_FILE } from '../../testing/servers/hook-server.ts';
import { letFallDue } from '../../testing/oracles/mail-survival.ts';
import { openTalk } from '../../testing/servers/smtp-client.ts';
import { superviseServer } from '../../testing/servers/supervised-server.ts';
import { systemClock } from '../platform/time/clock.ts';
import { deriveKey } from '../platform/crypto/hash.ts';
import { idMaker } from '../platform/ids.ts';
import { emailToken } from '../platform/crypto/email-token.ts';
import { silentLog } from '../platform/log.ts';
import { LOG_FIELDS } from '../platform/log-names.ts';
import { createEncrypter } from '../platform/crypto/encrypt.ts';
import { within } from '../platform/time/within.ts';
import { createKey } from '../modules/ingest/keys/change-key.ts';
import { addDomain } from '../modules/sending/domains/change-domain.ts';
import { checkDomain } from '../modules/sending/domains/check-domain.ts';
import { requireDomain } from '../modules/sending/domains/domain-view.ts';
import { setSettings } from '../modules/administration/set-settings.ts';
import { addEndpoint } from '../modules/webhooks/endpoints/change-endpoint.ts';
import { type Database, openDatabase } from '../platform/db/database.ts';
import { createResolver } from '../platform/dns/resolver.ts';

/**
 * Plants secrets and users' data in every input, and drives the whole product through success and failure. All remote servers repeat what
 * they received. The test then searches everything that was printed.
 */
const SECRETS = {
  secretKey: 'canary-secretkey-5e2f7a90-of-this-test',
  dbPassword: 'canary/db+pässword',
  smtpPassword: 'canary smtp:pass@word',
  modelKey: 'canary-model-key-1f',
  wrongKey: `sk_live_${'canarywrongkey'.repeat(3)}`,
  password: 'canary correct horse battery',
  wrongPassword: 'canary wrong horse battery',
  wrongToken: 'canaryforgedtokenofanemailthatdoesnotexist0123456789',
  cookie: 'canarycookieofasessionthatis.notours0123456789',
};
const PEOPLE = {
  email: 'canary.reader@home.test',
  refused: 'canary.refused@home.test',
  owner: 'canary.owner@team.test',
  name: 'Canarina Lovebird',
  company: 'Canary Brothers Ltd',
  reply: 'Canary words of an answer by mail',
};
const PUBLIC_URL = 'https://beckon.acme.test';
const MAIL_DOMAIN = 'in.acme.test';

const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

/** A relay that refuses by repeating all that it received about sender and recipient. */
async function talkativeRelay(): Promise<number> {
  const server = new SMTPServer({
    allowInsecureAuth: true,
    hideSTARTTLS: true,
    onAuth({ username, password }, _session, callback) {
      if (username === 'right') return callback(null, { user: username });
      callback(new Error(`535 5.7.8 No user ${username} with the password ${password}`));
    },
    onRcptTo({ address }, _session, callback) {
      if (!address.includes('refused')) return callback();
      const refusal = new Error(`5.1.1 <${address}> of ${PEOPLE.name} (${SECRETS.smtpPassword}) is unknown`);
      callback(Object.assign(refusal, { responseCode: 550 }));
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  closers.push(() => new Promise<void>((resolve) => server.close(resolve)));
  return (server.server.address() as AddressInfo).port;
}

/** A model that refuses in the same way. */
async function talkativeModel(): Promise<{ url: string; requestCount: () => number }> {
  let count = 0;
  const server = createServer((request: IncomingMessage, response) => {
    count += 1;
    void buffer(request).then((body) => {
      const echoed = `${String(request.headers.authorization ?? request.headers['x-api-key'])} ${body.toString()}`;
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${echoed}` } }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requestCount: () => count };
}

/** A database whose superuser has one of the planted passwords. */
async function databaseWithPassword(): Promise<{ url: string; db: Database; name: string }> {
  const database = await testDatabase();
  const role = `canary_${process.pid}_${Date.now().toString(36)}`;
  const admin = new pg.Client(inject('adminUrl'));
  await admin.connect();
  await admin.query(`CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD '${SECRETS.dbPassword}'`);
  const url = new URL(database.url);
  url.username = role;
  url.password = encodeURIComponent(SECRETS.dbPassword);
  const db = await openDatabase({
    connection: database.connection,
    clock: systemClock,
    log: silentLog,
  });
  closers.push(async () => {
    await db.close();
    await database.drop();
    await admin.query(`DROP ROLE ${role}`);
    await admin.end();
  });
  return { url: url.href, db, name: url.pathname.slice(1) };
}

/** A body that is not JSON is sent as it is. */
function written(body: unknown, more: Record<string, string>): RequestInit {
  const headers = { 'content-type': 'application/json', ...more };
  return { headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

function firstMatch(text: string, pattern: RegExp): string {
  return pattern.exec(text)?.[0] ?? '';
}

/** Returns every form in which a secret may be written. */
function spellingsOf(text: string): string[] {
  const base64 = Buffer.from(text).toString('base64').replaceAll('=', '');
  return [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1), base64];
}

function found(planted: Record<string, string>, outputs: readonly string[]): string[] {
  const all = outputs.join('\n');
  return Object.entries(planted).flatMap(([name, text]) => {
    const spelling = spellingsOf(text).find((candidate) => all.includes(candidate));
    if (spelling === undefined) return [];
    const at = all.indexOf(spelling);
    return [`${name}: ${all.slice(Math.max(0, at - 200), at + spelling.length + 80)}`];
  });
}

/** Makes the table refuse every row while `during` runs, with an error that repeats the row. */
async function whileRefusing(db: Database, table: string, during: () => Promise<void>): Promise<void> {
  await db.query(`ALTER TABLE beckon.${table} ADD CONSTRAINT planted CHECK (project_id < 0) NOT VALID`);
  try {
    await during();
  } finally {
    await db.query(`ALTER TABLE beckon.${table} DROP CONSTRAINT planted`);
  }
}

test("no output contains a secret or users' data, whatever succeeds or fails, and no answer contains a secret", async () => {
  const [relay, model, dns, hooks] = [
    await talkativeRelay(),
    await talkativeModel(),
    await startDnsServer(),
    await hookServer(),
  ];
  closers.push(
    () => dns.stop(),
    () => hooks.close(),
  );
  const { url, db, name: database } = await databaseWithPassword();
  const [port, mailPort] = [await freePort(), await freePort()];
  const pass = encodeURIComponent(SECRETS.smtpPassword);
  const server = superviseServer({
    DATABASE_URL: url,
    SECRET_KEY: SECRETS.secretKey,
    LOG_LEVEL: 'debug',
    PORT: String(port),
    MAIL_IN_PORT: String(mailPort),
    MAIL_DOMAIN,
    MAIL_FROM: 'beckon@acme.test',
    PUBLIC_URL,
    TRUST_PROXY: '127.0.0.1',
    SMTP_URL: `smtp://right:${pass}@127.0.0.1:${relay}?tls=optional`,
    DNS_SERVERS: dns.servers.join(','),
    AI_BASE_URL: model.url,
    AI_API_KEY: SECRETS.modelKey,
    AI_MODEL: 'canary',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    NODE_EXTRA_CA_CERTS: HOOK_CA_FILE,
  });
  closers.push(async () => {
    server.child.kill('SIGTERM');
    await server.ended;
  });
  await server.url;
  const untilLogged = (...events: string[]): Promise<unknown> =>
    within(
      server.line(({ event }) => events.includes(String(event))),
      20_000,
    );
  const responses: string[] = [];
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = {
      origin: PUBLIC_URL,
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '192.0.2.7',
      ...(init.headers as Record<string, string> | undefined),
    };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init, headers });
    responses.push(await response.clone().text());
    return response;
  };
  const post = (path: string, body: unknown, more: Record<string, string> = {}): Promise<Response> =>
    send(path, { method: 'POST', ...written(body, more) });
  const setUpUrl = firstMatch(server.output.join('\n'), /https:\S+token=(?:\S+)/);
  const setUpToken = firstMatch(setUpUrl, /(?<=token=)[^&]+/);

  // A sign-up, a failed sign-in, and a request for a new password.
  const dashboard = '/api/dashboard';
  const made = await post(`${dashboard}/setup`, {
    token: setUpToken,
    email: PEOPLE.owner,
    password: SECRETS.password,
    project: 'Acme',
  });
  expect(made.status).toBe(200);
  const session = firstMatch(made.headers.getSetCookie().join('\n'), /(?<==)[^;]+/);
  expect(session.length).toBeGreaterThan(20);
  const projects = await db.query<{ project_id: number }>(`SELECT project_id FROM beckon.project`);
  const projectId = Number(projects[0]?.project_id);
  expect(
    (await post(`${dashboard}/sign-in`, { email: PEOPLE.owner, password: SECRETS.wrongPassword })).status,
  ).toBe(422);
  expect(
    (await post(`${dashboard}/sign-in`, { email: PEOPLE.owner, password: SECRETS.password })).status,
  ).toBe(200);
  await post(`${dashboard}/forgot`, { email: PEOPLE.owner });
  await send(`${dashboard}/projects`, { headers: { cookie: `__Host-session=${SECRETS.cookie}` } });
  await send(`${dashboard}/projects`, { headers: { authorization: `Bearer ${SECRETS.wrongToken}` } });

  // A project with AI drafting whose endpoint repeats what it receives.
  const encrypter = createEncrypter(SECRETS.secretKey, null, 'secrets at rest');
  const pepper = deriveKey(SECRETS.secretKey, 'api-key pepper');
  const resolver = createResolver({ servers: dns.servers, timeoutMs: 2_000, tries: 2 });
  const mail = { mailDomain: MAIL_DOMAIN, spfInclude: null };
  const deps = { db, encrypter, resolver, mail, newId: idMaker(db.clock) };
  const { secret: apiKey } = await createKey({ db, pepper }, { projectId, label: 'server' });
  const domain = await addDomain(deps, { projectId, name: 'mail.acme.test', warm: true });
  for (const { type, name, value } of domain.records) dns.set(type, name, [value]);
  await checkDomain(deps, await requireDomain(db, { projectId, name: 'mail.acme.test' }));
  await setSettings(db, projectId, {
    autopilot: '24h',
    quiet_hours: 'off',
    frequency_cap: 'off',
    throttle: 'off',
    drafting: 'model',
    from_name: 'Acme',
    from_address: 'hello@mail.acme.test',
    postal_address: '1 Main Street',
  });
  const endpoint = await addEndpoint(
    { ...deps, rules: { allowPrivate: true } },
    { projectId, url: hooks.url('/all'), types: null, perSecond: 100, inFlightMax: 5 },
  );
  hooks.setReply(({ headers, body }) => ({
    status: 500,
    body: `${endpoint.secret} ${JSON.stringify(headers)} ${body}`,
  }));

  // Valid and invalid requests of a customer's server.
  const users = '/api/v1/users';
  const events = '/api/v1/events';
  const by = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
  const people = [
    { external_user_id: 'reader', email: PEOPLE.email },
    { external_user_id: 'refused', email: PEOPLE.refused },
  ].map((entry) => ({ ...entry, traits: { name: PEOPLE.name, company: PEOPLE.company } }));
  const [reader] = people;
  for (const person of people) expect((await post(users, person, by(apiKey))).status).toBe(202);
  expect((await post(users, reader, by(SECRETS.wrongKey))).status).toBe(401);
  expect((await post(`${users}?api_key=${SECRETS.wrongKey}&key=${apiKey}`, reader)).status).toBe(401);
  await post(users, { ...reader, api_key: SECRETS.wrongKey, traits: { key: apiKey } }, by(apiKey));
  await post(users, { external_user_id: 'x', email: `${PEOPLE.email} ${PEOPLE.name}` }, by(apiKey));
  await post(users, `{"external_user_id": "x", "traits": {"name": "${PEOPLE.name}" oops`, by(apiKey));
  await post(`${users}/${PEOPLE.email}/${SECRETS.wrongKey}`, reader, by(apiKey));
  await send(`/${SECRETS.wrongToken}?email=${PEOPLE.email}`);

  // Rows that the database refuses by repeating them: in ingest, in processing, of hits, and of webhooks.
  await whileRefusing(db, 'ingest_queue', async () => {
    expect((await post(users, reader, by(apiKey))).status).toBe(500);
  });
  await whileRefusing(db, 'person', async () => {
    await post(users, { ...reader, external_user_id: 'newcomer' }, by(apiKey));
    await untilLogged('record.dead_lettered', 'processing.failed');
  });
  for (const { external_user_id } of people)
    await post(events, { external_user_id, name: 'user_signed_up', properties: {} }, by(apiKey));
  const draftsOf = (): Promise<{ id: string }[]> =>
    db.query(`SELECT id FROM beckon.draft WHERE project_id = $1 AND state = 'scheduled'`, [projectId]);
  await expect.poll(async () => (await draftsOf()).length, { timeout: 15_000 }).toBe(2);
  await untilLogged('ai_draft.failed');
  expect(model.requestCount()).toBeGreaterThan(0);

  // The relay accepts one email, and refuses the other by repeating its recipient; both are reported.
  const scheduled = async (): Promise<string[]> =>
    (
      await db.query<{ id: string }>(
        `SELECT id FROM beckon.draft WHERE project_id = $1 AND state = 'scheduled'`,
        [projectId],
      )
    ).map(({ id }) => id);
  await letFallDue(db, projectId, await scheduled());
  const messages = (): Promise<{ id: string; state: string }[]> =>
    db.query(`SELECT id, state FROM beckon.email WHERE project_id = $1 ORDER BY state`, [projectId]);
  await expect
    .poll(async () => (await messages()).map(({ state }) => state), { timeout: 20_000 })
    .toEqual(['failed', 'sent']);
  await expect.poll(() => hooks.received.length, { timeout: 10_000 }).toBeGreaterThan(0);

  // The actions of its reader, and the attempts of a forger, with a database that refuses to store them.
  const emailId = (await messages()).find(({ state }) => state === 'sent')?.id ?? '';
  const keys = [deriveKey(SECRETS.secretKey, 'email tokens')] as const;
  const choices = emailToken({ projectId, emailId }, 'unsubscribe', keys);
  const opened = emailToken({ projectId, emailId }, 'open', keys);
  await whileRefusing(db, 'topic_unsubscribe', async () => {
    await whileRefusing(db, 'suppression', async () => {
      const response = await send(`/u/${choices}`, {
        method: 'POST',
        body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
      });
      expect(response.status).toBe(503);
    });
  });
  await send(`/u/${choices}`);
  await send(`/u/${SECRETS.wrongToken}`);
  await send(`/o/${opened}`);
  await send(`/c/${SECRETS.wrongToken}/1`);

  // Inbound mail, for an unknown and for a known recipient.
  const talk = await openTalk(mailPort);
  for (const line of [
    'EHLO canary.test',
    `MAIL FROM:<${PEOPLE.email}>`,
    `RCPT TO:<reply+${SECRETS.wrongToken}@${MAIL_DOMAIN}>`,
    `RCPT TO:<${PEOPLE.owner}>`,
  ])
    await talk.say(line);
  await talk.say('QUIT');

  // The database becomes unavailable in the middle of all work.
  const admin = new pg.Client(inject('adminUrl'));
  await admin.connect();
  await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [database]);
  await admin.end();
  await post(users, reader, by(apiKey));
  await post(`${dashboard}/sign-in`, { email: PEOPLE.owner, password: SECRETS.password });
  server.child.kill('SIGTERM');
  await server.ended;

  const logged = new Set(server.lines.map(({ event }) => event));
  for (const event of [
    'request.failed',
    'request.rejected',
    'ai_draft.failed',
    'email.submitted',
    'records.accepted',
  ])
    expect([...logged]).toContain(event);
  const listed = new Set<string>(['level', 'time', 'event', ...LOG_FIELDS]);
  expect(server.lines.flatMap((line) => Object.keys(line).filter((field) => !listed.has(field)))).toEqual([]);
  const secrets = {
    ...SECRETS,
    apiKey,
    endpoint: endpoint.secret,
    session: decodeURIComponent(session),
    choices,
    opened,
  };
  // The set-up link is printed for the operator who starts the server, and never logged.
  const printed = server.output.filter((line) => line.startsWith('{') || !line.includes(setUpUrl));
  expect(found({ ...secrets, ...PEOPLE, setUpToken }, printed)).toEqual([]);
  const { wrongToken: _, ...neverAnswered } = secrets;
  expect(
    found(
      neverAnswered,
      responses.filter((text) => !text.includes('<html')),
    ),
  ).toEqual([]);
}, 120_000);

test.each([
  ['a database that is not there', (url: string) => ({ DATABASE_URL: url.replace(/:\d+\//, ':1/') })],
  [
    'a password that the database does not know',
    (url: string) => ({ DATABASE_URL: url.replace('canary_', 'unknown_') }),
  ],
  [
    'an address that is none',
    (url: string) => ({ DATABASE_URL: `${url} ${SECRETS.dbPassword}`.replace('postgres:', 'mysql:') }),
  ],
  [
    'a relay that is none',
    (url: string) => ({
      DATABASE_URL: url,
      SMTP_URL: `http://x:${encodeURIComponent(SECRETS.smtpPassword)}@y z`,
    }),
  ],
])(
  'a server that cannot start reports the reason without a secret: %s',
  async (_why, envOf) => {
    const { url } = await databaseWithPassword();
    const server = superviseServer({
      SECRET_KEY: SECRETS.secretKey,
      LOG_LEVEL: 'debug',
      AI_BASE_URL: 'http://127.0.0.1:1/v1',
      AI_API_KEY: SECRETS.modelKey,
      AI_MODEL: 'canary',
      ...envOf(url),
    });
    expect(await server.ended).not.toBe(0);
    expect(server.output.join('')).not.toBe('');
    expect(found(SECRETS, server.output)).toEqual([]);
  },
  60_000,
);
