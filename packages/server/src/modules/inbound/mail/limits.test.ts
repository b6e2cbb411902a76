import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { recipientReply, dsn, openInbound, sendTo } from '../../../../testing/factories/inbound-email.ts';
import { newVerifiedScenario, openMailStage } from '../../../../testing/factories/mail-stage.ts';
import { openTalk, type Talk } from '../../../../testing/servers/smtp-client.ts';

const stage = await openMailStage();
const { db } = stage.server;
const { talk, port } = await openInbound(stage);
const scenario = await newVerifiedScenario(stage);
await scenario.set({ reply_forward_to: 'team@acme.test' });
const ada = await sendTo(scenario, 'ada', 'ada@home.test');

async function another(to = port): Promise<Talk> {
  const connection = await openTalk(to);
  onTestFinished(() => connection.close());
  return connection;
}

async function count(table: 'outcome' | 'reply'): Promise<number> {
  const [row] = await db.query<{ n: number }>(`SELECT count(*)::int AS n FROM beckon.${table}`);
  return row?.n ?? 0;
}

test('accepts no recipient but a valid token and the role addresses for complaints', async () => {
  const token = ada.bounceTo.slice(2, ada.bounceTo.indexOf('@'));
  const swapped = token.replace(/.$/, (sign) => (sign === 'a' ? 'b' : 'a'));
  const refused = [
    'ada@home.test',
    'b+@x.test',
    `b+${swapped}@x.test`,
    // A token for one use is invalid for any other.
    `r+${token}@x.test`,
    `u+${token}@x.test`,
    'postmaster@else.test',
    'root@in.beckon.test',
    `c+${token}@x.test`,
  ];
  const accepted = [ada.bounceTo, `B+${token.toUpperCase()}@ANY.test`, ada.replyTo, ada.unsubscribeTo];
  const roles = ['postmaster@in.beckon.test', 'Abuse@IN.beckon.test', 'fbl@in.beckon.test'];
  const connection = await another();
  for (const to of refused) {
    const { rcpt, data } = await connection.submit({ to: [to], raw: 'x' });
    expect([to, rcpt[0]?.slice(0, 9), data]).toEqual([to, '550 5.1.1', '']);
  }
  for (const to of [...accepted, ...roles]) {
    await connection.say('RSET');
    await connection.say('MAIL FROM:<>');
    expect([to, (await connection.say(`RCPT TO:<${to}>`)).slice(0, 3)]).toEqual([to, '250']);
  }
});

test('limits the recipients of an email', async () => {
  const connection = await another();
  await connection.say('MAIL FROM:<>');
  for (let n = 0; n < 5; n += 1)
    expect(await connection.say(`RCPT TO:<${ada.bounceTo.replace('@', `@${n}.`)}>`)).toMatch(/^250/);
  expect(await connection.say(`RCPT TO:<${ada.bounceTo.replace('@', '@6.')}>`)).toMatch(/^452 4\.5\.3/);
});

test('refuses more than ten megabytes permanently, declared or not, and keeps the connection', async () => {
  const connection = await another();
  expect(await connection.say(`MAIL FROM:<> SIZE=${11 * 1024 * 1024}`)).toMatch(/^552/);
  const raw = `Subject: x\r\n\r\n${'x'.repeat(1_000)}\r\n`.repeat(11_000);
  const { data } = await connection.submit({ to: [ada.bounceTo], raw });
  expect(data).toMatch(/^552 5\.3\.4/);
  expect(await connection.say('NOOP')).toMatch(/^250/);
});

test('refuses large mail to a role address, which anyone may write to, without reading it all', async () => {
  const connection = await another();
  const raw = `Subject: x\r\n\r\n${'x'.repeat(998)}\r\n`.repeat(1_100);
  expect((await connection.submit({ to: ['fbl@in.beckon.test'], raw })).data).toMatch(/^552 5\.3\.4/);
});

test('answers some concurrent emails with a retry instead of filling the memory', async () => {
  const talks = await Promise.all(Array.from({ length: 8 }, () => another()));
  for (const connection of talks) {
    await connection.say('MAIL FROM:<>');
    await connection.say(`RCPT TO:<${ada.bounceTo}>`);
    await connection.say('DATA');
  }
  const line = `${'y'.repeat(998)}\r\n`;
  for (const connection of talks) {
    connection.socket.write('Subject: x\r\n\r\n');
    if (!connection.socket.write(line.repeat(9_500))) await once(connection.socket, 'drain');
  }
  const replies = await Promise.all(talks.map((connection) => connection.say('.')));
  const codes = replies.map((text) => text.slice(0, 9));
  expect(new Set(codes)).toEqual(new Set(['250 2.0.0', '452 4.3.1']));
  expect(
    (await talk.submit({ to: [ada.bounceTo], raw: dsn({ recipient: 'x@y.test', action: 'delayed' }) })).data,
  ).toMatch(/^250/);
});

