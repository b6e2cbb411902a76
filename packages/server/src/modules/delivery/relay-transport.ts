import { redactTokens } from '../sending/index.ts';
import { checkBreaker, closedBreaker, recordSuccess, recordFailure } from '../../platform/mail/breaker.ts';
import { failureText, type SendResult, unreachable } from '../../platform/mail/send-result.ts';
import type { Relay } from '../../platform/mail/submit.ts';
import type { MarkEmail } from './mark-email.ts';
import type { Transport, TransportEmail } from './transport.ts';

/** `pauseMs`: how long the relay refuses all requests. */
type Submitted = { result: SendResult; pauseMs?: number };

export type GuardedOptions = {
  slots: number;
  now: () => number;
  submit: (email: TransportEmail) => Promise<Submitted>;
  /** Called with the reason each time that the relay is paused because it fails, and with null when it works. */
  onHealth?: (failure: string | null) => void;
};

/**
 * A relay as the sender sees it: the result of each email, and whether the relay is reachable. A failure of the relay itself is not a
 * bounce. After several in a row, no email is sent to it for a while, and so none is claimed.
 */
export function guardedTransport({ slots, now, submit, onHealth }: GuardedOptions): Transport {
  let breaker = closedBreaker;
  let pausedUntil = 0;
  let isKnownToWork = false;

  function note(result: SendResult): void {
    if (!isRelayFailure(result)) {
      breaker = recordSuccess();
      if (!isKnownToWork) onHealth?.(null);
      isKnownToWork = true;
      return;
    }
    const before = breaker;
    breaker = recordFailure(breaker, now());
    // The failures of emails that were sent before the pause change nothing.
    if (breaker === before || breaker.openUntil === 0) return;
    isKnownToWork = false;
    onHealth?.(failureText(result));
  }

  return {
    slots,
    closedUntil(at) {
      const until = Math.max(pausedUntil, breaker.openUntil);
      return until > at ? until : null;
    },
    isDoubtful: () => breaker.openUntil !== 0,
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, now() + ms);
    },
    async submit(email) {
      const check = checkBreaker(breaker, now());
      breaker = check.breaker;
      if (!check.isAllowed || pausedUntil > now())
        return { result: 'deferred', reason: 'relay_unreachable', isRelayFault: true };
      const submitted = await submit(email);
      const result = redacted(submitted.result);
      if (submitted.pauseMs !== undefined) pausedUntil = Math.max(pausedUntil, now() + submitted.pauseMs);
      note(result);
      return result;
    },
  };
}

export type RelayTransportOptions = Pick<GuardedOptions, 'now' | 'onHealth'> & {
  relay: Relay;
  /** Absent: emails are sent as they are. */
  mark?: MarkEmail;
};

/** An SMTP relay as the sender sees it. */
export function relayTransport({ relay, mark, ...options }: RelayTransportOptions): Transport {
  return guardedTransport({
    ...options,
    slots: relay.slots,
    async submit(email) {
      let { mime } = email;
      try {
        mime = mark ? await mark(email) : mime;
      } catch (error) {
        // Nothing was sent yet.
        const reason = error instanceof Error ? error.message : 'not read';
        return { result: unreachable('connect', reason) };
      }
      return { result: await submitBySmtp(relay, { ...email, mime }) };
    },
  });
}

export function submitBySmtp(
  relay: Pick<Relay, 'submit'>,
  { emailId, mailFrom, rcptTo, mime }: Pick<TransportEmail, 'emailId' | 'mailFrom' | 'rcptTo' | 'mime'>,
): Promise<SendResult> {
  const envid = envelopeId(mailFrom) ?? emailId;
  return relay.submit({ from: mailFrom, to: rcptTo, envid }, mime);
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
  if (result.result === 'unknown') return result.isRepeated !== true;
  return result.result === 'deferred' && result.isRelayFault === true;
}
