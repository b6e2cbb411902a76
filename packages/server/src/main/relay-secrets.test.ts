import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Relay } from '@beckon/contract/dashboard';
import Fastify from 'fastify';
import { SMTPServer } from 'smtp-server';
import { afterAll, expect, test } from 'vitest';
import { everything } from '../../testing/factories/inbound-email.ts';
import { jobRun } from '../../testing/factories/job-run.ts';
import { goodEmail } from '../../testing/factories/outgoing-email.ts';
import { testMail, TOKEN_KEYS } from '../../testing/factories/send-services.ts';
import { testDashboard } from '../../testing/servers/dashboard.ts';
import { endpointServer } from '../../testing/servers/endpoint-server.ts';
import { startImapServer } from '../../testing/servers/imap-server.ts';
import { serverCommand } from '../../testing/servers/server-command.ts';
import { createProject } from '../modules/administration/create-project.ts';
import { relayOpener } from '../modules/delivery/open-relay.ts';
import { mountRelayHooks } from '../modules/inbound/feedback/hook-routes.ts';
import { feedbackPuller } from '../modules/inbound/feedback/pull-feedback.ts';
import { createMailReader } from '../modules/inbound/mail/reader.ts';
import { mountReplyHooks } from '../modules/inbound/reply-sources/hook-routes.ts';
import { readDueMailboxes } from '../modules/inbound/reply-sources/read-due-mailboxes.ts';
import { findEncryptedSource } from '../modules/inbound/reply-sources/reads.ts';
import { decryptSource } from '../modules/inbound/reply-sources/secrets.ts';
import { secretKinds } from '../modules/operations/re-encrypt-secrets.ts';
import { readRelaySettings } from '../modules/sending/relays/read-settings.ts';
import { createFairQueue } from '../platform/async/fair-queue.ts';
import { createEncrypter } from '../platform/crypto/encrypt.ts';
import { createAddressGuard } from '../platform/http/address-guard.ts';
import { idMaker } from '../platform/ids.ts';
import { createLog } from '../platform/log.ts';
import { createOutbound } from '../platform/outbound/outbound.ts';
import type { RelayField } from '../platform/relays/adapter.ts';
import { RELAY_ADAPTERS } from '../platform/relays/adapters.ts';
import { relayKinds } from '../platform/relays/kinds.ts';
import { checkRelayFeedback } from './commands/check-relay-feedback.ts';

/**
 * Sets recognizable secrets in a relay of each kind and in a reply source. All servers repeat what they received, whether they accept or
 * refuse. The test then searches the log, every answer, the whole database and the support bundle.
 */
const kinds = relayKinds(Object.values(RELAY_ADAPTERS));
const { db } = await endpointServer();
const { encrypter } = testMail();
const folder = mkdtempSync(join(tmpdir(), 'beckon-secrets-'));
const logFile = join(folder, 'log');
// The log takes any file descriptor.
const log = createLog('debug', openSync(logFile, 'a') as 1);
const outbound = createOutbound({ allowPrivate: true, totalMs: 2_000 });
const resolveHostOf = () => () => Promise.resolve('127.0.0.1');
const dashboard = testDashboard(db, { relayKinds: kinds, encrypter, log, resolveHostOf });
const reader = createMailReader();
const app = Fastify();
const closers: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
  await Promise.all([dashboard.close(), app.close(), reader.close()]);
  outbound.close();
  rmSync(folder, { recursive: true });
});

const common = {
  db,
  log,
  encrypter,
  kinds,
  relayKinds: kinds,
  outbound,
  resolveHostOf,
  tokenKeys: TOKEN_KEYS,
  newId: idMaker(db.clock),
  projectQueue: createFairQueue({ atOncePerKey: 1 }),
  transport: { trustProxy: false, tls: false, publicUrl: 'http://127.0.0.1' } as never,
  guard: createAddressGuard(db.clock),
  mailDomain: null,
  lookUp: testMail().lookUp,
  read: reader.read,
};

/** A provider that repeats all headers and the body of each request. */
async function talkativeProvider(): Promise<{ url: string; state: { status: number } }> {
  const state = { status: 401 };
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const said = `${JSON.stringify(request.headers)} ${request.url} ${body.toString()}`;
      const json = { Message: said, message: said, error: said, ErrorCode: 10, errors: [{ message: said }] };
      response.writeHead(state.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...json, id: 'm1', MessageID: 'm1', MessageId: 'm1' }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, state };
}

