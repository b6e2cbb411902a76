import { expect, test } from 'vitest';
import {
  recipientReply,
  complaint,
  dsn,
  inboundDeps,
  openInbound,
  type Sent,
  sendTo,
} from '../../../../testing/factories/inbound-email.ts';
import { newVerifiedScenario, openMailStage } from '../../../../testing/factories/mail-stage.ts';
import { DAY } from '../../../../testing/scenario.ts';
import { withoutDatabase } from '../../../../testing/factories/database.ts';
import { receiveMail } from './receive-mail.ts';

const stage = await openMailStage();
const { db } = stage.server;
const { talk } = await openInbound(stage);
const scenario = await newVerifiedScenario(stage);
await scenario.set({ reply_forward_to: 'team@acme.test' });
const { projectId } = scenario;

let people = 0;
async function person(): Promise<Sent & { userId: string }> {
  people += 1;
  const userId = `ada${people}`;
  return { ...(await sendTo(scenario, userId, `${userId}@home.test`)), userId };
}

const headOf = ({ delivered }: Sent): string => delivered.raw.split('\r\n\r\n')[0] ?? '';

async function outcomes(userId: string): Promise<Record<string, unknown>[]> {
  return db.query(
    `SELECT type, class, detail FROM beckon.outcome WHERE project_id = $1 AND external_user_id = $2 ORDER BY id`,
    [projectId, userId],
  );
}

async function suppressed(...values: string[]): Promise<unknown[]> {
  const rows = await db.query<{ reason: string }>(
    `SELECT reason FROM beckon.suppression WHERE project_id = $1 AND value = ANY ($2) ORDER BY kind`,
    [projectId, values],
  );
  return rows.map(({ reason }) => reason);
}

async function thread(userId: string): Promise<Record<string, unknown>[]> {
  return db.query(
    `SELECT kind, verified, from_address, subject, text, forward_at IS NOT NULL AS forwards FROM beckon.reply
     WHERE project_id = $1 AND external_user_id = $2 ORDER BY received_at, id`,
    [projectId, userId],
  );
}

test('a bounce to the signed sender of an email suppresses its recipient', async () => {
  const ada = await person();
  const raw = dsn({ recipient: ada.email, returned: headOf(ada) });
  const { data } = await talk.submit({ to: [ada.bounceTo.toUpperCase()], raw });
  expect(data).toMatch(/^250 /);
  expect(await outcomes(ada.userId)).toMatchObject([
    {
      type: 'email.bounced',
      class: '',
      detail: { bounce_class: 'hard', status: '5.1.1', source: 'dsn' },
    },
  ]);
  expect(await suppressed(ada.email)).toEqual(['hard_bounce']);
});

test('a bounce that arrives twice, or by two recipients, is one outcome', async () => {
  const ada = await person();
  const raw = dsn({ recipient: ada.email });
  await talk.submit({ to: [ada.bounceTo, ada.bounceTo.replace('@', '@x.')], raw });
  await talk.submit({ to: [ada.bounceTo], raw });
  expect(await outcomes(ada.userId)).toHaveLength(1);
});

test('a report of a delay or a delivery changes nothing', async () => {
  const ada = await person();
  for (const action of ['delayed', 'delivered', 'relayed', 'expanded'])
    await talk.submit({
      to: [ada.bounceTo],
      raw: dsn({ recipient: ada.email, action, status: '4.4.1', diagnostic: 'smtp; 451 4.4.1 try later' }),
    });
  expect(await outcomes(ada.userId)).toEqual([]);
});

test('a report without its recipient is matched by its envelope id', async () => {
  const ada = await person();
  expect(ada.delivered.envid).toBe(ada.bounceTo.slice(2, ada.bounceTo.indexOf('@')));
  const raw = dsn({ recipient: ada.email, envid: ada.delivered.envid ?? '' });
  await talk.submit({ to: ['postmaster@in.beckon.test'], raw });
  expect(await outcomes(ada.userId)).toMatchObject([{ class: '' }]);
  expect(await suppressed(ada.email)).toEqual(['hard_bounce']);
});

