import { classifyReply } from '../outcomes/index.ts';
import { redactTokens } from '../sending/index.ts';
import { checkBreaker, closedBreaker, recordSuccess, recordFailure } from '../../platform/mail/breaker.ts';
import type { SubmissionResult, Relay } from '../../platform/mail/submit.ts';
import type { TransportResult, Transport } from './transport.ts';

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
    async submit({ emailId, mailFrom, rcptTo, mime }) {
      const check = checkBreaker(breaker, now());
      breaker = check.breaker;
      if (!check.isAllowed || pausedUntil > now())
        return { result: 'deferred', reason: 'relay_unreachable', isRelayFault: true };
      const envid = envelopeId(mailFrom) ?? emailId;
      const result = redacted(await relay.submit({ from: mailFrom, to: rcptTo, envid }, mime));
      breaker = isRelayFailure(result) ? recordFailure(breaker, now()) : recordSuccess();
      return transportResult(result);
    },
  };
}

/**
 * Redacts tokens in the answer of a server before it is stored. A server may repeat the sender address, and its token would let any reader
 * forge a bounce.
 */
function redacted(result: SubmissionResult): SubmissionResult {
  return 'reply' in result
    ? { ...result, reply: redactTokens(result.reply) }
    : { ...result, reason: redactTokens(result.reason) };
}

/** Returns the token of the sender address. A report may contain it even if that address was rewritten on the way. */
function envelopeId(mailFrom: string): string | null {
  return /^b\+([a-z2-7.]{1,64})@/.exec(mailFrom)?.[1] ?? null;
}

function isRelayFailure(result: SubmissionResult): boolean {
  if (result.result === 'refused') return classifyReply(result).isRelayFault;
  return result.result !== 'accepted';
}

function transportResult(result: SubmissionResult): TransportResult {
  switch (result.result) {
    case 'accepted':
      return { result: 'sent', reply: result.reply, relayId: result.relayId };
    case 'refused':
      return refused(result);
    case 'not_sent': {
      const reply = `${result.stage}: ${result.reason}`;
      return { result: 'deferred', reason: 'relay_unreachable', reply, isRelayFault: true };
    }
    case 'unknown':
      return { result: 'unknown', reason: result.reason };
    default:
      return result satisfies never;
  }
}

function refused({ stage, code, reply }: Refused): TransportResult {
  const classification = classifyReply({ stage, code, reply });
  const { isRelayFault } = classification;
  const bounce = { class: classification.class, status: classification.status };
  if (!classification.retry)
    return { result: 'failed', reason: REASONS[classification.class], reply, bounce };
  const reason = isRelayFault ? 'relay_rejected' : 'deferred';
  return {
    result: 'deferred',
    reason,
    reply,
    isRelayFault,
    slowDown: classification.slowDown && !isRelayFault,
    bounce,
  };
}

const REASONS = {
  hard: 'bounced',
  soft: 'bounced',
  policy: 'rejected',
  infrastructure: 'bounced',
} as const;
