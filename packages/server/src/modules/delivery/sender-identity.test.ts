import { expect, test } from 'vitest';
import { emailToken, readEmailToken } from '../../platform/crypto/email-token.ts';
import { composeMail } from '../../platform/mail/compose.ts';
import { emailHeaders } from './headers.ts';
import { paceNow, slowerPace } from './domain-limits.ts';
import { warmupDay, remainingWarmup } from './gate/limits.ts';
import { senderGate, senderOf } from './sender-identity.ts';
import type { Outlet } from './gate/facts.ts';

const IDENTITY = {
  fromName: 'Acme',
  fromAddress: 'hello@acme.example',
  replyTo: null,
  postalAddress: '1 High Street',
  footer: null,
};
const RELAY: Outlet = { kind: 'relay', publicUrl: 'https://beckon.acme.example', mailDomain: null };
const TEST_INBOX: Outlet = { kind: 'test_inbox', publicUrl: 'http://localhost:8080', mailDomain: null };
const VERIFIED = { name: 'acme.example', state: 'verified', pausedReason: null } as const;
const NOW = Date.UTC(2026, 0, 15, 12);
const DAY = 86_400_000;
const KEY = [Buffer.alloc(32, 3)] as const;

test.each([
  ['a name', { fromName: null }, 'from_name'],
  ['an address', { fromAddress: null }, 'from_address'],
  ['a postal address', { postalAddress: null }, 'postal_address'],
])('refuses to send through a relay without %s of the sender', (_, missing, setting) => {
  const identity = { ...IDENTITY, ...missing };
  const gate = senderGate({ outlet: RELAY, identity, domain: VERIFIED });
  expect(gate).toMatchObject({ reason: 'no_sender' });
  expect(gate).toHaveProperty('detail', expect.stringContaining(setting));
});

test('refuses to send through a relay if the domain is missing, unverified or failed', () => {
  const gateFor = (domain: Parameters<typeof senderGate>[0]['domain']) =>
    senderGate({ outlet: RELAY, identity: IDENTITY, domain });
  expect(gateFor(null)).toMatchObject({ reason: 'domain_not_ready' });
  for (const state of ['pending', 'failed'] as const)
    expect(gateFor({ ...VERIFIED, state })).toMatchObject({ reason: 'domain_not_ready' });
  for (const state of ['verified', 'degraded'] as const) expect(gateFor({ ...VERIFIED, state })).toBe('pass');
});

test('refuses to send through a relay from a paused domain, and reports why it is paused', () => {
  const domain = {
    ...VERIFIED,
    pausedReason: '6 of its last 40 emails were rejected because of their content or sender',
  };
  expect(senderGate({ outlet: RELAY, identity: IDENTITY, domain })).toEqual({
    reason: 'domain_not_ready',
    detail: expect.stringContaining(domain.pausedReason),
  });
});

test.each(['http://localhost:8080', 'http://app.localhost', 'http://127.0.0.1', 'http://[::1]:8080'])(
  'refuses to send real emails with links to %s',
  (publicUrl) => {
    const facts = { outlet: { ...RELAY, publicUrl }, identity: IDENTITY, domain: VERIFIED };
    expect(senderGate(facts)).toMatchObject({ reason: 'public_url' });
  },
);

test('sends to the test inbox without any identity or domain', () => {
  const noIdentity = { fromName: null, fromAddress: null, replyTo: null, postalAddress: null, footer: null };
  expect(senderGate({ outlet: TEST_INBOX, identity: noIdentity, domain: null })).toBe('pass');
  expect(senderOf(noIdentity, 'Acme')).toEqual({
    name: 'Acme',
    address: 'emails@test-inbox.invalid',
    replyTo: null,
  });
});

test('sends from an internationalized domain in its DNS form, and the email can be composed', async () => {
  const from = senderOf({ ...IDENTITY, fromAddress: 'hello@bücher.example' }, 'Acme');
  expect(from.address).toBe('hello@xn--bcher-kva.example');
  const { messageIdHeader, headers } = headersOf(RELAY, null, from);
  const email = {
    messageId: messageIdHeader,
    headers,
    from,
    date: new Date(NOW),
    to: { name: '', address: 'ada@home.example' },
    replyTo: null,
    subject: 'a'.repeat(998),
    text: 'Hello',
    html: '<p>Hello</p>',
  };
  const mime = (await composeMail(email, null)).toString('latin1');
  expect(mime).toContain('Message-ID: <01890a5d-ac96-774b-bcce-b302099a8057@xn--bcher-kva.example>');
});

