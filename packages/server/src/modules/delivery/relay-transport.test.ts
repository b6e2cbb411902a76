import { expect, test } from 'vitest';
import type { SubmissionResult } from '../../platform/mail/submit.ts';
import { relayTransport } from './relay-transport.ts';
import type { TransportEmail } from './transport.ts';

const EMAIL: TransportEmail = {
  projectId: 1,
  draftId: 'd',
  emailId: 'm',
  userId: 'u',
  address: 'a@x.org',
  content: { subject: 's', preheader: '', body: 'b', format: 'markdown' },
  mailFrom: 'b@x.org',
  rcptTo: 'a@x.org',
  mime: Buffer.from('x'),
};

function withRelay() {
  const state = {
    now: 0,
    calls: 0,
    says: { result: 'accepted', reply: '250 ok', relayId: 'Q1' } as SubmissionResult,
  };
  const relay = {
    slots: 3,
    close: () => Promise.resolve(),
    submit: () => {
      state.calls += 1;
      return Promise.resolve(state.says);
    },
  };
  const transport = relayTransport({ relay, now: () => state.now });
  return { state, transport, submit: () => transport.submit(EMAIL) };
}

const refused = (stage: 'mail' | 'rcpt' | 'body', code: number, reply: string): SubmissionResult => ({
  result: 'refused',
  stage,
  code,
  reply,
});

test.each<[string, SubmissionResult, object]>([
  [
    'accepted',
    { result: 'accepted', reply: '250 queued as Q1', relayId: 'Q1' },
    { result: 'sent', relayId: 'Q1' },
  ],
  [
    'the relay is unreachable',
    { result: 'not_sent', stage: 'connect', reason: 'ECONNREFUSED' },
    { result: 'deferred', reason: 'relay_unreachable' },
  ],
  [
    'the connection broke after the content',
    { result: 'unknown', reason: 'the line broke' },
    { result: 'unknown' },
  ],
  [
    'no such person',
    refused('rcpt', 550, '550 5.1.1 user unknown'),
    { result: 'failed', reason: 'bounced', bounce: { class: 'hard' } },
  ],
  [
    'not wanted',
    refused('body', 554, '554 5.7.1 spam'),
    { result: 'failed', reason: 'rejected', bounce: { class: 'policy' } },
  ],
  ['later', refused('rcpt', 450, '450 4.2.1 greylisted'), { result: 'deferred', reason: 'deferred' }],
  ['less', refused('rcpt', 421, '421 4.7.0 too many'), { result: 'deferred', slowDown: true }],
  [
    'our own sender',
    refused('mail', 550, '550 5.7.1 sender rejected'),
    { result: 'deferred', reason: 'relay_rejected' },
  ],
])('maps the answer of a relay to the result of the email: %s', async (_, says, becomes) => {
  const { state, submit } = withRelay();
  state.says = says;
  expect(await submit()).toMatchObject(becomes);
});

test('tries an unreachable relay less and less often, and does not count refused recipients as failures', async () => {
  const { state, transport, submit } = withRelay();
  state.says = refused('rcpt', 550, '550 5.1.1 user unknown');
  for (let i = 0; i < 5; i += 1) await submit();
  expect(transport.closedUntil?.(state.now)).toBeNull();
  state.says = { result: 'not_sent', stage: 'connect', reason: 'ECONNREFUSED' };
  for (let i = 0; i < 3; i += 1) await submit();
  expect(transport.closedUntil?.(state.now)).toBe(1_000);
  const callsBefore = state.calls;
  expect(await submit()).toMatchObject({ result: 'deferred', reason: 'relay_unreachable' });
  expect(state.calls).toBe(callsBefore);
  expect(transport.isDoubtful?.()).toBe(true);
  state.now = 1_000;
  expect(transport.closedUntil?.(state.now)).toBeNull();
  state.says = { result: 'accepted', reply: '250 ok', relayId: null };
  await submit();
  expect(transport.closedUntil?.(state.now)).toBeNull();
  expect(transport.isDoubtful?.()).toBe(false);
});

test('sends nothing to a paused relay until the pause is over', async () => {
  const { state, transport, submit } = withRelay();
  transport.pause?.(60_000);
  expect(transport.closedUntil?.(0)).toBe(60_000);
  expect(await submit()).toMatchObject({ result: 'deferred' });
  expect(state.calls).toBe(0);
  state.now = 60_000;
  expect(await submit()).toMatchObject({ result: 'sent' });
});
