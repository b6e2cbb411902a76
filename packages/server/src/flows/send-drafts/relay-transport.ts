import { classifyReply } from '../../base/bounce/index.ts';
import {
  askBreaker,
  closedBreaker,
  type HandOver,
  passed,
  type Relay,
  tripped,
} from '../../io/mail/index.ts';
import type { Handed, Transport } from './transport.ts';

export type RelayTransportOptions = { relay: Relay; now: () => number };

type Refused = Extract<HandOver, { result: 'refused' }>;

/**
 * A relay as the sender sees it: what became of a letter, and whether anybody is there. Trouble of the relay itself is
 * nobody's bounce; after some in a row no letter is given to it for a while, and so none is claimed.
 */
export function relayTransport({ relay, now }: RelayTransportOptions): Transport {
  let breaker = closedBreaker;
  let pausedUntil = 0;

  function heed(over: HandOver): Handed {
    switch (over.result) {
      case 'accepted':
        breaker = passed();
        return { result: 'sent', reply: over.reply, relayId: over.relayId };
      case 'refused':
        return refused(over);
      case 'not_sent':
        breaker = tripped(breaker, now());
        return {
          result: 'deferred',
          reason: 'relay_away',
          reply: `${over.stage}: ${over.reason}`,
          isRelays: true,
        };
      case 'unknown':
        breaker = tripped(breaker, now());
        return { result: 'unknown', reason: over.reason };
      default:
        return over satisfies never;
    }
  }

  function refused({ stage, code, reply }: Refused): Handed {
    const verdict = classifyReply({ stage, code, reply });
    const isOurs = verdict.class === 'infrastructure';
    breaker = isOurs ? tripped(breaker, now()) : passed();
    if (verdict.retry) {
      return {
        result: 'deferred',
        reason: isOurs ? 'relay_refused' : 'deferred',
        reply,
        slowDown: verdict.slowDown && !isOurs,
        isRelays: isOurs,
      };
    }
    return {
      result: 'failed',
      reason: REASONS[verdict.class],
      reply,
      isHardBounce: verdict.class === 'hard',
    };
  }

  return {
    slots: relay.slots,
    closedUntil(at) {
      const until = Math.max(pausedUntil, breaker.openUntil);
      return until > at ? until : null;
    },
    isDoubtful: () => breaker.openUntil !== 0,
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, now() + ms);
    },
    async hand({ messageId, mailFrom, rcptTo, mime }) {
      const asked = askBreaker(breaker, now());
      breaker = asked.breaker;
      if (!asked.passes || pausedUntil > now())
        return { result: 'deferred', reason: 'relay_away', isRelays: true };
      return heed(await relay.hand({ from: mailFrom, to: rcptTo, envid: messageId }, mime));
    },
  };
}

const REASONS = {
  hard: 'bounced',
  soft: 'bounced',
  policy: 'refused',
  infrastructure: 'relay_refused',
} as const;
