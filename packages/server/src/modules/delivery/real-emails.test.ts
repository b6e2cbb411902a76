import { promises as dns } from 'node:dns';
import { authenticate, type DNSResolver } from 'mailauth';
import { expect, test } from 'vitest';
import { newVerifiedScenario, openMailStage } from '../../../testing/factories/mail-stage.ts';
import { addMjmlEmail, EMAIL_NAMES, writeAll } from '../../../testing/factories/shipped-emails.ts';
import type { SunkEmail } from '../../../testing/servers/smtp-sink.ts';

const stage = await openMailStage();
const scenario = await newVerifiedScenario(stage);
// The strictest possible policy: only a signature of this exact domain counts.
stage.dns.set('TXT', `_dmarc.${scenario.domain}`, ['v=DMARC1; p=reject; adkim=s; aspf=s']);
const resolver = new dns.Resolver();
resolver.setServers(stage.dns.servers);

await addMjmlEmail(scenario);
const HOSTILE = 'Zoë "Ann", <b>\r\nBcc: eve@evil.test\u2028\u202E{{7|times:7}}';
await writeAll(scenario, { traits: { name: 'Ada', plan: 'pro' }, plan: 'pro', meter: 'seats' }, 'kind');
await writeAll(scenario, { traits: {}, plan: '', meter: '' }, 'bare');
await writeAll(
  scenario,
  { traits: { name: HOSTILE, plan: HOSTILE }, plan: HOSTILE, meter: HOSTILE },
  'hostile',
);
const emails = scenario.arrived();

/** Verifies an email with mailauth, which shares no code with the signer, against the DNS that has the key of the domain. */
async function authenticationOf(raw: string, { from }: SunkEmail) {
  const { dkim, dmarc } = await authenticate(Buffer.from(raw, 'latin1'), {
    ip: '192.0.2.1',
    helo: 'relay.postfix.test',
    sender: from,
    mta: 'mx.home.test',
    disableArc: true,
    disableBimi: true,
    // mailauth only queries record types that it can read.
    resolver: (name, type) => resolver.resolve(name, type) as ReturnType<DNSResolver>,
  });
  const [signature] = dkim.results;
  return {
    dkim: signature?.status.result,
    by: signature?.signingDomain,
    dmarc: dmarc ? dmarc.status.result : undefined,
    aligned: dmarc ? dmarc.alignment.dkim.result : undefined,
  };
}

/** Matches a header field with all its folded lines. */
const fieldOf = (name: string): RegExp => new RegExp(`^${name}:.*\\r\\n(?:[ \\t].*\\r\\n)*`, 'im');

test('delivers each shipped template and one in MJML to three users', () => {
  const to = emails.flatMap((email) => email.to).toSorted();
  const expected = ['kind', 'bare', 'hostile'].flatMap((user) =>
    EMAIL_NAMES.map((name) => `${user}-${name}@home.test`),
  );
  // A user who signs up gets the welcome email as well as the one about a stalled onboarding.
  expect([...new Set(to)]).toEqual(expected.toSorted());
  expect(emails.length).toBeGreaterThanOrEqual(expected.length);
});

test('signs every email for its own domain, and passes the strictest policy that a domain can have', async () => {
  for (const email of emails) {
    expect(await authenticationOf(email.raw, email)).toEqual({
      dkim: 'pass',
      by: scenario.domain,
      dmarc: 'pass',
      aligned: scenario.domain,
    });
  }
});

test.each(['List-Unsubscribe', 'List-Unsubscribe-Post'])(
  'has %s once in every email; changing, removing or adding it breaks the signature and DMARC',
  async (name) => {
    for (const email of emails) {
      const { raw } = email;
      const [head = ''] = raw.split('\r\n\r\n');
      expect(head.match(new RegExp(`^${name}:`, 'gim'))).toHaveLength(1);
      const changed = raw.replace(fieldOf(name), (field) => field.replace(/\w(?=[^\w]*\r\n$)/, '_'));
      const removed = raw.replace(fieldOf(name), '');
      const added = `${name}: <https://evil.test/u>\r\n${raw}`;
      const below = raw.replace('\r\n\r\n', `\r\n${name}: <https://evil.test/u>\r\n\r\n`);
      for (const forged of [changed, removed, added, below]) {
        expect(forged).not.toBe(raw);
        const { dkim, dmarc } = await authenticationOf(forged, email);
        expect(dkim).not.toBe('pass');
        expect(dmarc).toBe('fail');
      }
    }
  },
);

test('offers one HTTPS link and one address to unsubscribe, with one click', () => {
  for (const { raw } of emails) {
    const field = (name: string): string =>
      (fieldOf(name).exec(raw)?.[0] ?? '').replace(/\r\n[ \t]/g, ' ').trim();
    expect(field('List-Unsubscribe')).toMatch(
      /^List-Unsubscribe: <https:\/\/beckon\.acme\.test\/u\/[a-z2-7.]+>, <mailto:u\+[a-z2-7.]+@in\.beckon\.test>$/i,
    );
    expect(field('List-Unsubscribe-Post')).toBe('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
  }
});
