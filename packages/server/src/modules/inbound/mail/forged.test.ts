import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  recipientReply,
  complaint,
  dsn,
  everything,
  fieldIn,
  openInbound,
  type Sent,
  sendTo,
} from '../../../../testing/factories/inbound-email.ts';
import { newVerifiedScenario, openMailStage } from '../../../../testing/factories/mail-stage.ts';
import { emailToken, type TokenUse } from '../../../platform/crypto/email-token.ts';

/**
 * The role addresses accept mail from anyone, and all of these emails go to them or to made-up tokens. The domain of the recipients
 * publishes no policy, as most do not: the weakest case.
 */
const stage = await openMailStage();
const { db } = stage.server;
const { talk } = await openInbound(stage);
const scenario = await newVerifiedScenario(stage);
await scenario.set({ reply_forward_to: 'team@acme.test' });
const ada = await sendTo(scenario, 'ada', 'ada@home.test');
const bob = await sendTo(scenario, 'bob', 'bob@home.test');
const { projectId } = scenario;
let people = 0;

/** The same numbers in each run. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

function pick<T>(roll: (sides: number) => number, from: readonly T[]): T {
  return from[roll(from.length)] as T;
}

const ROLES = ['postmaster', 'abuse', 'fbl', 'Postmaster', 'ABUSE'].map((role) => `${role}@in.beckon.test`);
const USES: TokenUse[] = ['bounce', 'reply', 'unsubscribe', 'open', 'choices', 'team', 'test'];

/** Tokens as an attacker makes them who has their format and the id of the email, but neither a key nor the email. */
function madeUpSeals(messageId: string): string[] {
  const id = messageId.slice(1, messageId.indexOf('@'));
  const keys = [Buffer.alloc(32), randomBytes(32), Buffer.from('beckon'.padEnd(32))] as const;
  return keys.flatMap((key) =>
    USES.flatMap((use) =>
      ['b', 'r', 'u'].map((kind) => `${kind}+${emailToken({ projectId, emailId: id }, use, [key])}@x.test`),
    ),
  );
}

type Knows = { email: string; messageId: string | null };

function forge(roll: (sides: number) => number, { email, messageId }: Knows): { from: string; raw: string } {
  const id = messageId ?? '<019b0000-0000-7000-8000-000000000000@acme.test>';
  const returned = pick(roll, [
    `From: Acme <hello@${scenario.domain}>\r\nTo: ${email}\r\nSubject: Welcome\r\nMessage-ID: ${id}\r\nDate: Fri, 2 Jan 2026 03:04:05 +0000`,
    `Return-Path: <hello@${scenario.domain}>\r\nTo: ${email}\r\nMessage-ID: ${id}\r\nSubject: x`,
    `To: ${email}\r\nSubject: x\r\nX-Envelope-From: ${email}`,
    '',
  ]);
  const from = pick(roll, [
    '',
    email,
    email.toUpperCase(),
    'MAILER-DAEMON@home.test',
    `hello@${scenario.domain}`,
  ]);
  const envid = pick(roll, [undefined, id, id.slice(1, 37), randomBytes(8).toString('hex')]);
  const status = pick(roll, ['5.1.1', '5.0.0', '4.2.2', '5.7.1', '2.0.0']);
  const action = pick(roll, ['failed', 'failed', 'delayed', 'delivered']);
  const written = {
    from: pick(roll, [email, `"${email}" <eve@evil.test>`, `<${email}>`]),
    to: 'postmaster@in.beckon.test',
  };
  const raw = pick(roll, [
    () => dsn({ recipient: email, envid, status, action, returned }),
    () =>
      dsn({ recipient: email, envid, status, action, returned }).replace(
        'multipart/report',
        'multipart/mixed',
      ),
    () =>
      `From: MAILER-DAEMON@home.test\r\nSubject: failure notice\r\n\r\nHi. This is the qmail-send program.\r\n<${email}>:\r\n550 user unknown\r\n\r\n--- Below this line is a copy of the message.\r\n\r\n${returned}\r\n`,
    () => complaint({ returned, type: pick(roll, ['abuse', 'fraud', 'other', 'not-spam']) }),
    () => recipientReply({ ...written, inReplyTo: id }),
    () => recipientReply({ ...written, inReplyTo: id, headers: ['Auto-Submitted: auto-replied'] }),
    () => recipientReply({ ...written, inReplyTo: id, subject: 'unsubscribe', body: 'unsubscribe' }),
    () =>
      recipientReply({
        ...written,
        headers: ['Authentication-Results: in.beckon.test; dmarc=pass', 'ARC-Seal: i=1; cv=pass'],
      }),
  ])();
  return { from, raw };
}

/** Tables that record a bounce identified only by a Message-ID, and the counters of senders who report users. */
const WRITTEN_DOWN = [
  'outcome',
  'webhook',
  'project_timer',
  'rate_limit',
  'ingest_log',
  'api_key_use',
  'api_key_traffic',
];

