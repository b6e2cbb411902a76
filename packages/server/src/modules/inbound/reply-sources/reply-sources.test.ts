import { readFileSync } from 'node:fs';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { recipientReply, inboundDeps, openInbound } from '../../../../testing/factories/inbound-email.ts';
import { jobRun } from '../../../../testing/factories/job-run.ts';
import {
  type MailScenario,
  newVerifiedScenario,
  openMailStage,
} from '../../../../testing/factories/mail-stage.ts';
import {
  addressee,
  type Addressee,
  publishAuthor,
  signedBy,
} from '../../../../testing/factories/reply-sources.ts';
import { TOKEN_KEYS } from '../../../../testing/factories/send-services.ts';
import { openTalk } from '../../../../testing/servers/smtp-client.ts';
import { type ImapServer, startImapServer } from '../../../../testing/servers/imap-server.ts';
import { createEncrypter } from '../../../platform/crypto/encrypt.ts';
import { createAddressGuard } from '../../../platform/http/address-guard.ts';
import { acceptUnchanged, closeGate } from '../../operations/restore/confirm-restore.ts';
import { MAIL_BYTES_MAX } from '../classification/read-mail.ts';
import { forwardingAddress } from '../mail/match-email.ts';
import { removeSource, setSource } from './change-source.ts';
import { mountReplyHooks } from './hook-routes.ts';
import { readDueMailboxes } from './read-due-mailboxes.ts';
import { findEncryptedSource } from './reads.ts';
import { decryptSource } from './secrets.ts';
import { testSource } from './test-source.ts';

const stage = await openMailStage();
const { db, clock } = stage.server;
const { port: mailPort } = await openInbound(stage);
const ca = readFileSync(new URL('../../../../testing/servers/tls/names.crt', import.meta.url), 'utf8');
const deps = {
  ...inboundDeps(stage),
  encrypter: createEncrypter('a secret of this test alone', null, 'test'),
  resolveHostOf: () => () => Promise.resolve('127.0.0.1'),
  ca,
  transport: { trustProxy: false, tls: false, publicUrl: 'http://127.0.0.1' } as never,
  guard: createAddressGuard(db.clock),
};
publishAuthor(stage, 'home.test');

let app: FastifyInstance;
beforeAll(async () => {
  app = Fastify();
  mountReplyHooks(app, deps);
  await app.ready();
});
const servers: ImapServer[] = [];
// The mailboxes of earlier tests would be read as well.
afterEach(() => db.query(`DELETE FROM beckon.reply_source`));
afterAll(async () => {
  await app.close();
  for (const server of servers) await server.close();
});

let users = 0;
const newUser = (scenario: MailScenario): Promise<Addressee> => {
  users += 1;
  return addressee(scenario, `ada${users}`);
};

/** Creates a project whose replies have a token in their address. */
async function newProject(): Promise<MailScenario> {
  const scenario = await newVerifiedScenario(stage);
  await scenario.set({ reply_to: `help@${scenario.domain}`, reply_plus_addressing: 'on' });
  return scenario;
}

type Mailbox = { scenario: MailScenario; imap: ImapServer };

async function newMailbox(): Promise<Mailbox> {
  const scenario = await newProject();
  const imap = await startImapServer({ encryption: 'tls' });
  servers.push(imap);
  await connect(scenario, imap);
  return { scenario, imap };
}

async function connect({ projectId }: MailScenario, imap: ImapServer): Promise<void> {
  const { username, password, port } = imap;
  const settings = { host: 'imap.acme.test', port: String(port), encryption: 'tls', username, password };
  await setSource(deps, { projectId, kind: 'imap', settings });
}

/** Puts an email into the mailbox at the time of the database. */
const deliver = ({ imap }: Mailbox, raw: string): number => imap.deliver(raw, new Date(clock.now()));

/** Reads all mailboxes that are due after this time. */
async function readAfter(ms = 61_000): Promise<void> {
  clock.advance(ms);
  await readDueMailboxes(deps, jobRun());
}

