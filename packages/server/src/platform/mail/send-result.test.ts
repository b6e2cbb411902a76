import { describe, expect, test } from 'vitest';
import { classifyReply } from '../../modules/outcomes/bounces/classify-reply.ts';
import {
  failureText,
  finalState,
  relayId,
  resultOfSession,
  type SendResult,
  type SmtpEnd,
} from './send-result.ts';
import type { SmtpStage } from './smtp-reply.ts';

/** By default the session ended before it began. */
const ended = (ending: Partial<SmtpEnd>): SmtpEnd => ({
  code: null,
  reply: '',
  reason: '',
  stage: 'connect',
  bodyRead: false,
  bodyEnded: false,
  ...ending,
});
const refused = (stage: SmtpStage, code: number, text: string): SmtpEnd =>
  ended({ stage, code, reply: `${code} ${text}` });

describe('resultOfSession', () => {
  test.each<[string, SmtpEnd, object]>([
    [
      'accepted',
      ended({ stage: 'body', code: 250, reply: '250 queued as ABC', bodyRead: true, bodyEnded: true }),
      { result: 'sent', reply: '250 queued as ABC', relayId: 'ABC' },
    ],
    [
      'an unreachable relay',
      ended({ reason: 'ECONNREFUSED' }),
      {
        result: 'deferred',
        reason: 'relay_unreachable',
        reply: 'connect: ECONNREFUSED',
        stage: 'connect',
        isRelayFault: true,
      },
    ],
    [
      'a connection that broke after the content',
      ended({ stage: 'body', reason: 'the line broke', bodyRead: true }),
      { result: 'unknown', reason: 'the line broke' },
    ],
    [
      'a reply that accepts before the content ended',
      ended({ stage: 'body', code: 250, reply: '250 ok', reason: 'too early', bodyRead: true }),
      { result: 'unknown', reason: 'too early (250 ok)' },
    ],
    [
      'an address that does not exist',
      refused('rcpt', 550, '5.1.1 user unknown'),
      { result: 'failed', reason: 'bounced', bounce: { class: 'hard', status: '5.1.1' } },
    ],
    [
      'an email that is not wanted',
      refused('body', 554, '5.7.1 spam'),
      { result: 'failed', reason: 'rejected', bounce: { class: 'policy' } },
    ],
    [
      'a recipient that is deferred',
      refused('rcpt', 450, '4.2.1 greylisted'),
      { result: 'deferred', reason: 'deferred', stage: 'rcpt', code: 450 },
    ],
    [
      'a server that asks for less',
      refused('rcpt', 421, '4.7.0 too many'),
      { result: 'deferred', slowDown: true, isRelayFault: false },
    ],
    [
      'a relay that refuses our sender',
      refused('mail', 550, '5.7.1 sender rejected'),
      { result: 'deferred', reason: 'relay_rejected', slowDown: false, isRelayFault: true },
    ],
  ])('returns the result of the email: %s', (_, ending, result) => {
    expect(resultOfSession(ending, classifyReply)).toMatchObject(result);
  });
});

test.each<[SendResult, string, string]>([
  [{ result: 'sent' }, 'sent', 'sent'],
  [{ result: 'failed', reason: 'bounced', reply: '550 no' }, 'failed', '550 no'],
  [{ result: 'deferred', reason: 'deferred' }, 'failed', 'deferred'],
  [{ result: 'unknown', reason: 'lost' }, 'unknown', 'lost'],
])('finalState and failureText of %j are "%s" and "%s"', (result, state, text) => {
  expect([finalState(result), failureText(result)]).toEqual([state, text]);
});

describe('relayId', () => {
  test.each([
    ['250 2.0.0 Ok: queued as 4XyZ0f2mSgz9', '4XyZ0f2mSgz9'],
    [
      '250 Ok 0100018d5f2c1e3b-6a0f1f0c-6a39-4c43-9f3e-000000',
      '0100018d5f2c1e3b-6a0f1f0c-6a39-4c43-9f3e-000000',
    ],
    ['250 OK id=1rXxyz-0000Ab-1A', '1rXxyz-0000Ab-1A'],
    ['250 Message Queued (7B2AF2C0-8C0B-4F5A-9A0B-1F1E4C3D2B1A.1)', '7B2AF2C0-8C0B-4F5A-9A0B-1F1E4C3D2B1A.1'],
    ['250 2.0.0 43H7abcd012345 Message accepted for delivery', '43H7abcd012345'],
    ['250 2.0.0 OK  1706933106 d2e1a72fcca58-6ddf4-2si1.3 - gsmtp', 'd2e1a72fcca58-6ddf4-2si1.3'],
    [
      '250 2.6.0 <a@b.test> [InternalId=12345678, Hostname=X.PROD] 9 bytes Queued mail for delivery',
      '12345678',
    ],
    ['250 Great success', null],
    ['250 OK', null],
    ['', null],
  ])('reads from %s the email id %s', (reply, id) => {
    expect(relayId(reply)).toBe(id);
  });
});
