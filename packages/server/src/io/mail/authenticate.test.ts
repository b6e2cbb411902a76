import { expect, test, vi } from 'vitest';
import { authenticateMail, type MailAuthentication } from './authenticate.ts';

type Asked = MailAuthentication & { questions: number };

/** By a DNS that knows nobody. */
async function ask(raw: string): Promise<Asked> {
  let questions = 0;
  const [from, author] = ['ada@home.test', 'ada@home.test'];
  const found = await authenticateMail(
    { raw: Buffer.from(raw), remote: '192.0.2.1', isNear: false, helo: 'home.test', from, author },
    () => {
      questions += 1;
      return Promise.reject(Object.assign(new Error('nobody'), { code: 'ENOTFOUND' }));
    },
  );
  return { ...found, questions };
}

const FROM = 'From: ada@home.test\r\n';
const BODY = '\r\nThanks!\r\n';
const REFUSED: Asked = { dmarc: 'fail', policy: 'reject', questions: 0 };

/** Each covers another length of the body, so that nothing is hashed once for two. */
function signatures(count: number, name = 'DKIM-Signature'): string {
  const of = (length: number): string =>
    `${name}: v=1; a=rsa-sha256; c=relaxed/relaxed; d=home.test; s=s; h=from; l=${length}; bh=AA==; b=AA==\r\n`;
  return Array.from({ length: count }, (_, i) => of(i)).join('');
}

test("a mail with more signatures than any has is nobody's, and costs no question", async () => {
  expect(await ask(`${signatures(11)}${FROM}${BODY}`)).toEqual(REFUSED);
  expect(await ask(`${signatures(11, 'dkim-SIGNATURE\t')}${FROM}${BODY}`.replaceAll('\r', ''))).toEqual(
    REFUSED,
  );
  expect(await ask(`${signatures(10)}${FROM}${BODY}`)).toMatchObject({ dmarc: 'none', policy: 'none' });
  expect(await ask(`${FROM}${BODY}${signatures(50)}`)).toMatchObject({ dmarc: 'none', policy: 'none' });
});

test("a mail whose proof is another's is nobody's", async () => {
  const { questions: _, ...refused } = REFUSED;
  expect(await ask(`From: eve@evil.test\r\n${BODY}`)).toMatchObject(refused);
  expect(await ask(`From: Ada <ADA@home.test>\r\n${BODY}`)).toMatchObject({ dmarc: 'none', policy: 'none' });
  expect(await ask(`From: Both: ada@home.test, eve@evil.test;\r\n${BODY}`)).toMatchObject(refused);
});

test("a mail with a longer header than any has is nobody's, and costs no question", async () => {
  const long = 70 * 1024;
  expect(await ask(`X-A: ${'\r\n b'.repeat(long / 4)}\r\n${FROM}${BODY}`)).toEqual(REFUSED);
  expect(await ask(`From: ${'a@b.test,'.repeat(long / 9)}\r\n${BODY}`)).toEqual(REFUSED);
  expect(await ask(FROM + 'X-A: b\r\n'.repeat(long / 8))).toEqual(REFUSED);
  expect(await ask(`${FROM}${BODY}${'x'.repeat(long)}`)).toMatchObject({ dmarc: 'none', policy: 'none' });
});

test.each([
  ['returns', `X-A: ${'\r'.repeat(300)}\r\n${FROM}`],
  ['signs that part the values of a signature', `DKIM-Signature: v=1${'; '.repeat(200)}b=AA==\r\n${FROM}`],
  ['folds', `X-A: b${'\r\n b'.repeat(2_000)}\r\n${FROM}`],
  ['authors', `From: ${'ada@home.test, '.repeat(150)}\r\n`],
  ['authors, folded before the colon', `From\r\n : ${'ada@home.test, '.repeat(150)}\r\n`],
  ['authors, behind a return', `From: ada@home.test\r${'t>\r'.repeat(1_000)}\r\n`],
  ['authors in many fields', `From: ${'b='.repeat(60)}\r\n`.repeat(20)],
  ['words about one hop', `Received: ${'a=b '.repeat(1_500)}\r\n${FROM}`],
])("a mail with more %s than any has is nobody's, and costs no question", async (_, header) => {
  expect(await ask(`${header}${BODY}`)).toEqual(REFUSED);
});

test('a mail of more short lines than are hashed in a moment proves nothing, and its author decides what becomes of it', async () => {
  const lines = '\n'.repeat(60_000);
  expect(await ask(`${signatures(10)}${FROM}\r\n${lines}`)).toMatchObject({
    dmarc: 'unknown',
    policy: 'none',
  });
  expect(await ask(`${signatures(1)}${FROM}\r\n${lines}`)).toMatchObject({ dmarc: 'none', policy: 'none' });
});

test('a mail to hundreds, over many hops, whose lines are padded, is judged like any other', async () => {
  const to = Array.from({ length: 500 }, (_, i) => `person-${i}@home.test`).join(',\r\n ');
  const hop = `Received: from a.test (a.test [192.0.2.1])\r\n${' '.repeat(40)}by b.test;\r\n\tMon, 2 Feb 2026 10:00:00 +0000\r\n`;
  const raw = `${hop.repeat(40)}${signatures(4)}Subject: ${' '.repeat(150)}Hello\r\r\nTo: ${to}\r\n${FROM}${BODY}`;
  expect(await ask(raw)).toMatchObject({ dmarc: 'none', policy: 'none' });
});

test('whoever keeps the DNS from answering about themselves proves nothing against what the author wants', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const asked = Promise.withResolvers<void>();
  const found = authenticateMail(
    {
      raw: Buffer.from(`${FROM}${BODY}`),
      remote: '192.0.2.1',
      isNear: false,
      helo: 'mx.evil.test',
      from: 'eve@evil.test',
      author: 'ada@home.test',
    },
    (name) => {
      if (name === '_dmarc.home.test') return Promise.resolve([['v=DMARC1; p=reject']]);
      if (name !== 'evil.test')
        return Promise.reject(Object.assign(new Error('nobody'), { code: 'ENOTFOUND' }));
      asked.resolve();
      return new Promise(() => {});
    },
  );
  await asked.promise;
  await vi.runAllTimersAsync();
  vi.useRealTimers();
  expect(await found).toEqual({ dmarc: 'fail', policy: 'reject' });
});
