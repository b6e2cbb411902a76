import Fastify, { type FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { emailToken } from '../../../platform/crypto/email-token.ts';
import { createFairQueue } from '../../../platform/async/fair-queue.ts';
import { createAddressGuard } from '../../../platform/http/address-guard.ts';
import { idMaker } from '../../../platform/ids.ts';
import { silentLog } from '../../../platform/log.ts';
import { relayOutbound } from '../../../../testing/factories/relay-context.ts';
import { relayDeps, testRelayOpener } from '../../../../testing/factories/relays.ts';
import { TOKEN_KEYS } from '../../../../testing/factories/send-services.ts';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import {
  type MailScenario,
  newVerifiedScenario,
  openMailStage,
} from '../../../../testing/factories/mail-stage.ts';
import {
  type FakeMode,
  type FakeRelay,
  startFakeRelay,
} from '../../../../testing/servers/relays/fake-relay.ts';
import type { FakeEvent, FakeHook } from '../../../../testing/servers/relays/provider.ts';
import { addRelay, useRelay } from '../../sending/relays/change-relay.ts';
import { encryptSecrets } from '../../sending/relays/secrets.ts';
import { findRelay } from '../../sending/relays/reads.ts';
import { INSTALLATION, type RelayId } from '../../sending/relays/relay.ts';
import { createSigners } from '../../sending/domains/signers.ts';
import type { SendServices } from '../../delivery/send-services.ts';
import { closeGate } from '../../operations/restore/confirm-restore.ts';
import { mountRelayHooks } from './hook-routes.ts';
import { proveFeedback } from './prove-feedback.ts';
import { deleteOldRelayEvents, feedbackPuller } from './pull-feedback.ts';

const stage = await openMailStage({ openRelays: testRelayOpener });
const { db } = stage.server;
const outbound = relayOutbound({ totalMs: 1_000 });
const deps = {
  ...relayDeps(db),
  newId: idMaker(db.clock),
  tokenKeys: TOKEN_KEYS,
  log: silentLog,
  outbound,
  projectQueue: createFairQueue({ atOncePerKey: 1 }),
  transport: { trustProxy: false, tls: false, publicUrl: 'http://127.0.0.1' } as never,
  guard: createAddressGuard(db.clock),
};

let app: FastifyInstance;
beforeAll(async () => {
  app = Fastify();
  mountRelayHooks(app, deps);
  await app.ready();
});
const fakes: FakeRelay[] = [];
afterAll(async () => {
  await app.close();
  outbound.close();
  for (const fake of fakes) await fake.close();
});

type Relayed = { scenario: MailScenario; fake: FakeRelay; relay: RelayId };

async function relayed(kind: 'postmark' | 'resend' | 'mailgun', owner?: number): Promise<Relayed> {
  const scenario = await newVerifiedScenario(stage);
  const fake = await startFakeRelay(kind);
  fakes.push(fake);
  const { hook_secret: hookSecret, ...settings } = fake.settings;
  const projectId = owner ?? scenario.projectId;
  const relay = await addRelay(deps, { projectId, kind, name: randomUUID(), settings });
  if (hookSecret !== undefined) await replaceHookSecret(relay, { ...settings, hook_secret: hookSecret });
  await useRelay(deps, { projectId: scenario.projectId, domain: '', relay });
  return { scenario, fake, relay };
}

/** Replaces the generated secret by the one that the fake uses. */
async function replaceHookSecret(relay: RelayId, settings: Record<string, string>): Promise<void> {
  const { api_url: _, ...secrets } = settings;
  await db.query(`UPDATE beckon.relay SET encrypted_secrets = $3 WHERE project_id = $1 AND id = $2`, [
    relay.projectId,
    relay.id,
    encryptSecrets(deps.encrypter, secrets, relay),
  ]);
}

async function sendTo(
  { scenario, fake }: Relayed,
  userId: string,
  ...modes: FakeMode[]
): Promise<FakeEvent['email']> {
  fake.modes.push(...modes);
  await scenario.user(userId, { email: `${userId}@home.test` });
  await scenario.event(userId, 'user_signed_up');
  await scenario.later(2 * HOUR);
  const email = fake.emails.find(({ to }) => to === `${userId}@home.test`);
  if (!email) throw new Error('nothing was sent');
  return email;
}

function hookOf({ fake }: Relayed, event: Partial<FakeEvent> & Pick<FakeEvent, 'email'>): FakeHook {
  const now = db.clock.now();
  const complete = {
    id: randomUUID(),
    kind: 'bounced',
    text: '550 5.1.1 No such user',
    at: now,
    ...event,
  } as const;
  return fake.provider.hook(complete, now);
}

async function post(id: string, { headers, body }: FakeHook): Promise<number> {
  const response = await app.inject({ method: 'POST', url: `/hooks/relays/${id}`, headers, payload: body });
  return response.statusCode;
}

const outcomesOf = ({ scenario }: Relayed, userId: string): Promise<Record<string, unknown>[]> =>
  db.query(
    `SELECT type, class, detail FROM beckon.outcome WHERE project_id = $1 AND external_user_id = $2 ORDER BY id`,
    [scenario.projectId, userId],
  );

const suppressedIn = async ({ scenario }: Relayed, value: string): Promise<string[]> =>
  (
    await db.query<{ reason: string }>(
      `SELECT reason FROM beckon.suppression WHERE project_id = $1 AND value = $2`,
      [scenario.projectId, value],
    )
  ).map(({ reason }) => reason);

const provenAt = async ({ relay }: Relayed): Promise<number | null> =>
  (await findRelay(db, relay))?.feedbackProvenAt ?? null;

describe('webhook of a relay', () => {
  test('records a bounce once, and suppresses its address', async () => {
    const stream = await relayed('postmark');
    const email = await sendTo(stream, 'ada');
    const hook = hookOf(stream, { email });
    expect(await provenAt(stream)).toBeNull();
    for (let time = 0; time < 3; time += 1) expect(await post(stream.relay.id, hook)).toBe(200);
    expect(await outcomesOf(stream, 'ada')).toMatchObject([
      { type: 'email.bounced', detail: { bounce_class: 'hard', status: '5.1.1', source: 'relay' } },
    ]);
    expect(await suppressedIn(stream, 'ada@home.test')).toEqual(['hard_bounce']);
    expect(await provenAt(stream)).not.toBeNull();
  });

  test('suppresses the address and the user of a complaint', async () => {
    const stream = await relayed('resend');
    const email = await sendTo(stream, 'bob');
    expect(await post(stream.relay.id, hookOf(stream, { email, kind: 'complained' }))).toBe(200);
    expect(await suppressedIn(stream, 'bob@home.test')).toEqual(['complained']);
    expect(await suppressedIn(stream, 'bob')).toEqual(['complained']);
  });

  test('changes nothing for a replay after the suppression was lifted', async () => {
    const stream = await relayed('resend');
    const email = await sendTo(stream, 'cid');
    const hook = hookOf(stream, { email, kind: 'complained' });
    await post(stream.relay.id, hook);
    await db.query(`DELETE FROM beckon.suppression WHERE project_id = $1`, [stream.scenario.projectId]);
    expect(await post(stream.relay.id, hook)).toBe(200);
    expect(await suppressedIn(stream, 'cid@home.test')).toEqual([]);
  });

  test('applies events in any order', async () => {
    const stream = await relayed('resend');
    const email = await sendTo(stream, 'dora');
    for (const kind of ['bounced', 'deferred', 'delivered'] as const)
      expect(await post(stream.relay.id, hookOf(stream, { email, kind }))).toBe(200);
    expect(await outcomesOf(stream, 'dora')).toHaveLength(1);
  });

  test('applies an event once that arrives ten times at once, and asks a provider that sends too many to wait', async () => {
    const stream = await relayed('postmark');
    const email = await sendTo(stream, 'zoe');
    const hook = hookOf(stream, { email });
    const postTimes = (times: number) =>
      Promise.all(Array.from({ length: times }, () => post(stream.relay.id, hook)));
    expect(await postTimes(10)).toEqual(Array.from({ length: 10 }, () => 200));
    expect(await outcomesOf(stream, 'zoe')).toHaveLength(1);
    const statuses = new Set(await postTimes(80));
    expect(statuses).toEqual(new Set([200, 429]));
  });

  test('ignores opens, which Beckon counts itself', async () => {
    const stream = await relayed('postmark');
    const email = await sendTo(stream, 'eve');
    expect(await post(stream.relay.id, hookOf(stream, { email, kind: 'opened' }))).toBe(200);
    expect(await outcomesOf(stream, 'eve')).toEqual([]);
  });

  test('refuses forged, truncated and oversized requests, and requests to unknown relays', async () => {
    const stream = await relayed('resend');
    const email = await sendTo(stream, 'fay');
    const { headers, body } = hookOf(stream, { email });
    const { id } = stream.relay;
    expect(await post(id, { headers: {}, body })).toBe(401);
    expect(await post(id, { headers, body: body.subarray(0, -2) })).toBe(401);
    expect(await post(id, { headers: { ...headers, 'svix-signature': 'v1,AAAA' }, body })).toBe(401);
    expect(await post(id, { headers, body: Buffer.alloc(2 * 1_048_576, 'x') })).toBe(413);
    expect(await post(randomUUID(), { headers, body })).toBe(401);
    expect(await post('1', { headers, body })).toBe(401);
    expect(await outcomesOf(stream, 'fay')).toEqual([]);
  });

  test('refuses a request that was signed too long ago', async () => {
    const stream = await relayed('resend');
    const email = await sendTo(stream, 'gus');
    const event = {
      id: randomUUID(),
      kind: 'bounced',
      email,
      text: '550 5.1.1 x',
      at: db.clock.now(),
    } as const;
    const old = stream.fake.provider.hook(event, db.clock.now() - 10 * 60_000);
    expect(await post(stream.relay.id, old)).toBe(401);
    expect(await outcomesOf(stream, 'gus')).toEqual([]);
  });
});

describe('an event about another email', () => {
  test('changes nothing if another relay sent the email', async () => {
    const [stream, other] = [await relayed('postmark'), await relayed('postmark')];
    const email = await sendTo(other, 'hal');
    expect(await post(stream.relay.id, hookOf(stream, { email }))).toBe(200);
    expect(await outcomesOf(other, 'hal')).toEqual([]);
    expect(await provenAt(stream)).toBeNull();
  });

  test('changes nothing if Beckon did not send it', async () => {
    const stream = await relayed('postmark');
    const sent = await sendTo(stream, 'ian');
    for (const email of [
      { ...sent, id: randomUUID(), token: '' },
      { ...sent, id: randomUUID(), token: sent.token.replace(/.$/, 'x') },
      {
        ...sent,
        token: emailToken(
          { projectId: stream.scenario.projectId, emailId: randomUUID() },
          'relay',
          TOKEN_KEYS,
        ),
      },
    ])
      expect(
        await post(
          stream.relay.id,
          hookOf(stream, { email: email.token === '' ? { ...email, id: 'none' } : email }),
        ),
      ).toBe(200);
    expect(await outcomesOf(stream, 'ian')).toEqual([]);
  });

  test('is matched by the id of the provider if the token is missing', async () => {
    const stream = await relayed('postmark');
    const email = { ...(await sendTo(stream, 'jan')), token: '' };
    expect(await post(stream.relay.id, hookOf(stream, { email }))).toBe(200);
    expect(await outcomesOf(stream, 'jan')).toHaveLength(1);
  });

  test('is matched across projects for a relay of the installation', async () => {
    const stream = await relayed('postmark', INSTALLATION);
    const email = { ...(await sendTo(stream, 'kim')), token: '' };
    expect(await post(stream.relay.id, hookOf(stream, { email }))).toBe(200);
    expect(await outcomesOf(stream, 'kim')).toHaveLength(1);
  });
});

describe('proof of feedback', () => {
  const services = {
    outlet: { kind: 'relay', publicUrl: 'https://beckon.acme.test', mailDomain: 'in.beckon.test' },
    signers: createSigners(stage.deps.encrypter, stage.deps.mail),
  } as unknown as SendServices;
  const prove = async ({ scenario, relay }: Relayed, address: string | null = null) => {
    const found = await findRelay(db, relay);
    if (!found) throw new Error('no relay');
    const proofDeps = {
      ...deps,
      sendServices: services,
      openOutbound: () => relayOutbound(),
      openRelay: () => Promise.reject(new Error('nothing is sent by SMTP')),
      openRelayTransport: testRelayOpener(db),
    };
    return proveFeedback(proofDeps, { projectId: scenario.projectId, relay: found, address });
  };

  test('turns green only when the bounce of its email came back', async () => {
    const stream = await relayed('postmark');
    expect(await prove(stream)).toEqual({ to: 'hardbounce@bounce-testing.postmarkapp.com' });
    const [email] = stream.fake.emails;
    if (!email) throw new Error('nothing was sent');
    expect(await post(stream.relay.id, hookOf(stream, { email, kind: 'delivered' }))).toBe(200);
    expect(await provenAt(stream)).toBeNull();
    expect(await post(stream.relay.id, hookOf(stream, { email }))).toBe(200);
    expect(await provenAt(stream)).not.toBeNull();
    expect(await suppressedIn(stream, email.to)).toEqual([]);
  });

  test('is not given by the email of another relay', async () => {
    const [stream, other] = [await relayed('postmark'), await relayed('postmark')];
    await prove(other);
    const [email] = other.fake.emails;
    if (!email) throw new Error('nothing was sent');
    await post(stream.relay.id, hookOf(stream, { email }));
    expect(await provenAt(stream)).toBeNull();
  });

  test('needs an address where the provider simulates no bounce', async () => {
    const stream = await relayed('mailgun');
    await expect(prove(stream)).rejects.toMatchObject({ code: 'validation_failed' });
    expect(await prove(stream, 'nobody@acme.test')).toEqual({ to: 'nobody@acme.test' });
  });
});

describe('an unknown delivery', () => {
  const stateOf = async ({ scenario }: Relayed, userId: string) => (await scenario.drafts(userId))[0]?.state;

  test.each([
    ['delivered', 'sent'],
    ['bounced', 'failed'],
  ] as const)('is settled by the event %s as %s', async (kind, state) => {
    const stream = await relayed('postmark');
    const email = await sendTo(stream, 'lea', 'cut_after');
    expect(await stateOf(stream, 'lea')).toBe('unknown');
    expect(await post(stream.relay.id, hookOf(stream, { email, kind }))).toBe(200);
    expect(await stateOf(stream, 'lea')).toBe(state);
    expect(stream.fake.emails).toHaveLength(1);
  });
});

describe('pulled feedback', () => {
  const run = { name: 'pull_relay_feedback', stopping: new AbortController().signal };

  test('records the events of a relay without a webhook, each once', async () => {
    const stream = await relayed('mailgun');
    const pull = feedbackPuller({ ...deps, relayKinds: deps.kinds, restoreGuard: 'manual' });
    await pull(run);
    const email = await sendTo(stream, 'mia');
    stream.fake.events.push({
      id: 'p1',
      kind: 'bounced',
      email,
      text: '550 5.1.1 No such user',
      at: db.clock.now(),
    });
    await pull(run);
    await pull(run);
    expect(await outcomesOf(stream, 'mia')).toHaveLength(1);
    expect(await provenAt(stream)).not.toBeNull();
  });

  test('forgets applied events after 30 days', async () => {
    const stream = await relayed('postmark');
    const email = await sendTo(stream, 'ned');
    await post(stream.relay.id, hookOf(stream, { email }));
    const count = async () =>
      (await db.query(`SELECT 1 FROM beckon.relay_event WHERE project_id = $1`, [stream.scenario.projectId]))
        .length;
    expect(await count()).toBe(1);
    await stream.scenario.later(31 * 24 * HOUR);
    await deleteOldRelayEvents({ db }, run);
    expect(await count()).toBe(0);
  });

  test('reads nothing in a restored database until the restore is confirmed', async () => {
    const stream = await relayed('mailgun');
    await closeGate(db);
    const before = outbound.urls.length;
    await feedbackPuller({ ...deps, relayKinds: deps.kinds, restoreGuard: 'auto' })(run);
    expect(outbound.urls.slice(before)).toEqual([]);
    expect((await findRelay(db, stream.relay))?.feedbackCursor).toBeNull();
  });
});
