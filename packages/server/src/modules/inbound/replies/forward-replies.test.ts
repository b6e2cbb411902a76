import PostalMime from 'postal-mime';
import { afterAll, expect, test } from 'vitest';
import {
  recipientReply,
  openInbound,
  type Sent,
  sendTo,
} from '../../../../testing/factories/inbound-email.ts';
import {
  type MailScenario,
  newVerifiedScenario,
  openMailStage,
} from '../../../../testing/factories/mail-stage.ts';
import { TOKEN_KEYS } from '../../../../testing/factories/send-services.ts';
import { startSink, type SinkRefusal } from '../../../../testing/servers/smtp-sink.ts';
import { silentLog } from '../../../platform/log.ts';
import { createSigners } from '../../sending/domains/signers.ts';
import { listMail } from '../../review/test-inbox/reads.ts';
import { verifyDkim } from '../../sending/email-checks/verify-dkim.ts';
import { openRelay } from '../../../platform/mail/relay.ts';
import { classifyReply } from '../../outcomes/bounces/classify-reply.ts';
import { type ForwardDeps, forwardNext } from './forward-replies.ts';
import { receiveMail } from '../../review/test-inbox/test-inbox.ts';

const stage = await openMailStage();
const { db, clock } = stage.server;
const { talk } = await openInbound(stage);

/** The mail server of the team. */
const refusal: { no: SinkRefusal } = { no: null };
const team = await startSink({ atBody: () => refusal.no });
const relay = openRelay({ url: `smtp://127.0.0.1:${team.port}`, log: silentLog, classify: classifyReply });
afterAll(async () => {
  await relay.close();
  await team.close();
});

const deps: ForwardDeps = {
  db,
  relay,
  sendServices: {
    outlet: { kind: 'relay', publicUrl: 'https://beckon.acme.test', mailDomain: 'in.beckon.test' },
    signers: createSigners(stage.deps.encrypter, stage.deps.mail),
  },
  mailFrom: null,
  tokenKeys: TOKEN_KEYS,
};

let people = 0;
async function person(): Promise<Sent & { scenario: MailScenario; userId: string }> {
  const scenario = await newVerifiedScenario(stage);
  await scenario.set({ reply_forward_to: 'team@acme.test' });
  people += 1;
  const userId = `ada${people}`;
  return { ...(await sendTo(scenario, userId, `${userId}@home.test`)), scenario, userId };
}

async function write(sent: Sent, raw: string): Promise<void> {
  const { data } = await talk.submit({ from: sent.email, to: [sent.replyTo], raw });
  expect(data).toMatch(/^250/);
}

async function forwardState({ projectId }: MailScenario) {
  const [row] = await db.query<{
    waits: boolean;
    forwarded: boolean;
    raw: boolean;
    attempts: number;
    failure: string | null;
  }>(
    `SELECT forward_at IS NOT NULL AS waits, forwarded_at IS NOT NULL AS forwarded, raw IS NOT NULL AS raw,
            forward_attempts AS attempts, forward_error AS failure FROM beckon.reply WHERE project_id = $1`,
    [projectId],
  );
  return row;
}

const FILE = Buffer.from('\0PNG a picture of what is wrong\xff', 'latin1');

function withFile(sent: Sent): string {
  return recipientReply({
    from: `=?utf-8?Q?Zo=C3=AB?= <${sent.email}>`,
    to: sent.replyTo,
    subject: '=?utf-8?Q?Re:_caf=C3=A9?=',
  })
    .replace('Content-Type: text/plain; charset=utf-8', 'Content-Type: multipart/mixed;\r\n boundary="M"')
    .replace(
      'Thanks, that helped.',
      '--M\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\nSee the picture, merçi.',
    )
    .concat(
      `\r\n--M\r\nContent-Type: image/png; name="a.png"\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: base64\r\n\r\n${FILE.toString('base64')}\r\n--M--\r\n`,
    );
}