const replyOf = (ada: Addressee, changed: Partial<Parameters<typeof recipientReply>[0]> = {}): string =>
  recipientReply({ from: ada.email, to: ada.replyTo, inReplyTo: ada.messageId, ...changed });

async function repliesOf(
  { projectId }: MailScenario,
  { userId }: Addressee,
): Promise<{ verified: string; forwards: boolean }[]> {
  return db.query(
    `SELECT verified, forward_at IS NOT NULL AS forwards FROM beckon.reply
     WHERE project_id = $1 AND external_user_id = $2 ORDER BY received_at, id`,
    [projectId, userId],
  );
}

async function outcomesOf({ projectId }: MailScenario, { userId }: Addressee): Promise<string[]> {
  const rows = await db.query<{ type: string }>(
    `SELECT type FROM beckon.outcome WHERE project_id = $1 AND external_user_id = $2 ORDER BY id`,
    [projectId, userId],
  );
  return rows.map(({ type }) => type);
}

/** Expects that the reply was counted once, and ended the run. */
async function expectEndedOnce(
  scenario: MailScenario,
  ada: Addressee,
  verified = 'recipient',
): Promise<void> {
  expect(await repliesOf(scenario, ada)).toEqual([{ verified, forwards: false }]);
  expect(await outcomesOf(scenario, ada)).toEqual(['email.replied']);
  expect(await scenario.runs(ada.userId, ada.rule)).toMatchObject([{ end_reason: 'replied' }]);
}

const countsOf = async ({ projectId }: MailScenario): Promise<object> =>
  (await findEncryptedSource(db, projectId))?.source.counts ?? {};
const failureOf = async ({ projectId }: MailScenario): Promise<string | null> =>
  (await findEncryptedSource(db, projectId))?.source.failing?.message ?? null;

describe('plus addressing', () => {
  test('adds a token to the Reply-To address', async () => {
    const scenario = await newProject();
    const ada = await newUser(scenario);
    expect(ada.replyTo).toMatch(new RegExp(`^help\\+[a-z2-7.]{51}@${scenario.domain}$`));
  });

  test('leaves an address without a token if it would be too long for mail servers', async () => {
    const scenario = await newProject();
    await scenario.set({ reply_to: `customer-success@${scenario.domain}` });
    const ada = await newUser(scenario);
    expect(ada.replyTo).toBe(`customer-success@${scenario.domain}`);
  });
});

