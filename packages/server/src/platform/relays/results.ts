import type { ReplyClass } from '../mail/smtp-reply.ts';
import { unreachable } from '../mail/send-result.ts';
import type { RelayResult } from './adapter.ts';
import { asReply } from './json.ts';

/**
 * The results of an email by the answer of a provider. An answer is a refusal only if the provider documents it as one. Any other answer
 * leaves the email unknown, because it may have been accepted.
 */
export function accepted(relayId: string | null, reply: string): RelayResult {
  return { result: { result: 'sent', relayId, reply: asReply(reply) } };
}

/** The email or its recipient was refused for good. */
export function refused(bounceClass: ReplyClass, reply: string, code?: number): RelayResult {
  const reason = bounceClass === 'policy' ? 'rejected' : 'bounced';
  return { result: { result: 'failed', reason, ...failure(bounceClass, reply, code) } };
}

/** The account, the key or the sending domain was refused, so every email of the relay would be. */
export function relayRefused(reply: string, code?: number): RelayResult {
  const result = { result: 'deferred', reason: 'relay_rejected', isRelayFault: true } as const;
  return { result: { ...result, ...failure('infrastructure', reply, code) } };
}

const PAUSE_MS = 10_000;
const PAUSE_MAX_MS = 15 * 60_000;

/** The provider wants a lower rate. Without a time of its own, ten seconds are enough for a limit by the second. */
export function rateLimited(reply: string, retryAfterMs: number | null): RelayResult {
  const pauseMs = Math.min(Math.max(retryAfterMs ?? PAUSE_MS, 1_000), PAUSE_MAX_MS);
  return { ...relayRefused(reply, 429), pauseMs };
}

type Refusal = { status: number; retryAfterMs: number | null; message: string; isOfEmail: boolean };

/**
 * Returns the meaning of an answer that is not a success, by its status and by whether it is about this email. Null: the email may have been
 * accepted.
 */
export function resultOfRefusal({ status, retryAfterMs, message, isOfEmail }: Refusal): RelayResult | null {
  if (status === 429) return rateLimited(message, retryAfterMs);
  if (status < 400 || status >= 500) return null;
  return status === 413 || isOfEmail ? refused('policy', message, status) : relayRefused(message, status);
}

/** The connection never opened. */
export function unsent(reason: string): RelayResult {
  return { result: unreachable('connect', reason) };
}

export function unknown(reason: string): RelayResult {
  return { result: { result: 'unknown', reason: asReply(reason) } };
}

/** The provider received a request with this key before, and does not say what became of it. */
export function repeated(reason: string): RelayResult {
  return { result: { result: 'unknown', reason: asReply(reason), isRepeated: true } };
}

function failure(bounceClass: ReplyClass, reply: string, code: number | undefined) {
  return {
    stage: 'body' as const,
    reply: asReply(reply),
    ...(code === undefined ? {} : { code }),
    bounce: { class: bounceClass, status: null },
  };
}
