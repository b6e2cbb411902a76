import { expect, test } from 'vitest';
import { createRelayReplies } from './relay-notices.ts';
import type { SendResult } from '../../platform/mail/send-result.ts';

const MINUTE = 60_000;
const SENT: SendResult = { result: 'sent' };
const REFUSED: SendResult = {
  result: 'failed',
  reason: 'bounced',
  reply: '550 5.1.1 <ada@home.test>: user unknown',
  bounce: { class: 'hard', status: '5.1.1' },
};
const TROUBLE = { projectId: 1, text: '5.1.1 address: user unknown' };

function afterReplies(...replies: [number, SendResult][]) {
  const time = { now: 0 };
  const relayReplies = createRelayReplies(() => time.now);
  relayReplies.note(
    replies.map(([projectId, sendResult]) => ({ email: { projectId, draftId: 'd', epoch: 1 }, sendResult })),
  );
  return { time, relayReplies };
}

test.each<[string, [number, SendResult][], boolean]>([
  ['one that sends alone', [[1, REFUSED]], true],
  [
    'one of two, of which the other was served',
    [
      [2, SENT],
      [1, REFUSED],
    ],
    false,
  ],
  [
    'both of two',
    [
      [2, REFUSED],
      [1, REFUSED],
    ],
    true,
  ],
  [
    'one whose neighbour was served before and is not now',
    [
      [2, SENT],
      [2, REFUSED],
      [1, REFUSED],
    ],
    true,
  ],
  [
    'one whose neighbour is served again',
    [
      [2, REFUSED],
      [2, SENT],
      [1, REFUSED],
    ],
    false,
  ],
  [
    'two of four',
    [
      [2, REFUSED],
      [3, SENT],
      [4, SENT],
      [1, REFUSED],
    ],
    false,
  ],
  [
    'three of four',
    [
      [2, REFUSED],
      [3, REFUSED],
      [4, SENT],
      [1, REFUSED],
    ],
    true,
  ],
  ['one whose neighbour could not be written to', [[2, { result: 'failed', reason: 'not_composed' }]], true],
  [
    'one whose neighbour was not served at all',
    [[2, { result: 'deferred', reason: 'relay_unreachable' }]],
    true,
  ],
])('decides whether a reply is common to all projects, for %s', (_, replies, isShared) => {
  expect(afterReplies(...replies).relayReplies.isShared(TROUBLE)).toBe(isShared);
});

test('ignores a project that sent nothing for an hour', () => {
  const { time, relayReplies } = afterReplies([2, SENT]);
  time.now = 60 * MINUTE;
  expect(relayReplies.isShared(TROUBLE)).toBe(false);
  time.now += 1;
  expect(relayReplies.isShared(TROUBLE)).toBe(true);
});
