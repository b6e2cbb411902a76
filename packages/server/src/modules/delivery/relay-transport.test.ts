import { expect, test } from 'vitest';
import { refusal, type SendResult, unreachable } from '../../platform/mail/send-result.ts';
import { classifyReply } from '../outcomes/bounces/classify-reply.ts';
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
    says: { result: 'sent', reply: '250 ok', relayId: 'Q1' } as SendResult,
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

const refused = (stage: 'mail' | 'rcpt', code: number, reply: string): SendResult =>
  refusal({ stage, code, reply }, classifyReply);

test.each<[string, SendResult]>([
  ['accepted', { result: 'sent', reply: '250 queued as Q1', relayId: 'Q1' }],
  ['the relay is unreachable', unreachable('connect', 'ECONNREFUSED')],
  ['the connection broke after the content', { result: 'unknown', reason: 'the line broke' }],
  ['refused', refused('rcpt', 550, '550 5.1.1 user unknown')],
  ['deferred', refused('rcpt', 450, '450 4.2.1 greylisted')],
])('returns the result of the relay unchanged: %s', async (_, says) => {
  const { state, submit } = withRelay();
  state.says = says;
  expect(await submit()).toEqual(says);
});

test.each([
  ['an unreachable relay', unreachable('connect', 'ECONNREFUSED')],
  ['a relay that refuses our sender', refused('mail', 550, '550 5.7.1 sender rejected')],
  ['lost replies', { result: 'unknown', reason: 'the line broke' } as const],
])('closes after three failures of the relay itself: %s', async (_, says) => {
  const { state, transport, submit } = withRelay();
  state.says = says;
  for (let i = 0; i < 3; i += 1) await submit();
  expect(transport.closedUntil?.(state.now)).toBe(1_000);
});

test('does not count a repeated request as a failure of the relay, which received the first one', async () => {
  const { state, transport, submit } = withRelay();
  state.says = { result: 'unknown', reason: 'duplicate', isRepeated: true };
  for (let i = 0; i < 5; i += 1) await submit();
  expect(transport.closedUntil?.(state.now)).toBeNull();
});

test('tries an unreachable relay less and less often, and does not count refused recipients as failures', async () => {
  const { state, transport, submit } = withRelay();
  state.says = refused('rcpt', 550, '550 5.1.1 user unknown');
  for (let i = 0; i < 5; i += 1) await submit();
  expect(transport.closedUntil?.(state.now)).toBeNull();
  state.says = unreachable('connect', 'ECONNREFUSED');
  for (let i = 0; i < 3; i += 1) await submit();
  expect(transport.closedUntil?.(state.now)).toBe(1_000);
  const callsBefore = state.calls;
  expect(await submit()).toMatchObject({ result: 'deferred', reason: 'relay_unreachable' });
  expect(state.calls).toBe(callsBefore);
  expect(transport.isDoubtful?.()).toBe(true);
  state.now = 1_000;
  expect(transport.closedUntil?.(state.now)).toBeNull();
  state.says = { result: 'sent', reply: '250 ok', relayId: null };
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