test("forwards a reply unchanged to the team, from the project's address, with the author in Reply-To", async () => {
  const ada = await person();
  await write(ada, withFile(ada));
  expect(await forwardNext(deps)).toMatchObject({ failure: null });
  const [email] = team.emails.splice(0);
  expect(email?.to).toEqual(['team@acme.test']);
  expect(email?.from).toBe(`hello@${ada.scenario.domain}`);
  const mail = await PostalMime.parse(Buffer.from(email?.raw ?? '', 'latin1'));
  expect(mail.from).toMatchObject({ name: 'Zoë via Acme', address: `hello@${ada.scenario.domain}` });
  expect(mail.replyTo).toMatchObject([{ name: 'Zoë', address: ada.email }]);
  expect(mail.subject).toBe('Re: café');
  expect(mail.text).toContain('See the picture, merçi.');
  expect(Buffer.from(mail.attachments[0]?.content as ArrayBuffer)).toEqual(FILE);
  expect(email?.raw).toMatch(/^X-Beckon-Forwarded: /m);
  expect(email?.raw).not.toContain(ada.replyTo);
  const keys = await db.query<{ key: string }>(
    `SELECT public_key AS key FROM beckon.dkim_key WHERE project_id = $1`,
    [ada.scenario.projectId],
  );
  const record = `v=DKIM1; k=rsa; p=${keys[0]?.key ?? ''}`;
  const dkim = await verifyDkim(Buffer.from(email?.raw ?? '', 'latin1'), () => record);
  expect(dkim.result).toBe('pass');
  expect(await forwardState(ada.scenario)).toEqual({
    waits: false,
    forwarded: true,
    raw: false,
    attempts: 1,
    failure: null,
  });
  expect(await forwardNext(deps)).toBeNull();
});

test("sets Reply-To to the author's whole address, even with a quote in it", async () => {
  const { scenario } = await person();
  const sent = await sendTo(scenario, 'obrien', "o'brien@home.test");
  await write(sent, recipientReply({ from: sent.email, to: sent.replyTo }));
  await forwardNext(deps);
  const [email] = team.emails.splice(0);
  const mail = await PostalMime.parse(Buffer.from(email?.raw ?? '', 'latin1'));
  expect(mail.replyTo).toMatchObject([{ address: sent.email }]);
});

test.each(['жора@home.test', `${'x'.repeat(100)}@home.test`, 'ada@my_host.test'])(
  'forwards a reply from an unusable address such as %s, and names it above the text',
  async (from) => {
    const ada = await person();
    await write(ada, withFile(ada).replace(/^From: .*$/m, `From: ${from}`));
    expect(await forwardNext(deps)).toMatchObject({ failure: null });
    const [email] = team.emails.splice(0);
    const mail = await PostalMime.parse(Buffer.from(email?.raw ?? '', 'latin1'));
    expect(mail.from).toMatchObject({ name: `${from} via Acme`, address: `hello@${ada.scenario.domain}` });
    expect(mail.replyTo).toBeUndefined();
    expect(mail.text?.split('\n')[0]).toContain(`${from} wrote this.`);
    expect(mail.text).toContain('See the picture, merçi.');
    expect(Buffer.from(mail.attachments[0]?.content as ArrayBuffer)).toEqual(FILE);

    await write(ada, recipientReply({ from, to: ada.replyTo }));
    refusal.no = { code: 552, text: '5.3.4 too large' };
    await forwardNext(deps);
    refusal.no = null;
    clock.advance(60_000);
    expect(await forwardNext(deps)).toMatchObject({ failure: null });
    const words = await PostalMime.parse(Buffer.from(team.emails.splice(0)[0]?.raw ?? '', 'latin1'));
    expect(words.replyTo).toBeUndefined();
    expect(words.text?.split('\n')[0]).toContain(`${from} wrote this.`);
  },
);

test('does not forward an automatic answer of the team back to it', async () => {
  const ada = await person();
  await write(ada, recipientReply({ from: ada.email, to: ada.replyTo }));
  await forwardNext(deps);
  const [email] = team.emails.splice(0);
  await write(ada, email?.raw ?? '');
  expect(await forwardNext(deps)).toBeNull();
});

