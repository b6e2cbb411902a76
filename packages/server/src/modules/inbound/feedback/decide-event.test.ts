import { describe, expect, test } from 'vitest';
import type { RelayEvent } from '../../../platform/relays/adapter.ts';
import { decideEvent, provesFeedback } from './decide-event.ts';

const BOUNCED: RelayEvent = {
  eventId: 'e1',
  kind: 'bounced',
  token: null,
  relayEmailId: 'm1',
  recipient: 'ada@home.test',
  bounceClass: 'hard',
  code: null,
  status: '5.1.1',
  text: '550 5.1.1 No such user',
  at: null,
};

function classOf(changed: Partial<RelayEvent>): unknown {
  const action = decideEvent({ ...BOUNCED, ...changed });
  return action.act === 'outcome' && action.data.type === 'email.bounced'
    ? action.data.bounceClass
    : action.act;
}

describe('decideEvent', () => {
  test('returns a verified bounce with the words of the receiving server', () => {
    expect(decideEvent(BOUNCED)).toEqual({
      act: 'outcome',
      data: {
        type: 'email.bounced',
        bounceClass: 'hard',
        status: '5.1.1',
        reason: '550 5.1.1 No such user',
        source: 'relay',
        verified: true,
      },
    });
  });

  test('returns an unsubscribe for a complaint', () => {
    expect(decideEvent({ ...BOUNCED, kind: 'complained' })).toEqual({
      act: 'outcome',
      data: { type: 'email.unsubscribed', method: 'complaint' },
    });
  });

  test('returns no outcome for a delivery and a delay', () => {
    expect(decideEvent({ ...BOUNCED, kind: 'delivered' })).toEqual({ act: 'delivered' });
    expect(decideEvent({ ...BOUNCED, kind: 'deferred' })).toEqual({ act: 'nothing' });
  });

  test('takes the class of the provider if the words do not contradict it', () => {
    expect(classOf({ text: '', status: null, bounceClass: 'hard' })).toBe('hard');
    expect(classOf({ text: '', status: null, bounceClass: 'soft' })).toBe('soft');
    expect(classOf({ text: '', status: null, bounceClass: null })).toBe('infrastructure');
  });

  test('does not suppress an address whose mailbox is full or that refuses spam, whatever the provider says', () => {
    expect(classOf({ text: '552 5.2.2 Mailbox full', status: '5.2.2' })).toBe('soft');
    expect(classOf({ text: '550 5.7.1 Message rejected as spam', status: '5.7.1' })).toBe('policy');
  });

  test('names a reason where the provider gives none', () => {
    const dropped = decideEvent({ ...BOUNCED, kind: 'dropped', text: '' });
    expect(dropped).toMatchObject({ data: { reason: 'The relay did not try to deliver the email' } });
  });
});

test('provesFeedback is true for negative outcomes only', () => {
  const kinds = ['bounced', 'dropped', 'complained', 'delivered', 'deferred'] as const;
  expect(kinds.filter((kind) => provesFeedback({ ...BOUNCED, kind }))).toEqual([
    'bounced',
    'dropped',
    'complained',
  ]);
});