describe('reply source of the kind imap', () => {
  test('ends the run of a recipient who replies, once', async () => {
    const mailbox = await newMailbox();
    const ada = await newUser(mailbox.scenario);
    deliver(mailbox, replyOf(ada));
    await readAfter();
    await expectEndedOnce(mailbox.scenario, ada);
    await readAfter();
    await readAfter();
    await expectEndedOnce(mailbox.scenario, ada);
    expect(await countsOf(mailbox.scenario)).toEqual({ received: 1 });
    expect(mailbox.imap.commands.filter((line) => line.includes('BODY'))).toHaveLength(1);
  });

  test('forwards a reply only if the project has an address to forward to', async () => {
    const mailbox = await newMailbox();
    const ada = await newUser(mailbox.scenario);
    await mailbox.scenario.set({ reply_forward_to: 'team@acme.test' });
    deliver(mailbox, replyOf(ada));
    await readAfter();
    expect(await repliesOf(mailbox.scenario, ada)).toEqual([{ verified: 'recipient', forwards: true }]);
  });

  test('loses and doubles nothing when the server restarts while an email is read', async () => {
    const mailbox = await newMailbox();
    const [ada, bob] = [await newUser(mailbox.scenario), await newUser(mailbox.scenario)];
    deliver(mailbox, replyOf(ada));
    deliver(mailbox, replyOf(bob));
    mailbox.imap.faults.push('cut', 'cut');
    await readAfter();
    expect(await repliesOf(mailbox.scenario, ada)).toEqual([]);
    expect(await failureOf(mailbox.scenario)).toMatch(/closed the connection/);
    mailbox.imap.restart();
    await readAfter(3 * 60_000);
    await readAfter(3 * 60_000);
    for (const one of [ada, bob]) await expectEndedOnce(mailbox.scenario, one);
    expect(await failureOf(mailbox.scenario)).toBeNull();
  });

  test('loses and doubles nothing when the UIDVALIDITY changes', async () => {
    const mailbox = await newMailbox();
    const [ada, bob] = [await newUser(mailbox.scenario), await newUser(mailbox.scenario)];
    deliver(mailbox, 'From: shop@else.test\r\nSubject: Old\r\n\r\nOld\r\n');
    deliver(mailbox, replyOf(ada));
    await readAfter();
    mailbox.imap.stored.shift();
    deliver(mailbox, replyOf(bob));
    mailbox.imap.renumber();
    await readAfter();
    for (const one of [ada, bob]) await expectEndedOnce(mailbox.scenario, one);
    expect(await countsOf(mailbox.scenario)).toEqual({ unmatched: 1, received: 2, repeated: 1 });
  });

  test('does not unsubscribe a user again when the UIDVALIDITY changes', async () => {
    const mailbox = await newMailbox();
    const { scenario } = mailbox;
    const ada = await newUser(scenario);
    deliver(mailbox, replyOf(ada, { to: ada.unsubscribeTo }));
    await readAfter();
    const suppressed = () =>
      db.query(`SELECT 1 FROM beckon.suppression WHERE project_id = $1`, [scenario.projectId]);
    expect(await suppressed()).not.toEqual([]);
    await db.query(`DELETE FROM beckon.suppression WHERE project_id = $1`, [scenario.projectId]);
    mailbox.imap.renumber();
    await readAfter();
    expect(await suppressed()).toEqual([]);
    expect(await countsOf(scenario)).toEqual({ received: 1, repeated: 1 });
  });

  test('reads nothing that is much older than its setup', async () => {
    const { scenario, imap } = await newMailbox();
    const ada = await newUser(scenario);
    imap.deliver(replyOf(ada), new Date(clock.now() - 5 * 86_400_000));
    await readAfter();
    expect(await countsOf(scenario)).toEqual({});
  });

  test('leaves out an email that is too large, and one that the server never returns', async () => {
    const mailbox = await newMailbox();
    const ada = await newUser(mailbox.scenario);
    deliver(mailbox, `Subject: Large\r\n\r\n${'x'.repeat(MAIL_BYTES_MAX)}\r\n`);
    deliver(mailbox, replyOf(await newUser(mailbox.scenario)));
    deliver(mailbox, replyOf(ada));
    mailbox.imap.faults.push(...Array.from({ length: 10 }, () => 'unclosed' as const));
    for (let time = 0; time < 10; time += 1) await readAfter(31 * 60_000);
    expect(await countsOf(mailbox.scenario)).toEqual({ too_large: 1 });
    await readAfter(31 * 60_000);
    expect(await countsOf(mailbox.scenario)).toEqual({ too_large: 1, unreadable: 1, received: 1 });
    await expectEndedOnce(mailbox.scenario, ada);
  });

  test('is read by one worker at a time', async () => {
    const mailbox = await newMailbox();
    deliver(mailbox, replyOf(await newUser(mailbox.scenario)));
    clock.advance(61_000);
    await Promise.all([1, 2, 3].map(() => readDueMailboxes(deps, jobRun())));
    expect(mailbox.imap.commands.filter((line) => line.includes('EXAMINE'))).toHaveLength(1);
  });

  test('shows why the mailbox cannot be read, and tries a wrong password less often', async () => {
    const { scenario, imap } = await newMailbox();
    imap.signInAnswer = 'NO [AUTHENTICATIONFAILED] no';
    await readAfter();
    expect(await failureOf(scenario)).toMatch(/AUTHENTICATIONFAILED/);
    const tries = (): number => imap.commands.filter((line) => line.includes('AUTHENTICATE')).length;
    expect(tries()).toBe(1);
    await readAfter(10 * 60_000);
    expect(tries()).toBe(1);
    await readAfter(6 * 60_000);
    expect(tries()).toBe(2);
    expect(await testSource(deps, scenario.projectId)).toMatchObject({ ok: false });
    imap.signInAnswer = null;
    expect(await testSource(deps, scenario.projectId)).toMatchObject({ ok: true });
  });

  test('keeps its password and its position when other settings change, and neither for another account', async () => {
    const mailbox = await newMailbox();
    const { scenario, imap } = mailbox;
    const { projectId } = scenario;
    const host = { host: 'imap.acme.test', port: String(imap.port) };
    await readAfter();
    await setSource(deps, { projectId, kind: 'imap', settings: { ...host, username: imap.username } });
    const kept = await findEncryptedSource(db, projectId);
    expect(kept?.source.cursor).toEqual({ uidValidity: imap.uidValidity, lastUid: 0 });
    expect(kept && decryptSource(deps.encrypter, kept)['password']).toBe(imap.password);
    await setSource(deps, {
      projectId,
      kind: 'imap',
      settings: { ...host, username: 'other@acme.test', password: 'x' },
    });
    expect((await findEncryptedSource(db, projectId))?.source.cursor).toBeNull();
  });

  test('sends the stored password to no other host', async () => {
    const { scenario, imap } = await newMailbox();
    const settings = { host: 'imap.evil.test', port: String(imap.port), username: imap.username };
    await expect(
      setSource(deps, { projectId: scenario.projectId, kind: 'imap', settings }),
    ).rejects.toMatchObject({ code: 'validation_failed' });
  });

  test('is not read in a restored database until the restore is confirmed', async () => {
    const mailbox = await newMailbox();
    const ada = await newUser(mailbox.scenario);
    deliver(mailbox, replyOf(ada));
    await closeGate(db);
    await readAfter();
    expect(mailbox.imap.commands).toEqual([]);
    await acceptUnchanged(db);
    await readAfter();
    await expectEndedOnce(mailbox.scenario, ada);
  });

  test('is not read after it was deleted', async () => {
    const { scenario, imap } = await newMailbox();
    await removeSource(deps, scenario.projectId);
    await readAfter();
    expect(imap.commands).toEqual([]);
  });
});