test("retries with growing delays while the team's server defers, and then gives up until a member acts", async () => {
  const ada = await person();
  await write(ada, recipientReply({ from: ada.email, to: ada.replyTo }));
  refusal.no = { code: 451, text: '4.3.0 later' };
  for (let n = 1; n <= 14; n += 1) {
    expect(await forwardNext(deps)).toMatchObject({ failure: expect.stringContaining('later') as string });
    expect(await forwardState(ada.scenario)).toMatchObject({ waits: n < 14, raw: true, attempts: n });
    expect(await forwardNext(deps)).toBeNull();
    clock.advance(6 * 3_600_000);
  }
  refusal.no = null;
  expect(await forwardNext(deps)).toBeNull();
  expect(team.emails).toEqual([]);
});

test('forwards only the text if the attachment is rejected', async () => {
  const ada = await person();
  await write(ada, withFile(ada));
  refusal.no = { code: 552, text: '5.3.4 too large' };
  await forwardNext(deps);
  expect(await forwardState(ada.scenario)).toMatchObject({ waits: true, raw: false });
  refusal.no = null;
  clock.advance(60_000);
  await forwardNext(deps);
  const [email] = team.emails.splice(0);
  const mail = await PostalMime.parse(Buffer.from(email?.raw ?? '', 'latin1'));
  expect(mail.text).toContain('See the picture, merçi.');
  expect(mail.attachments).toEqual([]);
  expect(mail.replyTo).toMatchObject([{ address: ada.email }]);
});

test('gives up if the text alone is rejected permanently, and records the reason', async () => {
  const ada = await person();
  await write(ada, recipientReply({ from: ada.email, to: ada.replyTo }));
  refusal.no = { code: 550, text: '5.7.1 no' };
  await forwardNext(deps);
  clock.advance(60_000);
  await forwardNext(deps);
  refusal.no = null;
  expect(await forwardState(ada.scenario)).toMatchObject({
    waits: false,
    forwarded: false,
    failure: '550 5.7.1 no',
  });
});

test('forwards once with two processes; if one dies, the other takes over', async () => {
  const ada = await person();
  await write(ada, recipientReply({ from: ada.email, to: ada.replyTo }));
  const results = await Promise.all(Array.from({ length: 4 }, () => forwardNext(deps)));
  expect(results.filter((result) => result !== null)).toHaveLength(1);
  expect(team.emails.splice(0)).toHaveLength(1);

  const bob = await person();
  await write(bob, recipientReply({ from: bob.email, to: bob.replyTo }));
  const never = { submit: () => new Promise<never>(() => {}) };
  void forwardNext({ ...deps, relay: never });
  await expect.poll(async () => (await forwardState(bob.scenario))?.attempts).toBe(1);
  expect(await forwardNext(deps)).toBeNull();
  clock.advance(15 * 60_000);
  expect(await forwardNext(deps)).toMatchObject({ failure: null });
  expect(team.emails.splice(0)).toHaveLength(1);
});

test('puts the forwarded reply into the test inbox of the user if no relay is set', async () => {
  const ada = await person();
  await write(ada, recipientReply({ from: ada.email, to: ada.replyTo }));
  const submit: ForwardDeps['relay']['submit'] = async ({ from, to }, raw) => {
    await receiveMail({ db, tokenKeys: TOKEN_KEYS }, { from, to: [to], raw });
    return { result: 'sent', reply: '250 Taken', relayId: null };
  };
  const outlet = { kind: 'test_inbox', publicUrl: 'http://localhost:8080', mailDomain: null } as const;
  const sendServices = { ...deps.sendServices, outlet };
  expect(await forwardNext({ ...deps, sendServices, relay: { submit } })).toMatchObject({ failure: null });
  const { projectId } = ada.scenario;
  const kept = await listMail(db, { projectId, userId: ada.userId, limit: 10 });
  expect(kept).toMatchObject([{ rcptTo: 'team@acme.test', subject: 'Re: Welcome', copies: 1 }]);
});

test('keeps the reply and reports the reason if no forwarding address is set', async () => {
  const ada = await person();
  await write(ada, recipientReply({ from: ada.email, to: ada.replyTo }));
  await ada.scenario.set({ reply_forward_to: 'none' });
  expect(await forwardNext(deps)).toMatchObject({
    failure: expect.stringContaining('reply_forward_to') as string,
  });
});