test('ignores an email whose client disconnects before its end', async () => {
  const before = [await count('outcome'), await count('reply')];
  const raw = dsn({ recipient: ada.email });
  for (const part of [0.3, 0.9, 1]) {
    const connection = await another();
    await connection.say('MAIL FROM:<>');
    await connection.say(`RCPT TO:<${ada.bounceTo}>`);
    await connection.say('DATA');
    connection.socket.write(raw.slice(0, Math.floor(raw.length * part)));
    connection.socket.end();
    await once(connection.socket, 'close');
  }
  expect([await count('outcome'), await count('reply')]).toEqual(before);
});

const MALFORMED = [
  '',
  '\r\n',
  ':',
  'From',
  'Content-Type: multipart/report; report-type=delivery-status\r\n\r\n',
  'Content-Type: multipart/mixed; boundary="A"\r\n\r\n--A\r\n--A\r\n--A--\r\n--A--',
  `Content-Type: multipart/mixed; boundary="A"\r\n\r\n${'--A\r\nContent-Type: multipart/mixed; boundary="A"\r\n\r\n'.repeat(200)}`,
  `From: ${'<'.repeat(5_000)}@x\r\nSubject: =?utf-8?B?${'A'.repeat(5_000)}?=\r\n\r\nx`,
  `Content-Transfer-Encoding: base64\r\n\r\n${'='.repeat(5_000)}`,
  'From: a@b.test\r\nSubject: \0\0\r\nContent-Type: text/html; charset=x-nothing\r\n\r\n<p>\0\ud800',
  `${'X-A: b\r\n'.repeat(5_000)}\r\n`,
  `From: \udfff <a@b.test>\r\nMessage-ID: ${'<'.repeat(3_000)}\r\nReferences: ${'<a@b> '.repeat(3_000)}\r\n\r\n`,
];

test.each(MALFORMED.map((raw, n) => [n, raw]))(
  'answers malformed mail %i, and keeps working',
  async (_n, raw) => {
    for (const to of [ada.bounceTo, ada.replyTo, 'fbl@in.beckon.test']) {
      const { data } = await talk.submit({ from: 'eve@evil.test', to: [to], raw });
      expect(data).toMatch(/^(250|550)/);
    }
  },
);

const tls = {
  key: readFileSync(new URL('../../../../testing/servers/tls/first.key', import.meta.url)),
  cert: readFileSync(new URL('../../../../testing/servers/tls/first.crt', import.meta.url)),
};

test('offers STARTTLS with a certificate without requiring it, and not without one', async () => {
  expect(await (await another()).say('EHLO x')).not.toContain('STARTTLS');
  const secure = await openInbound(stage, { tls });
  const plain = await another(secure.port);
  expect(await plain.say('EHLO x')).toContain('STARTTLS');
  expect(
    (await plain.submit({ to: [ada.bounceTo], raw: dsn({ recipient: 'x@y.test', action: 'delayed' }) })).data,
  ).toMatch(/^250/);
  expect(await plain.say('STARTTLS')).toMatch(/^220/);
  plain.socket.removeAllListeners('data');
  const inner = connectTls({ socket: plain.socket, rejectUnauthorized: false });
  await once(inner, 'secureConnect');
  inner.write('EHLO x\r\n');
  const [hello] = (await once(inner, 'data')) as [Buffer];
  expect(hello.toString()).toMatch(/^250/);
  inner.destroy();
});

test('stores a reply once that two servers submit at once, to two processes', async () => {
  const bob = await sendTo(scenario, 'bob', 'bob@home.test');
  const other = await openInbound(stage);
  const raw = recipientReply({ from: bob.email, to: bob.replyTo, id: '<one@home.test>' });
  const talks = [talk, other.talk, await another(), await another(other.port)];
  const replies = await Promise.all(
    talks.map((connection) => connection.submit({ from: bob.email, to: [bob.replyTo], raw })),
  );
  expect(replies.map(({ data }) => data.slice(0, 3))).toEqual(['250', '250', '250', '250']);
  const [row] = await db.query(
    `SELECT (SELECT count(*)::int FROM beckon.reply WHERE external_user_id = 'bob') AS replies,
            (SELECT count(*)::int FROM beckon.outcome WHERE external_user_id = 'bob') AS outcomes`,
  );
  expect(row).toEqual({ replies: 1, outcomes: 1 });
});
