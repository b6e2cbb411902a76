import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { MailRecipient, MailVerdict } from '../classification/classification.ts';
import {
  type InboundAction,
  decideMail,
  needsAuthentication,
  type InboundActionInput,
} from './decide-mail.ts';

const DAY = 86_400_000;
const NOW = 1_000 * DAY;

const failed = (address: string | null, bounceClass: MailRecipient['class'] = 'hard'): MailRecipient => ({
  address,
  class: bounceClass,
  final: true,
  status: '5.1.1',
  reason: 'unknown',
});

function verdict(kind: MailVerdict['kind'], recipients: MailRecipient[] = []): MailVerdict {
  return {
    kind,
    recipients,
    originalMessageId: null,
    envelopeId: null,
    originalHeaders: [],
    feedbackType: null,
  };
}

function decide(changed: Partial<InboundActionInput> & Pick<InboundActionInput, 'verdict'>): InboundAction {
  return decideMail({
    mail: { from: 'Ada@Home.test', headers: [] },
    addressed: 'bounce',
    claim: 'bounce',
    sentAt: NOW - DAY,
    now: NOW,
    address: 'ada@home.test',
    authentication: { dmarc: 'none', policy: 'none' },
    ...changed,
  });
}

test('does not record a bounce while delivery is still being tried', () => {
  const late = [{ ...failed('ada@home.test', 'soft'), final: false }];
  expect(decide({ verdict: verdict('dsn', late) })).toEqual({ act: 'nothing', why: 'no permanent failure' });
});

test('uses the recipient of the email in a report with several and, behind an alias, the first that failed', () => {
  const ours = [failed('else@home.test', 'soft'), failed('ADA@home.test', 'policy')];
  expect(decide({ verdict: verdict('dsn', ours) })).toMatchObject({ act: 'bounce', bounceClass: 'policy' });
  const alias = [failed('one@far.test', 'delivered'), failed('two@far.test', 'soft')];
  expect(decide({ verdict: verdict('dsn', alias) })).toMatchObject({ act: 'bounce', bounceClass: 'soft' });
  const arrived = [failed('ada@home.test', 'delivered'), failed('two@far.test')];
  expect(decide({ verdict: verdict('dsn', arrived) })).toMatchObject({ act: 'nothing' });
  expect(decide({ verdict: verdict('dsn', [failed(null)]) })).toMatchObject({ bounceClass: 'hard' });
  expect(decide({ verdict: verdict('dsn') })).toMatchObject({ act: 'nothing' });
});

test('lets a bounce suppress only with a bounce token, for 30 days', () => {
  const dsn = verdict('dsn', [failed('ada@home.test')]);
  const verified = (changed: Partial<InboundActionInput>): unknown => {
    const decision = decide({ verdict: dsn, ...changed });
    return decision.act === 'bounce' && decision.verified;
  };
  expect(verified({})).toBe(true);
  expect(verified({ sentAt: NOW - 30 * DAY })).toBe(true);
  expect(verified({ sentAt: NOW - 30 * DAY - 1 })).toBe(false);
  for (const claim of ['reply', 'unsubscribe', 'message_id'] as const)
    expect(verified({ claim })).toBe(false);
});

test.each<[InboundActionInput['claim'], number, InboundAction['act']]>([
  ['unsubscribe', 2_000, 'complaint'],
  ['reply', 2_000, 'complaint'],
  ['bounce', 30, 'complaint'],
  ['bounce', 31, 'nothing'],
  ['message_id', 1, 'nothing'],
])('decides on a complaint by %s after %i days: %s', (claim, days, act) => {
  expect(decide({ verdict: verdict('complaint'), claim, sentAt: NOW - days * DAY }).act).toBe(act);
});

test('unsubscribes for any email to the unsubscribe address except reports and automatic replies', () => {
  for (const kind of ['unsubscribe', 'reply', 'other'] as const)
    expect(decide({ verdict: verdict(kind), addressed: 'unsubscribe', claim: 'unsubscribe' }).act).toBe(
      'unsubscribe',
    );
  expect(
    decide({ verdict: verdict('auto_reply'), addressed: 'unsubscribe', claim: 'unsubscribe' }),
  ).toMatchObject({
    kind: 'auto_reply',
    isAnswer: false,
  });
});

test('keeps a reply that asks to unsubscribe as a reply for a person to read', () => {
  const asked = decide({ verdict: verdict('unsubscribe'), addressed: 'reply', claim: 'reply' });
  expect(asked).toMatchObject({ act: 'keep', kind: 'reply', forwards: true });
});