/** An SMTP server that repeats the password. */
async function talkativeRelay(): Promise<number> {
  const server = new SMTPServer({
    secure: false,
    hideSTARTTLS: false,
    onAuth({ username, password }, _session, callback) {
      callback(new Error(`535 5.7.8 No user ${username} with the password ${password}`));
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  closers.push(() => server.close(() => {}));
  return (server.server.address() as AddressInfo).port;
}

/** It contains the secret that the provider sends, because an admin enters it there. No other answer contains it. */
const WEBHOOK_ADDRESS = /"url":"[^"]*\/hooks\/relays\/[^"]*"/g;

const isNeeded = ({ isSecret, isOptional, values }: RelayField): boolean =>
  isSecret || (isOptional !== true && values === undefined);

/** Values of a form: a recognizable text for each secret. */
function valuesOf(kind: string, fields: readonly RelayField[], url: string): Record<string, string> {
  const entries = fields.filter(isNeeded).map(({ name, isSecret }): [string, string] => {
    if (name.endsWith('_url')) return [name, url];
    if (name === 'region') return [name, 'eu-central-1'];
    return [name, isSecret ? `canary-${kind}-${name}-0123456789` : `${kind}.acme.test`];
  });
  const urls = fields.filter(({ name }) => name === 'api_url' || name === 'server_url');
  return Object.fromEntries([...entries, ...urls.map(({ name }): [string, string] => [name, url])]);
}

function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(4, -4),
  );
  return [secret, encodeURIComponent(secret), bytes.toString('hex'), ...shifted];
}

const found = (secrets: string[], text: string): string[] =>
  secrets.filter((secret) => spellings(secret).some((spelling) => text.includes(spelling)));

type World = {
  projectId: number;
  at: string;
  provider: Awaited<ReturnType<typeof talkativeProvider>>;
  answers: string[];
  secrets: string[];
  ask: <T>(what: string, body?: unknown) => Promise<{ status: number; data: T }>;
};

async function newWorld(): Promise<World> {
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  const answers: string[] = [];
  return {
    projectId,
    at: `/projects/${projectId}`,
    provider: await talkativeProvider(),
    answers,
    secrets: [],
    async ask<T>(what: string, body?: unknown) {
      const reply = await dashboard.request<T>(what, body === undefined ? {} : { body });
      answers.push(reply.text.replaceAll(WEBHOOK_ADDRESS, ''));
      return { status: reply.status, data: reply.json.data };
    },
  };
}

/** Adds a relay of each kind, and an SMTP relay with the feedback of a provider. Returns them. */
async function addRelays({ projectId, at, provider, secrets, ask }: World): Promise<Relay[]> {
  const smtp = {
    host: 'smtp.acme.test',
    port: String(await talkativeRelay()),
    username: 'acme',
    password: 'canary-smtp-password-0123456789',
  };
  const atPostmark = {
    ...smtp,
    host: 'smtp.postmarkapp.com',
    server_token: 'canary-smtp-server-token-0123456789',
    api_url: provider.url,
  };
  const wanted = kinds.list.map(({ kind, fields }) => ({
    kind,
    name: kind as string,
    settings: kind === 'smtp' ? smtp : valuesOf(kind, fields, provider.url),
  }));
  const relays: Relay[] = [];
  for (const body of [...wanted, { kind: 'smtp', name: 'smtp at Postmark', settings: atPostmark }]) {
    const { status, data } = await ask<Relay>(`POST ${at}/relays`, body);
    expect([body.name, status]).toEqual([body.name, 200]);
    relays.push(data);
    const fields = kinds.of(body.kind, body.settings)?.fields ?? [];
    const stored = await readRelaySettings(common, { projectId, id: data.id });
    const names = ['hook_secret', ...fields.flatMap(({ name, isSecret }) => (isSecret ? [name] : []))];
    secrets.push(...names.flatMap((name) => stored?.[name] ?? []));
  }
  return relays;
}

const basic = (secret = ''): string => `Basic ${Buffer.from(`beckon:${secret}`).toString('base64')}`;

/** Uses a relay in every way. Returns the result of the email. */
async function useInEveryWay({ projectId, at, answers, ask }: World, { id, kind }: Relay): Promise<string> {
  for (const path of ['test', 'feedback/webhook', 'suppressions'])
    await ask(`POST ${at}/relays/${id}/${path}`);
  await ask(`PUT ${at}/relay-use`, { relay: id });
  await feedbackPuller(common)(jobRun());
  const relay = { projectId, id, kind: kind as 'smtp', generation: 1, connections: null };
  const transport = relayOpener(common)(relay);
  const result = await transport.submit({
    projectId,
    draftId: id,
    emailId: id,
    userId: 'ada',
    address: 'ada@home.test',
    content: { subject: '', body: '', facts: {} } as never,
    mailFrom: 'hello@acme.test',
    rcptTo: 'ada@home.test',
    mime: await goodEmail({ date: new Date(db.clock.now()) }),
  });
  answers.push(JSON.stringify(result));
  await transport.close?.();
  const stored = await readRelaySettings(common, { projectId, id });
  for (const authorization of [basic('wrong'), basic(stored?.['hook_secret'])]) {
    const hook = { method: 'POST', url: `/hooks/relays/${id}`, payload: '{"secret":1}' } as const;
    answers.push((await app.inject({ ...hook, headers: { authorization } })).body);
  }
  return result.result;
}

/** Sets up a mailbox whose server repeats the password. */
async function useReplySource({ projectId, at, answers, secrets, ask }: World): Promise<void> {
  const imap = await startImapServer({ encryption: 'tls' });
  closers.push(() => imap.close());
  const ca = readFileSync(new URL('../../testing/servers/tls/names.crt', import.meta.url), 'utf8');
  const password = 'canary-imap-password-0123456789';
  const settings = { host: 'imap.acme.test', port: String(imap.port), username: 'acme', password };
  expect((await ask(`PUT ${at}/reply-source`, { kind: 'imap', settings })).status).toBe(200);
  await ask(`POST ${at}/reply-source/test`);
  await readDueMailboxes({ ...common, ca }, jobRun());
  const found = await findEncryptedSource(db, projectId);
  if (!found) throw new Error('there is no source');
  expect(found.source.failing?.message).toMatch(/\[password\]/);
  const hookSecret = decryptSource(encrypter, found)['hook_secret'] ?? expect.unreachable();
  secrets.push(password, hookSecret);
  const push = { method: 'POST', url: `/hooks/replies/${found.source.id}`, payload: 'x' } as const;
  answers.push((await app.inject({ ...push, headers: { authorization: basic(hookSecret) } })).body);
}

test('no secret of a relay or a reply source is in a log, answer, audit entry, table or support bundle', async () => {
  mountRelayHooks(app, common);
  mountReplyHooks(app, common);
  await app.ready();
  const world = await newWorld();
  const { at, answers, secrets, provider } = world;
  const relays = await addRelays(world);
  expect(secrets.length).toBeGreaterThan(2 * relays.length);
  const results = new Set<string>();
  for (const status of [401, 200, 500]) {
    provider.state.status = status;
    for (const relay of relays) results.add(await useInEveryWay(world, relay));
  }
  // The sends failed, were accepted, and remained unknown.
  expect(results).toEqual(new Set(['deferred', 'sent', 'unknown']));
  await useReplySource(world);

  for (const path of ['relays', 'relay-setup', 'audit', 'audit.csv', 'sending', 'reply-source'])
    answers.push((await dashboard.request(`GET ${at}/${path}`)).text);
  answers.push((await serverCommand({ db }, ['support-bundle', '--project', 'Acme', '--json'])).out);
  answers.push(JSON.stringify(await checkRelayFeedback({ db }, { relay: null })));
  const rows = [...(await everything(db)).values()].flat().join('\n');
  const logged = readFileSync(logFile, 'utf8');
  expect(logged).toContain('relay_feedback.not_pulled');
  expect(logged).toContain('reply_source.not_read');
  expect(rows).toContain('relay.create');
  expect(found(secrets, answers.join('\n'))).toEqual([]);
  expect(found(secrets, logged)).toEqual([]);
  expect(found(secrets, rows)).toEqual([]);
}, 120_000);

test('secrets of relays and reply sources survive a change of the secret key', async () => {
  const { id: projectId } = await createProject(db, { name: 'Other' });
  const settings = { server_token: 'canary-token-0123456789' };
  const added = await dashboard.request<Relay>(`POST /projects/${projectId}/relays`, {
    body: { kind: 'postmark', name: 'Main', settings },
  });
  const relay = { projectId, id: added.json.data.id };
  await dashboard.request(`PUT /projects/${projectId}/reply-source`, {
    body: { kind: 'imap', settings: { host: 'a.test', username: 'a', password: 'canary-imap' } },
  });
  const old = 'a secret of this test alone';
  const changing = createEncrypter('the next secret key', old, 'test');
  const functions = secretKinds({ db, log, encrypter: changing, teamSecrets: [old] });
  expect(await functions.get('relay_secrets')?.()).toBeGreaterThan(0);
  expect(await functions.get('reply_sources')?.()).toBeGreaterThan(0);
  const after = createEncrypter('the next secret key', null, 'test');
  expect(await readRelaySettings({ db, encrypter: after }, relay)).toMatchObject(settings);
  const source = await findEncryptedSource(db, projectId);
  expect(source && decryptSource(after, source)['password']).toBe('canary-imap');
  expect(await functions.get('reply_sources')?.()).toBe(0);
});