const name = { projectId: 7, emailId: '01890a5d-ac96-774b-bcce-b302099a8057' };
const FROM = { name: 'Acme', address: 'hello@acme.example' };
const headersOf = (outlet: Outlet, returnPath: string | null = null, from = FROM) =>
  emailHeaders({
    name,
    outlet,
    tokenKeys: KEY,
    from,
    returnPath,
    project: 'Acme: Inc.',
    rule: 'trial_expiring',
  });
const valueOf = (outlet: Outlet, header: string) =>
  headersOf(outlet).headers.find((field) => field.name === header)?.value;

test('adds List-Unsubscribe with one click, and with mailto if Beckon receives mail', () => {
  const token = emailToken(name, 'unsubscribe', KEY);
  expect(valueOf(RELAY, 'List-Unsubscribe')).toBe(`<https://beckon.acme.example/u/${token}>`);
  const reading = { ...RELAY, mailDomain: 'mail.beckon.example' };
  expect(valueOf(reading, 'List-Unsubscribe')).toBe(
    `<https://beckon.acme.example/u/${token}>, <mailto:u+${token}@mail.beckon.example>`,
  );
  expect(valueOf(RELAY, 'List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click');
  expect(valueOf(RELAY, 'Feedback-ID')).toBe('trial-expiring:acme-inc:lifecycle:beckon7');
  expect(valueOf(RELAY, 'List-Id')).toBe('<emails.p7.acme.example>');
});

test('sends bounces to an address that identifies the email if Beckon receives mail, and otherwise to the sender', () => {
  expect(headersOf(RELAY, 'bounce.acme.example').mailFrom).toBe('hello@acme.example');
  const reading = headersOf({ ...RELAY, mailDomain: 'mail.beckon.example' }, 'bounce.acme.example').mailFrom;
  const [, token = ''] = /^b\+(.+)@bounce\.acme\.example$/.exec(reading) ?? [];
  expect(readEmailToken(token, 'bounce', KEY)).toEqual(name);
  expect(headersOf(TEST_INBOX).mailFrom).toMatch(/^b\+[a-z2-7.]{51}@test-inbox\.invalid$/);
});

test('starts a new domain with 100 emails, adds half as many each day, and ends the warm-up within two weeks', () => {
  const limits = Array.from({ length: 14 }, (_, day) => warmupDay(NOW, NOW + day * DAY).emails);
  expect(limits.slice(0, 5)).toEqual([100, 150, 225, 337, 506]);
  expect(limits.indexOf(null)).toBe(12);
  expect(warmupDay(NOW, NOW + DAY + 1)).toEqual({
    day: 2,
    emails: 150,
    startsAt: NOW + DAY,
    endsAt: NOW + 2 * DAY,
  });
});

test('keeps a domain at the volume of the day before while more than 1 in 20 emails bounce', () => {
  expect(remainingWarmup(225, { today: 100, yesterday: 150, bounced: 12, complained: 0 })).toBe(125);
  expect(remainingWarmup(225, { today: 100, yesterday: 150, bounced: 13, complained: 0 })).toBe(50);
  expect(remainingWarmup(100, { today: 30, yesterday: 0, bounced: 10, complained: 0 })).toBe(70);
  expect(remainingWarmup(150, { today: 5, yesterday: 5, bounced: 5, complained: 0 })).toBe(145);
});

test('keeps a domain at the volume of the day before while more than 1 in 1,000 recipients complain', () => {
  const counts = { today: 1_000, yesterday: 1_000, bounced: 0 };
  expect(remainingWarmup(2_000, { ...counts, complained: 2 })).toBe(1_000);
  expect(remainingWarmup(2_000, { ...counts, complained: 3 })).toBe(0);
});

test('halves the pace when a provider asks for less, and raises it by a tenth every ten minutes without another request', () => {
  const first = slowerPace(null, { sentLastMinute: 600, now: NOW });
  expect(first).toEqual({ perSecond: 5, changedAt: NOW });
  expect(paceNow(first, NOW)).toEqual({ emails: 18_000, perMs: 3_600_000 });
  const later = NOW + 20 * 60_000;
  expect(paceNow(first, later)?.emails).toBeCloseTo(18_000 * 1.21);
  expect(slowerPace(first, { sentLastMinute: 0, now: later }).perSecond).toBeCloseTo(5 * 1.21 * 0.5);
  expect(paceNow(first, NOW + 5 * 3_600_000)).toBeNull();
  // A quiet minute does not show which rate is too high, so the pace starts at ten emails a minute.
  const quiet = slowerPace(null, { sentLastMinute: 0, now: NOW });
  expect(quiet.perSecond).toBeCloseTo(10 / 60);
  expect(slowerPace(quiet, { sentLastMinute: 0, now: NOW }).perSecond).toBeCloseTo(5 / 60);
});
