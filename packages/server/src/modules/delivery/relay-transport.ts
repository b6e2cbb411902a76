import { redactTokens } from '../sending/index.ts';
import { checkBreaker, closedBreaker, recordSuccess, recordFailure } from '../../platform/mail/breaker.ts';
import type { SendResult } from '../../platform/mail/send-result.ts';
import type { Relay } from '../../platform/mail/submit.ts';
import type { Transport } from './transport.ts';

export type RelayTransportOptions = { relay: Relay; now: () => number };

/**
 * A relay as the sender sees it: the result of each email, and whether the relay is reachable. A failure of the relay itself is not a
 * bounce. After several in a row, no email is sent to it for a while, and so none is claimed.
 */
export function relayTransport({ relay, now }: RelayTransportOptions): Transport {
  let breaker = closedBreaker;
  let pausedUntil = 0;

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
    async submit({ emailId, mailFrom, rcptTo, mime }) {
      const check = checkBreaker(breaker, now());
      breaker = check.breaker;
      if (!check.isAllowed || pausedUntil > now())
        return { result: 'deferred', reason: 'relay_unreachable', isRelayFault: true };
      const envid = envelopeId(mailFrom) ?? emailId;
      const result = redacted(await relay.submit({ from: mailFrom, to: rcptTo, envid }, mime));
      breaker = isRelayFailure(result) ? recordFailure(breaker, now()) : recordSuccess();
      return result;
    },
  };
}

/**
 * Redacts tokens in the answer of a server before it is stored. A server may repeat the sender address, and its token would let any reader
 * forge a bounce.
 */
function redacted(result: SendResult): SendResult {
  if ('reply' in result && result.reply !== undefined)
    return { ...result, reply: redactTokens(result.reply) };
  return 'reason' in result ? { ...result, reason: redactTokens(result.reason) } : result;
}

/** Returns the token of the sender address. A report may contain it even if that address was rewritten on the way. */
function envelopeId(mailFrom: string): string | null {
  return /^b\+([a-z2-7.]{1,64})@/.exec(mailFrom)?.[1] ?? null;
}

function isRelayFailure(result: SendResult): boolean {
  return result.result === 'unknown' || (result.result === 'deferred' && result.isRelayFault === true);
}
