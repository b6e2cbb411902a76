import type { WhatHappened } from '../../outcomes/index.ts';
import type { Handed, OutgoingLetter } from '../../delivery/index.ts';
import type { Random } from './random.ts';

/** A recipient's reaction to an email and its time, always after sending. */
export type Reaction = { at: number; messageId: string } & (
  | { kind: 'outcome'; what: WhatHappened }
  | { kind: 'reply'; letter: OutgoingLetter; text: string }
);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const REFUSED: Handed = {
  result: 'failed',
  reason: 'rejected',
  reply: '550 5.1.1 The email account that you tried to reach does not exist',
  bounce: { class: 'hard', status: '5.1.1' },
};

const ANSWERS = [
  'Thanks for asking! We were away for two weeks; back at it on Monday.',
  'Price, to be honest. We are three people and need one board.',
  'Could you show me how automation works? I got stuck at the second step.',
  'Missing: a calendar view. Otherwise we like it.',
  'Please call me tomorrow after ten.',
] as const;

/** A few mailboxes no longer exist. The reply is always the same. */
export function handedOver(random: Random): Handed {
  return random.chance(0.012) ? REFUSED : { result: 'sent', reply: '250 2.0.0 OK', relayId: null };
}

export function reactionsTo(random: Random, letter: OutgoingLetter, sentAt: number): Reaction[] {
  const { messageId } = letter;
  const reactions: Reaction[] = [];
  const happens = (at: number, what: WhatHappened): void => {
    reactions.push({ at, messageId, kind: 'outcome', what });
  };
  if (random.chance(0.2))
    happens(sentAt + 3_000, { type: 'email.opened', bot: 'yes', botReason: 'image_proxy' });
  if (!random.chance(0.46)) return reactions;
  const openedAt = sentAt + MINUTE + random.wait(4 * HOUR);
  happens(openedAt, { type: 'email.opened', bot: 'no', botReason: null });
  if (random.chance(0.27)) {
    const what = { bot: 'no', botReason: null, link: 0, url: linkOf(letter) } as const;
    happens(openedAt + random.wait(2 * MINUTE), { type: 'email.clicked', ...what });
  }
  if (random.chance(0.03)) {
    const at = openedAt + random.wait(HOUR);
    reactions.push({ at, messageId, kind: 'reply', letter, text: random.pick(ANSWERS) });
  }
  if (random.chance(0.012))
    happens(openedAt + random.wait(HOUR), { type: 'email.unsubscribed', method: 'one_click' });
  return reactions;
}

function linkOf({ content }: OutgoingLetter): string {
  return /\]\((https:\/\/[^()\s]+)\)/.exec(content.body)?.[1] ?? 'https://app.harbour.example/';
}