test.each([
  'gmail.com',
  'googlemail.com',
  'yahoo.co.uk',
  'outlook.com',
  'hotmail.fr',
  'icloud.com',
  'gmx.de',
])('does not treat two mailboxes at %s as one organization', (host) => {
  const by = (from: string): InboundAction =>
    decide({
      verdict: verdict('reply'),
      addressed: 'reply',
      claim: 'reply',
      address: `ada@${host}`,
      mail: { from, headers: [] },
      authentication: { dmarc: 'pass', policy: 'none' },
    });
  expect(by(`eve@${host}`)).toMatchObject({ verified: 'token', isAnswer: false });
  expect(by(`ada@${host}`)).toMatchObject({ verified: 'recipient', isAnswer: true });
});

const questions = fc.record({
  kind: fc.constantFrom('dsn', 'complaint', 'auto_reply', 'unsubscribe', 'reply', 'other'),
  addressed: fc.constantFrom('bounce', 'reply', 'unsubscribe', 'role'),
  claim: fc.constantFrom('bounce', 'reply', 'unsubscribe', 'message_id'),
  from: fc.constantFrom('ada@home.test', 'bob@home.test', 'eve@evil.test', null),
  days: fc.integer({ min: 0, max: 100 }),
  dmarc: fc.constantFrom('pass', 'fail', 'none', 'unknown'),
  policy: fc.constantFrom('none', 'quarantine', 'reject'),
  isLooped: fc.boolean(),
  found: fc.array(
    fc.tuple(
      fc.constantFrom('ada@home.test', 'eve@evil.test', null),
      fc.constantFrom<MailRecipient['class'][]>('hard', 'soft', 'policy', 'delivered', 'complaint'),
    ),
    { maxLength: 3 },
  ),
});
type Asked = typeof questions extends fc.Arbitrary<infer T> ? T : never;

function ask({ kind, addressed, claim, from, days, dmarc, policy, isLooped, found }: Asked): InboundAction {
  return decide({
    addressed,
    claim,
    verdict: verdict(
      kind,
      found.map(([address, one]) => failed(address, one)),
    ),
    mail: { from, headers: isLooped ? [{ name: 'x-beckon-forwarded', value: '1' }] : [] },
    sentAt: NOW - days * DAY,
    authentication: { dmarc, policy },
  });
}

/** The conditions that must hold for each action, whatever else is true. */
const NEEDS: {
  [A in InboundAction['act']]: (asked: Asked, decision: InboundAction & { act: A }) => boolean[];
} = {
  nothing: () => [],
  bounce: ({ kind, claim, days }, { verified }) => [
    kind === 'dsn',
    !verified || claim === 'bounce',
    !verified || days <= 30,
  ],
  complaint: ({ kind, claim }) => [kind === 'complaint', claim !== 'message_id'],
  unsubscribe: ({ kind, addressed }) => [
    addressed === 'unsubscribe',
    !['dsn', 'complaint', 'auto_reply'].includes(kind),
  ],
  keep: ({ kind, claim, from, dmarc, policy }, { isAnswer, forwards, kind: keptAs }) => {
    const isRefused = dmarc === 'fail' && policy !== 'none';
    const isWritten = kind !== 'auto_reply' && keptAs === 'reply' && !isRefused;
    return [
      from !== null,
      claim !== 'message_id' || (dmarc === 'pass' && from === 'ada@home.test'),
      !(isAnswer || forwards) || isWritten,
      !isAnswer || from !== 'eve@evil.test',
      !isAnswer || from !== 'bob@home.test' || dmarc === 'pass',
    ];
  },
};

test('never breaks the rules that protect recipients, whatever arrives', () => {
  fc.assert(
    fc.property(questions, (asked) => {
      const decision = ask(asked);
      const needs = NEEDS[decision.act] as (asked: Asked, decision: InboundAction) => boolean[];
      expect(needs(asked, decision)).not.toContain(false);
      if (asked.isLooped) expect(decision.act).toBe('nothing');
    }),
    { numRuns: 2_000 },
  );
});

test('requires authentication wherever the author of an email matters', () => {
  expect(needsAuthentication('reply', 'reply')).toBe(true);
  expect(needsAuthentication('auto_reply', 'unsubscribe')).toBe(true);
  expect(needsAuthentication('other', 'role')).toBe(true);
  expect(needsAuthentication('unsubscribe', 'unsubscribe')).toBe(false);
  expect(needsAuthentication('dsn', 'bounce')).toBe(false);
  expect(needsAuthentication('complaint', 'role')).toBe(false);
});
