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
