import { describe, expect, it, test, vi } from 'vitest';
import { authenticateMail, type MailAuthentication } from './authenticate.ts';

type AuthenticationResult = MailAuthentication & { queries: number };

type Source = { author?: string; records?: Record<string, string> };

/** Answers DNS queries only from `records`. */
async function authenticate(
  raw: string,
  { author = 'ada@home.test', records = {} }: Source = {},
): Promise<AuthenticationResult> {
  let queries = 0;
  const found = await authenticateMail(
    {
      raw: Buffer.from(raw),
      remote: '192.0.2.1',
      isNear: false,
      helo: 'home.test',
      from: 'ada@home.test',
      author,
    },
    (name, type) => {
      queries += 1;
      const record = type === 'TXT' ? records[name] : undefined;
      if (record !== undefined) return Promise.resolve([[record]]);
      return Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
    },
  );
  return { ...found, queries };
}

const FROM = 'From: ada@home.test\r\n';
const BODY = '\r\nThanks!\r\n';
const REFUSED: AuthenticationResult = { dmarc: 'fail', policy: 'reject', queries: 0 };

/** Each signature covers a different length of the body, so that no hash can be shared. */
function signatures(count: number, name = 'DKIM-Signature'): string {
  const of = (length: number): string =>
    `${name}: v=1; a=rsa-sha256; c=relaxed/relaxed; d=home.test; s=s; h=from; l=${length}; bh=AA==; b=AA==\r\n`;
  return Array.from({ length: count }, (_, i) => of(i)).join('');
}

test('rejects an email with more signatures than any real one, without a DNS query', async () => {
  expect(await authenticate(`${signatures(11)}${FROM}${BODY}`)).toEqual(REFUSED);
  expect(
    await authenticate(`${signatures(11, 'dkim-SIGNATURE\t')}${FROM}${BODY}`.replaceAll('\r', '')),
  ).toEqual(REFUSED);
  expect(await authenticate(`${signatures(10)}${FROM}${BODY}`)).toMatchObject({
    dmarc: 'none',
    policy: 'none',
  });
  expect(await authenticate(`${FROM}${BODY}${signatures(50)}`)).toMatchObject({
    dmarc: 'none',
    policy: 'none',
  });
});

test('rejects an email whose proof is for another author', async () => {
  const { queries: _, ...refused } = REFUSED;
  expect(await authenticate(`From: eve@evil.test\r\n${BODY}`)).toMatchObject(refused);
  expect(await authenticate(`From: Ada <ADA@home.test>\r\n${BODY}`)).toMatchObject({
    dmarc: 'none',
    policy: 'none',
  });
  expect(await authenticate(`From: Both: ada@home.test, eve@evil.test;\r\n${BODY}`)).toMatchObject(refused);
});

test('rejects an email with a longer header than any real one, without a DNS query', async () => {
  const long = 70 * 1024;
  expect(await authenticate(`X-A: ${'\r\n b'.repeat(long / 4)}\r\n${FROM}${BODY}`)).toEqual(REFUSED);
  expect(await authenticate(`From: ${'a@b.test,'.repeat(long / 9)}\r\n${BODY}`)).toEqual(REFUSED);
  expect(await authenticate(FROM + 'X-A: b\r\n'.repeat(long / 8))).toEqual(REFUSED);
  expect(await authenticate(`${FROM}${BODY}${'x'.repeat(long)}`)).toMatchObject({
    dmarc: 'none',
    policy: 'none',
  });
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
])('rejects an email with more %s than any real one, without a DNS query', async (_, header) => {
  expect(await authenticate(`${header}${BODY}`)).toEqual(REFUSED);
});