test.each([
  ['the address', null],
  ['the address and the Message-ID', ada.messageId],
])('500 emails by a sender who has only %s change nothing', async (_, messageId) => {
  const roll = dice(messageId === null ? 1 : 2);
  const seals = madeUpSeals(ada.messageId);
  const before = await everything(db, WRITTEN_DOWN);
  for (let n = 0; n < 500; n += 1) {
    const { from, raw } = forge(roll, { email: ada.email, messageId });
    const to = roll(3) === 0 ? pick(roll, seals) : pick(roll, ROLES);
    const { rcpt, data } = await talk.submit({ from, to: [to], raw });
    expect(`${rcpt[0]?.slice(0, 3)} ${data.slice(0, 3)}`).toMatch(
      ROLES.includes(to) ? /^250 [25]50$/ : /^550 $/,
    );
  }
  expect(await everything(db, WRITTEN_DOWN)).toEqual(before);
  const outcomes = await db.query(`SELECT type, class, external_user_id FROM beckon.outcome`);
  const written = { type: 'email.bounced', class: 'unverified', external_user_id: 'ada' };
  expect(outcomes).toEqual(messageId === null ? [] : [written]);
});

async function rowsOf(userId: string): Promise<Record<string, string[]>> {
  const tables = await db.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'beckon' AND column_name = 'external_user_id' AND table_name NOT LIKE 'event\\_%' ORDER BY 1`,
  );
  const found: Record<string, string[]> = {};
  for (const { name } of tables) {
    const rows = await db.query<{ row: string }>(
      `SELECT t::text AS row FROM beckon.${name} t WHERE project_id = $1 AND external_user_id = $2 ORDER BY 1`,
      [projectId, userId],
    );
    found[name] = rows.map(({ row }) => row);
  }
  return found;
}

test('a sender with a whole email affects at most its one recipient', async () => {
  const before = await rowsOf('bob');
  const [head = ''] = ada.delivered.raw.split('\r\n\r\n');
  const roll = dice(3);
  for (let n = 0; n < 100; n += 1) {
    const target: Sent = pick(roll, [ada, bob]);
    const raw = pick(roll, [
      () =>
        dsn({
          recipient: bob.email,
          returned: head.replaceAll(ada.email, bob.email),
          envid: bob.messageId.slice(1, 37),
        }),
      () => complaint({ returned: head.replaceAll(ada.messageId, bob.messageId) }),
      () => recipientReply({ from: bob.email, to: ada.replyTo, inReplyTo: bob.messageId }),
      () => recipientReply({ from: bob.email, to: ada.unsubscribeTo, subject: `unsubscribe ${bob.email}` }),
    ])();
    const to = pick(roll, [ada.bounceTo, ada.replyTo, ada.unsubscribeTo, ...ROLES]);
    await talk.submit({ from: pick(roll, ['', target.email]), to: [to], raw });
  }
  await scenario.engine.settle();
  const after = await rowsOf('bob');
  // A Message-ID is not a secret.
  const unverified = (rows: Record<string, string[]>): Record<string, string[]> =>
    Object.fromEntries(
      Object.entries(rows).map(([name, lines]) => [
        name,
        lines.filter((row) => !/unverified|"verified\\*": ?false/.test(row)),
      ]),
    );
  expect(unverified(after)).toEqual(before);
  const values = await db.query<{ value: string }>(
    `SELECT DISTINCT value FROM beckon.suppression ORDER BY 1`,
  );
  expect(values.map(({ value }) => value)).toEqual(['ada', 'ada@home.test']);
});

test.each([
  ['a comment', (email: string) => `eve@evil.test (${email})`],
  ['words behind it', (email: string) => `Eve <eve@evil.test> ${email}`],
  [
    'an encoded word behind it',
    (email: string) => `<eve@evil.test> =?utf-8?Q?${email.replace('@', '=40')}?=`,
  ],
])('the author is the sender that a domain authenticates, whatever %s says', async (_, fromOf) => {
  stage.dns.set('TXT', 'evil.test', ['v=spf1 ip4:127.0.0.1 -all']);
  stage.dns.set('TXT', '_dmarc.evil.test', ['v=DMARC1; p=reject']);
  const zoe = await sendTo(scenario, `zoe${(people += 1)}`, `zoe${people}@home.test`);
  const received = 'Received: from mx.evil.test ([127.0.0.1])\r\n\tby here with ESMTP\r\n';
  const written = { from: fromOf(zoe.email), inReplyTo: zoe.messageId };
  for (const to of ['postmaster@in.beckon.test', zoe.replyTo])
    await talk.submit({
      from: 'eve@evil.test',
      to: [to],
      raw: received + recipientReply({ ...written, to }),
    });
  const kept = await db.query(
    `SELECT verified, from_address FROM beckon.reply WHERE project_id = $1 AND external_user_id = $2`,
    [projectId, `zoe${people}`],
  );
  expect(kept).toEqual([{ verified: 'token', from_address: 'eve@evil.test' }]);
});

test('the tokens of an email are unique to it', () => {
  expect(ada.bounceTo).not.toBe(bob.bounceTo);
  const locals = [ada.bounceTo, ada.replyTo, ada.unsubscribeTo].map((to) => to.slice(2, to.indexOf('@')));
  expect(new Set(locals.map((token) => token.slice(-16))).size).toBe(3);
  for (const to of [ada.bounceTo, ada.replyTo, ada.unsubscribeTo])
    expect(to.indexOf('@')).toBeLessThanOrEqual(64);
  expect(fieldIn(ada.delivered.raw, 'Reply-To')).toContain(ada.replyTo);
});