describe('an email from a reply source', () => {
  test('without a token counts if its author is proven and it names an email by its Message-ID', async () => {
    const mailbox = await newMailbox();
    const { scenario } = mailbox;
    const [ada, bob] = [await newUser(scenario), await newUser(scenario)];
    const to = `help@${scenario.domain}`;
    deliver(mailbox, await signedBy('home.test', replyOf(ada, { to })));
    deliver(mailbox, replyOf(bob, { to }));
    await readAfter();
    await expectEndedOnce(scenario, ada, 'reference');
    expect(await repliesOf(scenario, bob)).toEqual([]);
    expect(await countsOf(scenario)).toEqual({ received: 1, unproven: 1 });
  });

  test('names an email by the Message-ID of a provider that replaces ours', async () => {
    const mailbox = await newMailbox();
    const { scenario } = mailbox;
    const ada = await newUser(scenario);
    const id = '0102018f-abcd-000000';
    await db.query(
      `UPDATE beckon.email SET relay = gen_random_uuid(), relay_id = $3 WHERE project_id = $1 AND external_user_id = $2`,
      [scenario.projectId, ada.userId, id],
    );
    const raw = replyOf(ada, {
      to: `help@${scenario.domain}`,
      inReplyTo: `<${id}@eu-west-1.amazonses.com>`,
    });
    deliver(mailbox, await signedBy('home.test', raw));
    await readAfter();
    await expectEndedOnce(scenario, ada, 'reference');
  });

  test('about an email of another project changes nothing, whatever it proves', async () => {
    const [mailbox, other] = [await newMailbox(), await newProject()];
    const ada = await newUser(other);
    deliver(mailbox, await signedBy('home.test', replyOf(ada)));
    deliver(mailbox, await signedBy('home.test', replyOf(ada, { to: `help@${other.domain}` })));
    await readAfter();
    for (const scenario of [mailbox.scenario, other]) expect(await repliesOf(scenario, ada)).toEqual([]);
    expect(await outcomesOf(other, ada)).toEqual([]);
    expect(await countsOf(mailbox.scenario)).toEqual({ unmatched: 2 });
  });

  test('that names no email leaves no trace but a count', async () => {
    const mailbox = await newMailbox();
    deliver(mailbox, 'From: boss@acme.test\r\nTo: help@acme.test\r\nSubject: Salaries\r\n\r\nSecret\r\n');
    await readAfter();
    expect(await countsOf(mailbox.scenario)).toEqual({ unmatched: 1 });
    const tables = await db.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'beckon'`,
    );
    for (const { name } of tables)
      expect(await db.query(`SELECT 1 FROM beckon.${name} t WHERE t::text ~ 'Salaries'`)).toEqual([]);
  });

  test('that Beckon forwarded itself has no effect', async () => {
    const mailbox = await newMailbox();
    const ada = await newUser(mailbox.scenario);
    deliver(mailbox, replyOf(ada, { headers: ['X-Beckon-Forwarded: 1'] }));
    await readAfter();
    expect(await repliesOf(mailbox.scenario, ada)).toEqual([]);
    expect(await countsOf(mailbox.scenario)).toEqual({ no_action: 1 });
  });
});

describe('forwarding', () => {
  /** Returns an email as it is after a mailbox redirected it: the fields of the reply stay. */
  const redirected = (raw: string, to: string): string =>
    `Delivered-To: ${to}\r\nReceived: by mail.acme.test; Fri, 2 Jan 2026 03:04:05 +0000\r\nX-Forwarded-To: ${to}\r\n${raw}`;

  test('to the SMTP listener ends a run once, also without a token', async () => {
    const scenario = await newProject();
    await setSource(deps, { projectId: scenario.projectId, kind: 'forwarding', settings: {} });
    const source = await findEncryptedSource(db, scenario.projectId);
    const to = forwardingAddress(
      { projectId: scenario.projectId, emailId: source?.source.id ?? '' },
      'in.beckon.test',
      TOKEN_KEYS,
    );
    const [ada, bob] = [await newUser(scenario), await newUser(scenario)];
    const talk = await openTalk(mailPort);
    onTestFinished(() => talk.close());
    const plain = await signedBy('home.test', replyOf(bob, { to: `help@${scenario.domain}` }));
    for (const raw of [replyOf(ada), plain])
      for (let time = 0; time < 2; time += 1) {
        const { data } = await talk.submit({ from: 'a@acme.test', to: [to], raw: redirected(raw, to) });
        expect(data).toMatch(/^250 /);
      }
    await expectEndedOnce(scenario, ada);
    await expectEndedOnce(scenario, bob, 'reference');
    expect(await countsOf(scenario)).toEqual({ received: 2, repeated: 2 });
    const forged = to.replace(/.@/, (last) => (last === 'a@' ? 'b@' : 'a@'));
    expect((await talk.submit({ to: [forged], raw: replyOf(ada) })).rcpt[0]).toMatch(/^550 5\.1\.1/);
    await removeSource(deps, scenario.projectId);
    const late = await talk.submit({ to: [to], raw: replyOf(await newUser(scenario)) });
    expect(late.data).toMatch(/^250 /);
    expect(await countsOf(scenario)).toEqual({});
  });

  test('to a mailbox and to a webhook ends a run once', async () => {
    const mailbox = await newMailbox();
    const ada = await newUser(mailbox.scenario);
    deliver(mailbox, redirected(replyOf(ada), 'replies@acme.test'));
    await readAfter();
    await expectEndedOnce(mailbox.scenario, ada);
  });
});

describe('webhook of a reply source', () => {
  type Pushed = { id: string; authorization: string };

  async function pushedTo(scenario: MailScenario, kind: 'postmark' | 'http'): Promise<Pushed> {
    const { projectId } = scenario;
    await setSource(deps, { projectId, kind, settings: {} });
    const found = await findEncryptedSource(db, projectId);
    if (!found) throw new Error('there is no source');
    const secret = decryptSource(deps.encrypter, found)['hook_secret'] ?? '';
    const authorization = `Basic ${Buffer.from(`beckon:${secret}`).toString('base64')}`;
    return { id: found.source.id, authorization };
  }

  const post = async ({ id, authorization }: Pushed, payload: string | Buffer): Promise<number> =>
    (
      await app.inject({
        method: 'POST',
        url: `/hooks/replies/${id}`,
        headers: { authorization, 'content-type': 'application/json' },
        payload,
      })
    ).statusCode;

  /** Returns the request of https://postmarkapp.com/developer/webhooks/inbound-webhook. */
  const postmarkBody = (raw: string | undefined): string =>
    JSON.stringify({
      MessageStream: 'inbound',
      From: 'ada@home.test',
      RawEmail: raw,
      Attachments: [],
    });

  test('of Postmark ends a run once, however often Postmark repeats the request', async () => {
    const scenario = await newProject();
    const source = await pushedTo(scenario, 'postmark');
    const ada = await newUser(scenario);
    const body = postmarkBody(replyOf(ada));
    for (let time = 0; time < 3; time += 1) expect(await post(source, body)).toBe(200);
    await expectEndedOnce(scenario, ada);
    expect(await countsOf(scenario)).toEqual({ received: 1, repeated: 2 });
  });

  test('of another service takes the raw email', async () => {
    const scenario = await newProject();
    const source = await pushedTo(scenario, 'http');
    const ada = await newUser(scenario);
    expect(await post(source, replyOf(ada))).toBe(200);
    await expectEndedOnce(scenario, ada);
  });

  test('shows that Postmark leaves out the raw email, until it no longer does', async () => {
    const scenario = await newProject();
    const source = await pushedTo(scenario, 'postmark');
    expect(await post(source, postmarkBody(undefined))).toBe(422);
    expect(await failureOf(scenario)).toMatch(/Include raw email content/);
    expect(await post(source, postmarkBody(replyOf(await newUser(scenario))))).toBe(200);
    expect(await failureOf(scenario)).toBeNull();
  });

  test('refuses a wrong password and an unknown source before it reads the body', async () => {
    const scenario = await newProject();
    const source = await pushedTo(scenario, 'postmark');
    const mailbox = await newMailbox();
    const imap = await findEncryptedSource(db, mailbox.scenario.projectId);
    const large = Buffer.alloc(25 * 1_048_576);
    expect(await post({ ...source, authorization: 'Basic eDp5' }, large)).toBe(401);
    expect(await post({ ...source, id: imap?.source.id ?? '' }, large)).toBe(401);
    expect(await post({ ...source, id: 'x' }, large)).toBe(401);
    expect(await post(source, large)).toBe(413);
    expect(await countsOf(scenario)).toEqual({});
  });

  test('counts an email that cannot be read', async () => {
    const scenario = await newProject();
    const source = await pushedTo(scenario, 'http');
    expect(await post(source, Buffer.alloc(MAIL_BYTES_MAX + 1, 'x'))).toBe(200);
    expect(await post(source, '')).toBe(422);
    expect(await post(source, 'no email')).toBe(200);
    expect(await countsOf(scenario)).toEqual({ too_large: 1, unmatched: 1 });
  });
});