describe('authenticateMail', () => {
  const signedBy = (tag: string): string =>
    `DKIM-Signature: v=1; a=rsa-sha256; h=from; bh=AA==; b=AA==; ${tag}\r\n`;
  const SEAL = 'ARC-Seal: i=1; a=rsa-sha256; cv=none; s=s; b=AA==; ';

  it.each([
    ['domain', signedBy(`s=s; d=${'.'.repeat(1_100)}x`)],
    ['domain of non-ASCII letters', signedBy(`s=s; D =${'é'.repeat(600)}`)],
    ['selector', signedBy(`d=home.test; s=${'a.'.repeat(600)}`)],
    ['identity, folded', signedBy(`d=home.test; s=s; i=@${'a.\r\n '.repeat(600)}`)],
    ['domain of a seal', `${SEAL}d=${'.'.repeat(1_100)}x\r\n`],
    ['return path', `Return-Path: <${'b='.repeat(1_100)}>\r\n`],
  ])('rejects an overlong %s without a DNS query', async (_what, field) => {
    expect(await authenticate(`${field}${FROM}${BODY}`)).toEqual(REFUSED);
  });

  it.each([
    ['one level lower in test mode', 'v=DMARC1; p=reject; t=y', 'ada@home.test', 'quarantine'],
    ['of the parent to a subdomain', 'v=DMARC1; p=none; sp=reject', 'ada@sub.home.test', 'reject'],
    ['for names that do not exist', 'v=DMARC1; p=none; sp=none; np=reject', 'ada@sub.home.test', 'reject'],
    ['none without a valid policy or a report address', 'v=DMARC1; p=maybe', 'ada@home.test', 'none'],
  ])('applies the DMARC policy %s', async (_title, record, ...[author, policy]) => {
    const raw = `From: ${author}\r\n${BODY}`;
    const found = await authenticate(raw, { author, records: { '_dmarc.home.test': record } });
    expect(found).toMatchObject({ policy, dmarc: policy === 'none' ? 'none' : 'fail' });
  });

  it('passes an email whose SPF domain is at or below the organizational domain of its author', async () => {
    const records = { '_dmarc.home.test': 'v=DMARC1; p=reject', 'home.test': 'v=spf1 ip4:192.0.2.1 -all' };
    expect(
      await authenticate(`From: ada@sub.home.test\r\n${BODY}`, { author: 'ada@sub.home.test', records }),
    ).toMatchObject({ dmarc: 'pass', policy: 'reject' });
    const apart = { ...records, '_dmarc.sub.home.test': 'v=DMARC1; p=reject; psd=n' };
    expect(
      await authenticate(`From: ada@sub.home.test\r\n${BODY}`, {
        author: 'ada@sub.home.test',
        records: apart,
      }),
    ).toMatchObject({ dmarc: 'fail', policy: 'reject' });
  });

  it('accepts names of any length that occurs in honest emails', async () => {
    const signature = signedBy(
      `d=${'a'.repeat(60)}.${'b.'.repeat(90)}home.test; s=s; i=${'=C3=A9'.repeat(64)}@home.test`,
    );
    const long = `X-Note: ${'x'.repeat(5_000)}\r\n${signedBy(`d=home.test; s=s; z=${'z'.repeat(5_000)}`)}`;
    for (const field of [signature, long, `Return-Path: <${'a'.repeat(250)}@home.test>\r\n`])
      expect(await authenticate(`${field}${FROM}${BODY}`)).toMatchObject({ dmarc: 'none', policy: 'none' });
  });
});

test("treats an email with too many short lines to hash quickly as unproven, and applies its author's policy", async () => {
  const lines = '\n'.repeat(60_000);
  expect(await authenticate(`${signatures(10)}${FROM}\r\n${lines}`)).toMatchObject({
    dmarc: 'unknown',
    policy: 'none',
  });
  expect(await authenticate(`${signatures(1)}${FROM}\r\n${lines}`)).toMatchObject({
    dmarc: 'none',
    policy: 'none',
  });
});

test('authenticates an email with hundreds of recipients, many relays and padded lines like any other', async () => {
  const to = Array.from({ length: 500 }, (_, i) => `person-${i}@home.test`).join(',\r\n ');
  const hop = `Received: from a.test (a.test [192.0.2.1])\r\n${' '.repeat(40)}by b.test;\r\n\tMon, 2 Feb 2026 10:00:00 +0000\r\n`;
  const raw = `${hop.repeat(40)}${signatures(4)}Subject: ${' '.repeat(150)}Hello\r\r\nTo: ${to}\r\n${FROM}${BODY}`;
  expect(await authenticate(raw)).toMatchObject({ dmarc: 'none', policy: 'none' });
});

test("applies the author's policy if the sender's name servers never answer", async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const spfQuery = Promise.withResolvers<void>();
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
        return Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
      spfQuery.resolve();
      return new Promise(() => {});
    },
  );
  await spfQuery.promise;
  await vi.runAllTimersAsync();
  vi.useRealTimers();
  expect(await found).toEqual({ dmarc: 'fail', policy: 'reject' });
});
