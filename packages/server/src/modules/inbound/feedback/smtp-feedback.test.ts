import Fastify, { type FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import {
  type MailScenario,
  newVerifiedScenario,
  openMailStage,
} from '../../../../testing/factories/mail-stage.ts';
import { relayOutbound } from '../../../../testing/factories/relay-context.ts';
import { relayDeps, testRelayOpener } from '../../../../testing/factories/relays.ts';
import { TOKEN_KEYS } from '../../../../testing/factories/send-services.ts';
import { type FakeRelay, startFakeRelay } from '../../../../testing/servers/relays/fake-relay.ts';
import { type FakeEmail, type FakeEvent, headersOf } from '../../../../testing/servers/relays/provider.ts';
import { createFairQueue } from '../../../platform/async/fair-queue.ts';
import { createAddressGuard } from '../../../platform/http/address-guard.ts';
import { silentLog } from '../../../platform/log.ts';
import { openRelay } from '../../../platform/mail/relay.ts';
import { RELAY_ADAPTERS } from '../../../platform/relays/adapters.ts';
import { relayKinds } from '../../../platform/relays/kinds.ts';
import { smtpUrlMarker } from '../../delivery/mark-email.ts';
import { relayTransport } from '../../delivery/relay-transport.ts';
import type { SendServices } from '../../delivery/send-services.ts';
import { classifyReply } from '../../outcomes/bounces/classify-reply.ts';
import { createSigners } from '../../sending/domains/signers.ts';
import { addRelay, changeRelay, removeRelay, useRelay } from '../../sending/relays/change-relay.ts';
import { findRelay, findSmtpUrlRelay } from '../../sending/relays/reads.ts';
import { readRelaySettings } from '../../sending/relays/read-settings.ts';
import { INSTALLATION, type RelayId } from '../../sending/relays/relay.ts';
import { mountRelayHooks } from './hook-routes.ts';
import { proveFeedback } from './prove-feedback.ts';
import { feedbackPuller } from './pull-feedback.ts';

const stage = await openMailStage({ openRelays: testRelayOpener });
const { db } = stage.server;
const outbound = relayOutbound({ totalMs: 1_000 });
const kinds = relayKinds(Object.values(RELAY_ADAPTERS), 'smtp://user:secret@smtp.postmarkapp.com:587');
const deps = {
  ...relayDeps(db),
  kinds,
  tokenKeys: TOKEN_KEYS,
  log: silentLog,
  outbound,
  projectQueue: createFairQueue({ atOncePerKey: 1 }),
  transport: { trustProxy: false, tls: false, publicUrl: 'http://127.0.0.1' } as never,
  guard: createAddressGuard(db.clock),
};
const smtpUrl = openRelay({
  url: `smtp://127.0.0.1:${stage.sink.port}`,
  log: silentLog,
  classify: classifyReply,
});

let app: FastifyInstance;
let fake: FakeRelay;
beforeAll(async () => {
  app = Fastify();
  mountRelayHooks(app, deps);
  await app.ready();
  fake = await startFakeRelay('postmark');
});
afterAll(async () => {
  await app.close();
  outbound.close();
  await fake.close();
  await smtpUrl.close();
});

let scenario: MailScenario;
beforeEach(async () => {
  scenario = await newVerifiedScenario(stage);
});

/** An SMTP relay at the host of Postmark, which is used by the project. */
async function addSmtp(settings: Record<string, string> = {}): Promise<RelayId> {
  const { projectId } = scenario;
  const address = { host: 'smtp.postmarkapp.com', port: String(stage.sink.port), encryption: 'none' };
  const name = randomUUID();
  const relay = await addRelay(deps, {
    projectId,
    kind: 'smtp',
    name,
    settings: { ...address, ...settings },
  });
  await useRelay(deps, { projectId, domain: '', relay });
  return relay;
}

/** Sends an email to a user, and returns it as the provider reads it. */
async function sendTo(userId: string): Promise<FakeEmail> {
  const to = `${userId}@home.test`;
  await scenario.user(userId, { email: to });
  await scenario.event(userId, 'user_signed_up');
  await scenario.later(2 * HOUR);
  return receivedBy(to);
}

function receivedBy(to: string): FakeEmail {
  const { raw = '' } = stage.sink.emails.findLast((email) => email.to.includes(to)) ?? {};
  const read = fake.provider.readSmtp?.(headersOf(raw));
  if (!read) throw new Error('the provider reads no email by SMTP');
  return { id: randomUUID(), to, key: null, content: raw, ...read };
}

async function post(relay: RelayId, email: FakeEmail, kind: FakeEvent['kind'] = 'bounced'): Promise<number> {
  const at = db.clock.now();
  const { body } = fake.provider.hook(
    { id: randomUUID(), kind, email, text: '550 5.1.1 No such user', at },
    at,
  );
  const secret = (await readRelaySettings(deps, relay))?.['hook_secret'] ?? '';
  const authorization = `Basic ${Buffer.from(`beckon:${secret}`).toString('base64')}`;
  const url = `/hooks/relays/${relay.id}`;
  const response = await app.inject({ method: 'POST', url, headers: { authorization }, payload: body });
  return response.statusCode;
}

const outcomesOf = (userId: string): Promise<Record<string, unknown>[]> =>
  db.query(`SELECT type, detail FROM beckon.outcome WHERE project_id = $1 AND external_user_id = $2`, [
    scenario.projectId,
    userId,
  ]);
const provenAt = async (relay: RelayId) => (await findRelay(db, relay))?.feedbackProvenAt ?? null;

function prove(relay: RelayId) {
  const sendServices = {
    outlet: { kind: 'relay', publicUrl: 'https://beckon.acme.test', mailDomain: 'in.beckon.test' },
    signers: createSigners(stage.deps.encrypter, stage.deps.mail),
  } as unknown as SendServices;
  const proofDeps = {
    ...deps,
    sendServices,
    openOutbound: () => relayOutbound(),
    openRelay: () => Promise.resolve(smtpUrl),
    openRelayTransport: testRelayOpener(db),
  };
  return findRelay(db, relay).then((found) => {
    if (!found) throw new Error('no relay');
    return proveFeedback(proofDeps, { projectId: scenario.projectId, relay: found, address: null });
  });
}

describe('an SMTP relay at the host of a provider', () => {
  test('sends the token in a header outside of the signature, and records a bounce once', async () => {
    const relay = await addSmtp();
    const email = await sendTo('ada');
    expect(email.content).toMatch(/^X-PM-Metadata-beckon: [a-z2-7]+\.[a-z2-7]+\r\n/);
    expect(/^DKIM-Signature:.*?(?=^[^\s])/ims.exec(email.content)?.[0]).not.toMatch(/x-pm-/i);
    for (let time = 0; time < 2; time += 1) expect(await post(relay, email)).toBe(200);
    expect(await outcomesOf('ada')).toMatchObject([
      { type: 'email.bounced', detail: { bounce_class: 'hard', source: 'relay' } },
    ]);
    expect(await provenAt(relay)).not.toBeNull();
  });

  test('changes nothing for an email of another relay', async () => {
    await addSmtp();
    const email = await sendTo('bob');
    const other = await addSmtp();
    expect(await post(other, email)).toBe(200);
    expect(await outcomesOf('bob')).toEqual([]);
    expect(await provenAt(other)).toBeNull();
  });

  test('is proven by an email that is sent by SMTP', async () => {
    const relay = await addSmtp();
    const { to } = await prove(relay);
    const email = receivedBy(to);
    expect(await post(relay, email, 'delivered')).toBe(200);
    expect(await provenAt(relay)).toBeNull();
    expect(await post(relay, email)).toBe(200);
    expect(await provenAt(relay)).not.toBeNull();
  });

  test('reads events by the API as soon as it has its key', async () => {
    const relay = await addSmtp();
    const pull = feedbackPuller({ ...deps, relayKinds: kinds, restoreGuard: 'manual' });
    const run = { name: 'pull_relay_feedback', stopping: new AbortController().signal };
    await pull(run);
    expect((await findRelay(db, relay))?.feedbackCursor).toBeNull();
    const { hook_secret: _, ...api } = fake.settings;
    await changeRelay(deps, relay, { settings: api });
    await pull(run);
    const email = await sendTo('cid');
    fake.events.push({ id: 'p1', kind: 'bounced', email, text: '550 5.1.1 unknown', at: db.clock.now() });
    await pull(run);
    expect(await outcomesOf('cid')).toHaveLength(1);
  });

  test('drops the settings of a provider when its host changes', async () => {
    const relay = await addSmtp({ server_token: 'a-token-of-postmark' });
    await changeRelay(deps, relay, { settings: { host: 'smtp.acme.test' } });
    expect(Object.keys((await readRelaySettings(deps, relay)) ?? {}).toSorted()).toEqual([
      'encryption',
      'hook_secret',
      'host',
      'port',
    ]);
  });
});

describe('feedback of SMTP_URL', () => {
  const settings = { provider: 'postmark' };
  const input = { projectId: INSTALLATION, kind: 'smtp_url', name: 'SMTP_URL', settings };
  let relay: RelayId;

  /** A worker that was started now. */
  function restartWorker(): void {
    const mark = smtpUrlMarker({ db, kinds, tokenKeys: TOKEN_KEYS });
    const transport = relayTransport({ relay: smtpUrl, mark, now: () => db.clock.now() });
    stage.engine.transport.setResult((email) => transport.submit(email));
  }

  test('adds nothing to emails before it is set up', async () => {
    restartWorker();
    await expect(sendTo('dan')).rejects.toThrow('0 fields X-PM-Metadata-beckon');
  });

  test('records a bounce of an email that SMTP_URL sent', async () => {
    relay = await addRelay(deps, input);
    restartWorker();
    const email = await sendTo('eve');
    expect(await post(relay, email)).toBe(200);
    expect(await outcomesOf('eve')).toMatchObject([{ type: 'email.bounced', detail: { source: 'relay' } }]);
    expect(await provenAt(relay)).not.toBeNull();
  });

  test('changes nothing for an email that another relay sent', async () => {
    await addSmtp();
    const email = await sendTo('fay');
    expect(await post(relay, email)).toBe(200);
    expect(await outcomesOf('fay')).toEqual([]);
  });

  test('is proven by an email through SMTP_URL', async () => {
    await removeRelay(deps, relay, 'SMTP_URL');
    relay = await addRelay(deps, input);
    const { to } = await prove(relay);
    expect(await post(relay, receivedBy(to))).toBe(200);
    expect(await provenAt(relay)).not.toBeNull();
  });

  test('exists once, belongs to the installation, and is assigned to nothing', async () => {
    await expect(addRelay(deps, { ...input, name: 'Another' })).rejects.toMatchObject({ code: 'conflict' });
    const { projectId } = scenario;
    await expect(addRelay(deps, { ...input, projectId })).rejects.toMatchObject({
      code: 'validation_failed',
    });
    await expect(useRelay(deps, { projectId, domain: '', relay })).rejects.toMatchObject({
      code: 'validation_failed',
    });
    expect((await findSmtpUrlRelay(db))?.id).toBe(relay.id);
  });
});
