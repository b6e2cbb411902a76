import { classifyReply } from '../outcomes/index.ts';
import { redactTokens } from '../sending/index.ts';
import { askBreaker, closedBreaker, passed, tripped } from '../../platform/mail/breaker.ts';
import type { SubmissionResult, Relay } from '../../platform/mail/submit.ts';
import type { Handed, Transport } from './transport.ts';

export type RelayTransportOptions = { relay: Relay; now: () => number };

type Refused = Extract<SubmissionResult, { result: 'refused' }>;

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
    async hand({ messageId, mailFrom, rcptTo, mime }) {
      const asked = askBreaker(breaker, now());
      breaker = asked.breaker;
      if (!asked.passes || pausedUntil > now())
        return { result: 'deferred', reason: 'relay_unreachable', isRelays: true };
      const envid = envelopeId(mailFrom) ?? messageId;
      const over = redacted(await relay.hand({ from: mailFrom, to: rcptTo, envid }, mime));
      breaker = isRelaysTrouble(over) ? tripped(breaker, now()) : passed();
      return becomes(over);
    },
  };
}

/**
 * Redacts tokens in the answer of a server before it is stored. A server may repeat the sender address, and its token would let any reader
 * forge a bounce.
 */
function redacted(over: SubmissionResult): SubmissionResult {
  return 'reply' in over
    ? { ...over, reply: redactTokens(over.reply) }
    : { ...over, reason: redactTokens(over.reason) };
}

/** Returns the token of the sender address. A report may contain it even if that address was rewritten on the way. */
function envelopeId(mailFrom: string): string | null {
  return /^b\+([a-z2-7.]{1,64})@/.exec(mailFrom)?.[1] ?? null;
}

function isRelaysTrouble(over: SubmissionResult): boolean {
  if (over.result === 'refused') return classifyReply(over).isRelays;
  return over.result !== 'accepted';
}

function becomes(over: SubmissionResult): Handed {
  switch (over.result) {
    case 'accepted':
      return { result: 'sent', reply: over.reply, relayId: over.relayId };
    case 'refused':
      return refused(over);
    case 'not_sent': {
      const reply = `${over.stage}: ${over.reason}`;
      return { result: 'deferred', reason: 'relay_unreachable', reply, isRelays: true };
    }
    case 'unknown':
      return { result: 'unknown', reason: over.reason };
    default:
      return over satisfies never;
  }
}

function refused({ stage, code, reply }: Refused): Handed {
  const verdict = classifyReply({ stage, code, reply });
  const { isRelays } = verdict;
  const bounce = { class: verdict.class, status: verdict.status };
  if (!verdict.retry) return { result: 'failed', reason: REASONS[verdict.class], reply, bounce };
  const reason = isRelays ? 'relay_rejected' : 'deferred';
  return { result: 'deferred', reason, reply, isRelays, slowDown: verdict.slowDown && !isRelays, bounce };
}

const REASONS = {
  hard: 'bounced',
  soft: 'bounced',
  policy: 'rejected',
  infrastructure: 'bounced',
} as const;