test.each(['the email itself', 'its Message-ID'])(
  'a bounce identified only by %s is recorded, and suppresses no address',
  async (what) => {
    const ada = await person();
    const head = headOf(ada).replaceAll(/^(?:Return-Path|Reply-To):.*\r\n(?:[ \t].*\r\n)*/gim, '');
    const returned =
      what === 'the email itself'
        ? head
        : `From: hello@${scenario.domain}\r\nSubject: x\r\nMessage-ID: ${ada.messageId}`;
    await talk.submit({ to: ['postmaster@in.beckon.test'], raw: dsn({ recipient: ada.email, returned }) });
    expect(await outcomes(ada.userId)).toMatchObject([{ class: 'unverified' }]);
    expect(await suppressed(ada.email)).toEqual([]);
  },
);

test('a token suppresses no address after 30 days', async () => {
  const ada = await person();
  await scenario.later(31 * DAY);
  await talk.submit({ to: [ada.bounceTo], raw: dsn({ recipient: ada.email }) });
  expect(await outcomes(ada.userId)).toMatchObject([{ class: 'unverified' }]);
  expect(await suppressed(ada.email)).toEqual([]);
});

test('a complaint that returns the email suppresses the address and the user', async () => {
  const ada = await person();
  await talk.submit({
    from: 'feedback@isp.test',
    to: ['fbl@in.beckon.test'],
    raw: complaint({ returned: headOf(ada) }),
  });
  expect(await outcomes(ada.userId)).toMatchObject([
    { type: 'email.unsubscribed', class: 'complaint', detail: { method: 'complaint' } },
  ]);
  expect(await suppressed(ada.email, ada.userId)).toEqual(['complained', 'complained']);
});

test('a report that is not a complaint changes nothing', async () => {
  const ada = await person();
  for (const type of ['not-spam', 'auth-failure'])
    for (const to of ['abuse@in.beckon.test', ada.bounceTo, ada.replyTo])
      expect((await talk.submit({ to: [to], raw: complaint({ returned: headOf(ada), type }) })).data).toMatch(
        /^250/,
      );
  expect(await outcomes(ada.userId)).toEqual([]);
  expect(await thread(ada.userId)).toEqual([]);
});

test('an email to the unsubscribe address unsubscribes, whatever its sender', async () => {
  const ada = await person();
  const raw = recipientReply({
    from: 'somebody@else.test',
    to: ada.unsubscribeTo,
    subject: 'unsubscribe',
    body: '',
  });
  await talk.submit({ from: 'somebody@else.test', to: [ada.unsubscribeTo], raw });
  expect(await outcomes(ada.userId)).toMatchObject([{ detail: { method: 'mailto' } }]);
  expect(await suppressed(ada.email, ada.userId)).toEqual(['unsubscribed', 'unsubscribed']);
});

test('a reply is stored without its quotation, is an outcome, and waits to be forwarded', async () => {
  const ada = await person();
  const from = `"Ada \\"L\\" Lovelace" <${ada.email}>`;
  const raw = recipientReply({ from, to: ada.replyTo, inReplyTo: ada.messageId });
  for (let n = 0; n < 2; n += 1) {
    const { data } = await talk.submit({
      from: ada.email,
      to: [ada.replyTo],
      raw: raw.replace(/0\.\d+@/, 'one@'),
    });
    expect(data).toMatch(/^250/);
  }
  expect(await thread(ada.userId)).toEqual([
    {
      kind: 'reply',
      verified: 'recipient',
      from_address: ada.email,
      subject: 'Re: Welcome',
      text: 'Thanks, that helped.',
      forwards: true,
    },
  ]);
  expect(await outcomes(ada.userId)).toMatchObject([
    { type: 'email.replied', detail: { snippet: 'Thanks, that helped.', auto_reply: false } },
  ]);
});

