import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { MailRecipient, MailClassification } from '../classification/classification.ts';
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

function classification(
  kind: MailClassification['kind'],
  recipients: MailRecipient[] = [],
): MailClassification {
  return {
    kind,
    recipients,
    originalMessageId: null,
    envelopeId: null,
    originalHeaders: [],
    feedbackType: null,
  };
}

function decide(
  changed: Partial<InboundActionInput> & Pick<InboundActionInput, 'classification'>,
): InboundAction {
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
  expect(decide({ classification: classification('dsn', late) })).toEqual({
    act: 'nothing',
    why: 'no permanent failure',
  });
});

test('uses the recipient of the email in a report with several and, behind an alias, the first that failed', () => {
  const ours = [failed('else@home.test', 'soft'), failed('ADA@home.test', 'policy')];
  expect(decide({ classification: classification('dsn', ours) })).toMatchObject({
    act: 'bounce',
    bounceClass: 'policy',
  });
  const alias = [failed('one@far.test', 'delivered'), failed('two@far.test', 'soft')];
  expect(decide({ classification: classification('dsn', alias) })).toMatchObject({
    act: 'bounce',
    bounceClass: 'soft',
  });
  const arrived = [failed('ada@home.test', 'delivered'), failed('two@far.test')];
  expect(decide({ classification: classification('dsn', arrived) })).toMatchObject({ act: 'nothing' });
  expect(decide({ classification: classification('dsn', [failed(null)]) })).toMatchObject({
    bounceClass: 'hard',
  });
  expect(decide({ classification: classification('dsn') })).toMatchObject({ act: 'nothing' });
});

test('lets a bounce suppress only with a bounce token, for 30 days', () => {
  const dsn = classification('dsn', [failed('ada@home.test')]);
  const verified = (changed: Partial<InboundActionInput>): unknown => {
    const decision = decide({ classification: dsn, ...changed });
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
  expect(decide({ classification: classification('complaint'), claim, sentAt: NOW - days * DAY }).act).toBe(
    act,
  );
});

test('unsubscribes for any email to the unsubscribe address except reports and automatic replies', () => {
  for (const kind of ['unsubscribe', 'reply', 'other'] as const)
    expect(
      decide({ classification: classification(kind), addressed: 'unsubscribe', claim: 'unsubscribe' }).act,
    ).toBe('unsubscribe');
  expect(
    decide({ classification: classification('auto_reply'), addressed: 'unsubscribe', claim: 'unsubscribe' }),
  ).toMatchObject({
    kind: 'auto_reply',
    isReply: false,
  });
});

test('keeps a reply that asks to unsubscribe as a reply for a person to read', () => {
  const action = decide({
    classification: classification('unsubscribe'),
    addressed: 'reply',
    claim: 'reply',
  });
  expect(action).toMatchObject({ act: 'keep', kind: 'reply', forwards: true });
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
      classification: classification('reply'),
      addressed: 'reply',
      claim: 'reply',
      address: `ada@${host}`,
      mail: { from, headers: [] },
      authentication: { dmarc: 'pass', policy: 'none' },
    });
  expect(by(`eve@${host}`)).toMatchObject({ verified: 'token', isReply: false });
  expect(by(`ada@${host}`)).toMatchObject({ verified: 'recipient', isReply: true });
});

const factsArbitrary = fc.record({
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
type ActionFacts = typeof factsArbitrary extends fc.Arbitrary<infer T> ? T : never;

function decideFor({
  kind,
  addressed,
  claim,
  from,
  days,
  dmarc,
  policy,
  isLooped,
  found,
}: ActionFacts): InboundAction {
  return decide({
    addressed,
    claim,
    classification: classification(
      kind,
      found.map(([address, recipientClass]) => failed(address, recipientClass)),
    ),
    mail: { from, headers: isLooped ? [{ name: 'x-beckon-forwarded', value: '1' }] : [] },
    sentAt: NOW - days * DAY,
    authentication: { dmarc, policy },
  });
}

/** The conditions that must hold for each action, whatever else is true. */
const NEEDS: {
  [A in InboundAction['act']]: (facts: ActionFacts, decision: InboundAction & { act: A }) => boolean[];
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
  keep: ({ kind, claim, from, dmarc, policy }, { isReply, forwards, kind: keptAs }) => {
    const isRefused = dmarc === 'fail' && policy !== 'none';
    const isWritten = kind !== 'auto_reply' && keptAs === 'reply' && !isRefused;
    return [
      from !== null,
      claim !== 'message_id' || (dmarc === 'pass' && from === 'ada@home.test'),
      !(isReply || forwards) || isWritten,
      !isReply || from !== 'eve@evil.test',
      !isReply || from !== 'bob@home.test' || dmarc === 'pass',
    ];
  },
};

test('never breaks the rules that protect recipients, whatever arrives', () => {
  fc.assert(
    fc.property(factsArbitrary, (facts) => {
      const decision = decideFor(facts);
      const needs = NEEDS[decision.act] as (facts: ActionFacts, decision: InboundAction) => boolean[];
      expect(needs(facts, decision)).not.toContain(false);
      if (facts.isLooped) expect(decision.act).toBe('nothing');
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
