import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { testHasher, testRenderer } from '../../../../testing/factories/send-services.ts';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { goodEmail } from '../../../../testing/factories/outgoing-email.ts';
import { idMaker } from '../../../platform/ids.ts';
import { emailToken, type TokenUse } from '../../../platform/crypto/email-token.ts';
import { silentLog } from '../../../platform/log.ts';
import { createEncrypter } from '../../../platform/crypto/encrypt.ts';
import { createSigners } from '../../sending/domains/signers.ts';
import { listMail } from './reads.ts';
import { insertEmails as claimEmails } from '../../sending/emails/store.ts';
import { findEmailById } from '../../delivery/email-rows.ts';
import { openRelay } from '../../../platform/mail/relay.ts';
import { classifyReply } from '../../outcomes/bounces/classify-reply.ts';
import type { Relay } from '../../../platform/mail/submit.ts';
import { startMailListener } from '../../../platform/mail/listener.ts';
import { createProject } from '../../administration/create-project.ts';
import { addDomain } from '../../sending/domains/change-domain.ts';
import { erasePerson } from '../../profiles/erase-user.ts';
import { clearTestInbox } from '../emails/test-inbox-routes.ts';
import { receiveMail } from './test-inbox.ts';
import { showMail } from '../emails/checked-email.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const newId = idMaker(db.clock);
const tokenKeys = [Buffer.alloc(32, 5)] as const;

let projectId = 0;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

/** Claims an email to a user. */
async function claim(userId = 'ada', of = projectId): Promise<{ id: string; draftId: string }> {
  const [id, draftId, now] = [newId(), newId(), db.clock.now()];
  const email = { projectId: of, draftId, id, ruleId: newId(), userId, address: `${userId}@x.test` };
  const times = { claimedAt: now, leaseUntil: now, template: null, relay: null, relayGeneration: null };
  await claimEmails(db, [{ ...email, ...times, counts: true, domain: 'acme.test', provider: 'x.test' }]);
  return { id, draftId };
}

function sender(emailId: string, { use = 'bounce' as TokenUse, of = projectId } = {}): string {
  const email = use === 'team' ? 't' : 'b';
  return `${email}+${emailToken({ projectId: of, emailId }, use, tokenKeys)}@bounce.acme.test`;
}

const compose = () => goodEmail({ date: new Date(db.clock.now()) });
const receive = (from: string, raw: Uint8Array = Buffer.from('Subject: x\r\n\r\nx'), to = ['ada@x.test']) =>
  receiveMail({ db, tokenKeys }, { from, to, raw });
const list = (of = projectId) => listMail(db, { projectId: of, limit: 100 });
const show = (id: string, of = projectId) =>
  showMail({ db, renderer: testRenderer }, { projectId: of, id, copy: 1 });

/** Starts the server as it runs without a relay: it sends emails to itself. */
async function openItself(): Promise<Relay> {
  const listener = await startMailListener({
    host: '127.0.0.1',
    port: 0,
    sizeMax: 2_000_000,
    credentials: null,
    accept: async (mail) => {
      await receiveMail({ db, tokenKeys }, mail);
    },
    log: silentLog,
  });
  const relay = openRelay({
    url: `smtp://127.0.0.1:${listener.port}?tls=optional`,
    log: silentLog,
    classify: classifyReply,
  });
  onTestFinished(async () => {
    await relay.close(0);
    await listener.close();
  });
  return relay;
}

test('stores an email byte for byte under its user before SMTP acknowledges it', async () => {
  const relay = await openItself();
  const { id, draftId } = await claim();
  const mime = await compose();
  const envelope = { from: sender(id), to: 'ada@x.test', envid: null };
  expect(await relay.submit(envelope, mime)).toMatchObject({ result: 'sent' });
  const at = db.clock.now();
  expect(await list()).toMatchObject([
    { id, draftId, userId: 'ada', rcptTo: 'ada@x.test', mailFrom: envelope.from, copy: 1, copies: 1, at },
  ]);
  const { mail, html, text, checks } = await show(id);
  expect(mail.raw.equals(mime)).toBe(true);
  expect(html).toContain('Hello Ada');
  expect(text).toContain('Hello Ada');
  expect(checks.filter(({ status }) => status !== 'ok').map(({ name }) => name)).toEqual(['dkim']);
});

test('refuses emails of other senders on the host, and does not store them', async () => {
  const relay = await openItself();
  const { id } = await claim();
  const stranger = emailToken({ projectId, emailId: id }, 'bounce', [Buffer.alloc(32, 6)]);
  for (const from of [`b+${stranger}@acme.test`, 'eve@acme.test', sender(newId())]) {
    const result = await relay.submit({ from, to: 'ada@x.test', envid: null }, await compose());
    expect(result).toMatchObject({ stage: 'body', code: 451 });
  }
  expect(await list()).toEqual([]);
});