test('a recipient with an apostrophe in their address is recognized as the recipient', async () => {
  const obrien = await sendTo(scenario, 'obrien', "o'brien@home.test");
  const raw = recipientReply({ from: `Pat O'Brien <${obrien.email}>`, to: obrien.replyTo });
  await talk.submit({ from: obrien.email, to: [obrien.replyTo], raw });
  expect(await thread('obrien')).toMatchObject([
    { verified: 'recipient', from_address: obrien.email, forwards: true },
  ]);
});

test('the name of a sender is kept in any script, on one line, without control characters', async () => {
  const ada = await person();
  const name = `Жора\r\nBcc: eve@evil.test\u001b[2J ${'я'.repeat(300)}`;
  const from = `=?utf-8?B?${Buffer.from(name).toString('base64')}?= <${ada.email}>`;
  const raw = recipientReply({ from, to: ada.replyTo });
  await talk.submit({ from: ada.email, to: [ada.replyTo], raw });
  const [row] = await db.query<{ from_name: string }>(
    `SELECT from_name FROM beckon.reply WHERE project_id = $1 AND external_user_id = $2`,
    [projectId, ada.userId],
  );
  expect(row?.from_name).toMatch(/^Жора Bcc: eve@evil\.test \[2J я+$/);
  expect(row?.from_name).toHaveLength(200);
});

test('an automatic reply is kept in the thread, and ends nothing', async () => {
  const ada = await person();
  const raw = recipientReply({
    from: ada.email,
    to: ada.bounceTo,
    subject: 'Out of office',
    headers: ['Auto-Submitted: auto-replied'],
  });
  await talk.submit({ to: [ada.bounceTo], raw });
  expect(await thread(ada.userId)).toMatchObject([{ kind: 'auto_reply', forwards: false }]);
  expect(await outcomes(ada.userId)).toEqual([]);
});

test.each([
  [
    'SNS notification with broken JSON',
    {
      subject: 'AWS Notification Message',
      headers: ['x-amz-sns-message-id: 1'],
      body: '{"notificationType":"Bounce","bo',
    },
  ],
  [
    'forwarded bounce',
    {
      subject: 'Fwd: Undelivered Mail Returned to Sender',
      headers: [],
      body: 'From: MAILER-DAEMON@mx.example.org\r\n\r\nYour message could not be delivered.',
    },
  ],
])('keeps a %s from the recipient in the thread, and ends nothing', async (_what, written) => {
  const ada = await person();
  const raw = recipientReply({ from: ada.email, to: ada.replyTo, ...written });
  await talk.submit({ from: ada.email, to: [ada.replyTo], raw });
  expect(await thread(ada.userId)).toMatchObject([{ kind: 'auto_reply', forwards: false }]);
  expect(await outcomes(ada.userId)).toEqual([]);
});

test("a reply to an email about absences counts as a person's reply", async () => {
  const ada = await person();
  await db.query(
    `UPDATE beckon.draft d SET subject = 'Out of office, made simple' FROM beckon.email m
     WHERE m.project_id = $1 AND m.external_user_id = $2 AND d.project_id = $1 AND d.id = m.draft_id`,
    [projectId, ada.userId],
  );
  const submit = (subject: string) =>
    talk.submit({
      from: ada.email,
      to: [ada.replyTo],
      raw: recipientReply({ from: ada.email, to: ada.replyTo, subject }),
    });
  await submit('Out of office until Monday');
  expect(await thread(ada.userId)).toMatchObject([{ kind: 'auto_reply' }]);
  await submit('Re: Out of office, made simple');
  // Both arrived in the same moment, in no order.
  const kept = await thread(ada.userId);
  expect(kept).toHaveLength(2);
  expect(kept).toContainEqual(expect.objectContaining({ kind: 'reply', forwards: true }));
  expect(await outcomes(ada.userId)).toMatchObject([{ type: 'email.replied' }]);
});

test('a reply from another address is kept, and ends nothing', async () => {
  const ada = await person();
  const raw = recipientReply({ from: 'bob@else.test', to: ada.replyTo });
  await talk.submit({ from: 'bob@else.test', to: [ada.replyTo], raw });
  expect(await thread(ada.userId)).toMatchObject([
    { verified: 'token', from_address: 'bob@else.test', forwards: true },
  ]);
  expect(await outcomes(ada.userId)).toEqual([]);
});

test('a colleague at an authenticated domain replies for the recipient', async () => {
  const ada = await person();
  stage.dns.set('TXT', 'home.test', ['v=spf1 ip4:127.0.0.1 -all']);
  stage.dns.set('TXT', '_dmarc.home.test', ['v=DMARC1; p=reject']);
  const raw = recipientReply({ from: 'bob@home.test', to: ada.replyTo });
  await talk.submit({
    from: 'bob@home.test',
    to: [ada.replyTo],
    raw: `Received: from mx.home.test ([127.0.0.1])\r\n\tby here with ESMTP; Fri, 2 Jan 2026 03:04:05 +0000\r\n${raw}`,
  });
  expect(await thread(ada.userId)).toMatchObject([{ verified: 'domain' }]);
  expect(await outcomes(ada.userId)).toMatchObject([{ type: 'email.replied' }]);
  for (const name of ['home.test', '_dmarc.home.test']) stage.dns.remove('TXT', name);
});

test('without a token, a reply counts if the domain authenticates the recipient and it names the email', async () => {
  const ada = await person();
  stage.dns.set('TXT', 'home.test', ['v=spf1 ip4:192.0.2.7 -all']);
  stage.dns.set('TXT', '_dmarc.home.test', ['v=DMARC1; p=none']);
  const received = (ip: string): string =>
    `Received: from mx.home.test ([${ip}])\r\n\tby here with ESMTP\r\n`;
  const raw = recipientReply({ from: ada.email, to: 'postmaster@in.beckon.test', inReplyTo: ada.messageId });
  const submit = (ip: string) =>
    talk.submit({ from: ada.email, to: ['postmaster@in.beckon.test'], raw: received(ip) + raw });
  await submit('192.0.2.8');
  expect(await thread(ada.userId)).toEqual([]);
  await submit('192.0.2.7');
  expect(await thread(ada.userId)).toMatchObject([{ verified: 'reference' }]);
  expect(await outcomes(ada.userId)).toMatchObject([{ type: 'email.replied' }]);
  for (const name of ['home.test', '_dmarc.home.test']) stage.dns.remove('TXT', name);
});

test.each(['quarantine', 'reject'])(
  "a reply that fails its domain's policy %s is kept, but does not count",
  async (policy) => {
    const ada = await person();
    stage.dns.set('TXT', 'home.test', ['v=spf1 -all']);
    stage.dns.set('TXT', '_dmarc.home.test', [`v=DMARC1; p=${policy}`]);
    const raw = recipientReply({ from: ada.email, to: ada.replyTo });
    await talk.submit({ from: ada.email, to: [ada.replyTo], raw });
    expect(await thread(ada.userId)).toMatchObject([{ verified: 'failed', forwards: false }]);
    expect(await outcomes(ada.userId)).toEqual([]);
    for (const name of ['home.test', '_dmarc.home.test']) stage.dns.remove('TXT', name);
  },
);

test('a reply with two authors fails verification: one would be shown and the other verified', async () => {
  const ada = await person();
  const raw = recipientReply({ from: ada.email, to: ada.replyTo, headers: ['From: eve@evil.test'] });
  await talk.submit({ from: 'eve@evil.test', to: [ada.replyTo], raw });
  expect(await thread(ada.userId)).toMatchObject([{ verified: 'failed' }]);
});

test.each(['ada@müller.test', '"ada of"@home.test', 'Ada'])(
  'a reply from the unreadable address %s is refused, so that its sender learns of it',
  async (from) => {
    const ada = await person();
    const raw = recipientReply({ from, to: ada.replyTo });
    const { data } = await talk.submit({ from: ada.email, to: [ada.replyTo], raw });
    expect(data).toMatch(/^550 5\.6\.0 /);
    expect(await thread(ada.userId)).toEqual([]);
    const left = await talk.submit({ from: ada.email, to: [ada.unsubscribeTo], raw });
    expect(left.data).toMatch(/^250/);
  },
);

test('an email that Beckon forwarded itself is neither kept nor forwarded again', async () => {
  const ada = await person();
  const raw = recipientReply({ from: ada.email, to: ada.replyTo, headers: ['X-Beckon-Forwarded: 1'] });
  expect((await talk.submit({ from: ada.email, to: [ada.replyTo], raw })).data).toMatch(/^250/);
  expect(await thread(ada.userId)).toEqual([]);
});

test('mail gets a temporary error while the database is unavailable, and is not lost', async () => {
  const ada = await person();
  const raw = dsn({ recipient: ada.email });
  await withoutDatabase(stage.server.database, async () => {
    expect((await talk.submit({ to: [ada.bounceTo], raw })).data).toMatch(/^451 /);
  });
  expect((await talk.submit({ to: [ada.bounceTo], raw })).data).toMatch(/^250 /);
  expect(await outcomes(ada.userId)).toHaveLength(1);
});

test('mail for an erased user is not kept, and a reply is refused', async () => {
  const ada = await person();
  await db.query('DELETE FROM beckon.email WHERE project_id = $1 AND external_user_id = $2', [
    projectId,
    ada.userId,
  ]);
  const { data } = await talk.submit({
    from: ada.email,
    to: [ada.replyTo],
    raw: recipientReply({ from: ada.email, to: ada.replyTo }),
  });
  expect(data).toMatch(/^550 5\.1\.1 /);
  const bounced = await talk.submit({ to: [ada.bounceTo], raw: dsn({ recipient: ada.email }) });
  expect(bounced.data).toMatch(/^250/);
  expect(await thread(ada.userId)).toEqual([]);
});

async function fillThread(userId: string): Promise<void> {
  await db.query(
    `INSERT INTO beckon.reply (project_id, id, email_id, draft_id, external_user_id, inbound_id, kind, verified, received_at,
       from_address, from_name, subject, text)
     SELECT $1, gen_random_uuid(), m.id, m.draft_id, m.external_user_id, n::text, 'reply', 'token', now(), '', '', '', ''
     FROM beckon.email m, generate_series(1, 100) n WHERE m.project_id = $1 AND m.external_user_id = $2`,
    [projectId, userId],
  );
}

test('replies to an email are limited, and no further one is kept', async () => {
  const ada = await person();
  await fillThread(ada.userId);
  const raw = recipientReply({ from: ada.email, to: ada.replyTo });
  expect((await talk.submit({ from: ada.email, to: [ada.replyTo], raw })).data).toMatch(/^550 /);
  expect(await thread(ada.userId)).toHaveLength(100);
});

test('a reply ends the runs of its recipient', async () => {
  const ada = await person();
  const steps = [
    { draft: { subject: 'One', body: 'Hello.' } },
    { wait: '2d' },
    { draft: { subject: 'Two', body: 'Hello.' } },
  ];
  await scenario.rule({
    name: `Two for ${ada.userId}`,
    when: { event: `began_${ada.userId}` },
    mode: 'autopilot',
    steps,
  });
  await scenario.event(ada.userId, `began_${ada.userId}`);
  await scenario.later(2 * 3_600_000);
  expect(await scenario.runs(ada.userId, `Two for ${ada.userId}`)).toMatchObject([{ end_reason: null }]);
  await talk.submit({
    from: ada.email,
    to: [ada.replyTo],
    raw: recipientReply({ from: ada.email, to: ada.replyTo }),
  });
  expect(await scenario.runs(ada.userId, `Two for ${ada.userId}`)).toMatchObject([{ end_reason: 'replied' }]);
});

test('a personal email to a role address is refused, so that its sender learns of it', async () => {
  const raw = recipientReply({ from: 'zoe@home.test', to: 'abuse@in.beckon.test', subject: 'Hello?' });
  const { data } = await talk.submit({ from: 'zoe@home.test', to: ['abuse@in.beckon.test'], raw });
  expect(data).toMatch(/^550 5\.1\.1 /);
  const stray = await talk.submit({
    to: ['postmaster@in.beckon.test'],
    raw: dsn({ recipient: 'zoe@home.test' }),
  });
  expect(stray.data).toMatch(/^250/);
});

test.each([
  { where: 'to those who read complaints', to: 'abuse@in.beckon.test', says: /^550 5\.1\.1 / },
  { where: 'from an unreadable address', to: 'r', from: '"ada of"@home.test', says: /^550 5\.6\.0 / },
  { where: 'where nothing more is kept', to: 'r', isFull: true, says: /^550 5\.1\.1 / },
  { where: 'to the unsubscribe address of a deleted email', to: 'u', isGone: true, says: /^250 / },
])(
  'the word unsubscribe alone, $where, does not unsubscribe',
  async ({ to, from = 'ada@home.test', isFull = false, isGone = false, says }) => {
    const ada = await person();
    const raw = recipientReply({ from, to: ada.replyTo, subject: 'Unsubscribe', body: 'Unsubscribe' });
    if (isFull) await fillThread(ada.userId);
    if (isGone)
      await db.query('DELETE FROM beckon.email WHERE project_id = $1 AND external_user_id = $2', [
        projectId,
        ada.userId,
      ]);
    const address = { r: ada.replyTo, u: ada.unsubscribeTo }[to] ?? to;
    expect((await talk.submit({ from: ada.email, to: [address], raw })).data).toMatch(says);
    expect(await outcomes(ada.userId)).toEqual([]);
  },
);

test('mail from elsewhere is verified by the address of its own client, whatever its headers say', async () => {
  const ada = await person();
  stage.dns.set('TXT', 'home.test', ['v=spf1 ip4:192.0.2.7 -all']);
  stage.dns.set('TXT', '_dmarc.home.test', ['v=DMARC1; p=none']);
  const raw = `Received: from mx.home.test ([192.0.2.7])\r\n\tby here with ESMTP\r\n${recipientReply({ from: ada.email, to: 'abuse@in.beckon.test', inReplyTo: ada.messageId })}`;
  const arrived = {
    from: ada.email,
    to: ['abuse@in.beckon.test'],
    raw: Buffer.from(raw),
    helo: 'mx.home.test',
  };
  const deps = { ...inboundDeps(stage), db };
  expect(await receiveMail(deps, { ...arrived, remote: '203.0.113.7', isNear: false })).toMatchObject({
    code: 550,
  });
  expect(await thread(ada.userId)).toEqual([]);
  expect(await receiveMail(deps, { ...arrived, remote: '192.0.2.7', isNear: false })).toBeNull();
  expect(await thread(ada.userId)).toMatchObject([{ verified: 'reference' }]);
  for (const name of ['home.test', '_dmarc.home.test']) stage.dns.remove('TXT', name);
});

test('without reply_forward_to, replies go to the address that the customer set', async () => {
  const other = await newVerifiedScenario(stage);
  const zoe = await sendTo(other, 'zoe', 'zoe@home.test');
  expect(zoe.replyTo).toBe(`help@${other.domain}`);
  await other.set({ reply_forward_to: 'team@acme.test' });
  const yan = await sendTo(other, 'yan', 'yan@home.test');
  expect(yan.replyTo).toMatch(/^r\+[a-z2-7.]+@in\.beckon\.test$/);
});

test('a token is enough while DNS fails, and mail without one is not trusted', async () => {
  const ada = await person();
  stage.dns.fail('servfail');
  const raw = recipientReply({ from: ada.email, to: ada.replyTo, inReplyTo: ada.messageId });
  await talk.submit({ from: ada.email, to: ['postmaster@in.beckon.test'], raw });
  expect(await thread(ada.userId)).toEqual([]);
  await talk.submit({ from: ada.email, to: [ada.replyTo], raw });
  expect(await thread(ada.userId)).toMatchObject([{ verified: 'recipient' }]);
  stage.dns.fail(null);
});