test('accepts a token only for its purpose: an email of its project, to a user or to the team', async () => {
  const { id } = await claim();
  const token = sender(id);
  await expect(receive(token.replace('b+', 't+'))).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(receive(sender(id, { of: projectId + 1 }))).rejects.toThrow('erased');
  await expect(receive('')).rejects.toThrow('only emails of this installation');
  await expect(receive(token, Buffer.from('x'), [])).rejects.toThrow('exactly one recipient');
  await expect(receive(token, Buffer.from('x'), ['a@x.test', 'b@x.test'])).rejects.toThrow('exactly one');
  expect(await receive(token.toUpperCase())).toEqual({ copy: 1 });
  const team = newId();
  await receive(sender(team, { use: 'team' }));
  expect(new Map((await list()).map((mail) => [mail.id, mail.userId]))).toEqual(
    new Map([
      [id, 'ada'],
      [team, null],
    ]),
  );
});

test('stores every copy of an email that arrives repeatedly, and numbers them', async () => {
  const { id } = await claim();
  await Promise.all([receive(sender(id)), receive(sender(id)), receive(sender(id))]);
  expect((await list()).map(({ copy, copies }) => `${copy} of ${copies}`)).toEqual([
    '3 of 3',
    '2 of 3',
    '1 of 3',
  ]);
  expect((await showMail({ db, renderer: testRenderer }, { projectId, id, copy: 3 })).mail.copy).toBe(3);
});

test('does not show emails of another project', async () => {
  const { id } = await claim();
  await receive(sender(id));
  const { id: other } = await createProject(db, { name: 'Other' });
  expect(await list(other)).toEqual([]);
  for (const name of [id, newId(), 'no id', ''])
    await expect(show(name, other)).rejects.toMatchObject({ code: 'not_found' });
  await expect(showMail({ db, renderer: testRenderer }, { projectId, id, copy: 2 })).rejects.toThrow(
    'copy 2',
  );
  expect(await clearTestInbox(db, { projectId: other, before: db.clock.now() + 1 })).toBe(0);
  expect(await clearTestInbox(db, { projectId, before: db.clock.now() })).toBe(0);
  expect(await clearTestInbox(db, { projectId, before: db.clock.now() + 1 })).toBe(1);
});

test('verifies a signature with the keys of the project, by another implementation than the signer', async () => {
  const encrypter = createEncrypter('a secret', null, 'dkim keys');
  const mail = { mailDomain: null, spfInclude: null };
  await addDomain({ db, encrypter, mail }, { projectId, name: 'acme.test' });
  await db.query(`UPDATE beckon.dkim_key SET state = 'active' WHERE project_id = $1`, [projectId]);
  const signer = await createSigners(encrypter, mail).of(db, projectId, 'acme.test');
  if (!signer?.dkim) throw new Error('no key');
  const raw = await goodEmail({ date: new Date(db.clock.now()) }, signer.dkim);
  const dkimOf = async (bytes: Uint8Array, of = projectId): Promise<string | undefined> => {
    const { id } = await claim('ada', of);
    await receive(sender(id, { of }), bytes);
    return (await show(id, of)).checks.find(({ name }) => name === 'dkim')?.message;
  };
  expect(await dkimOf(raw)).toMatch(/^Signed by acme\.test .*valid/);
  expect(await dkimOf(Buffer.from(raw.toString('latin1').replace('Three steps', 'Four steps')))).toMatch(
    /is invalid/,
  );
  const { id: other } = await createProject(db, { name: 'Other' });
  expect(await dkimOf(raw, other)).toMatch(/does not, or no longer, belong/);
});

test('leaves nothing of a user who is erased while an email to them arrives, in either order', async () => {
  const erase = () => erasePerson({ db, newId, hasher: testHasher }, { projectId, userId: 'ada' });
  const { id } = await claim();
  await receive(sender(id));
  expect((await erase()).removed).toMatchObject({ email: 1, test_inbox_email: 1 });
  await expect(receive(sender(id))).rejects.toThrow('erased');

  const late = await claim();
  let erasing: Promise<unknown> = Promise.resolve();
  await db.transaction(async (tx) => {
    await findEmailById(tx, { projectId, emailId: late.id });
    let isErased = false;
    erasing = erase().finally(() => (isErased = true));
    const waits = async (): Promise<boolean> =>
      (await db.query('SELECT 1 FROM pg_locks WHERE NOT granted')).length > 0;
    while (!isErased && !(await waits()));
    // Receives the email while the user is being erased.
    await receiveMail(
      { db: { transaction: (work) => work(tx), clock: db.clock }, tokenKeys },
      { from: sender(late.id), to: ['ada@x.test'], raw: Buffer.from('Subject: late\r\n\r\nx') },
    );
  });
  await erasing;
  expect(await list()).toEqual([]);
});
