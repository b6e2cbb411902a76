import type { ClaimedDelivery, DeliveryResult } from '../deliveries/webhook.ts';
import { jitterShare, nextAttempt, TRIES_MAX } from '../deliveries/schedule.ts';
import type { OutboundAnswer } from '../../../platform/outbound/exchange.ts';

/**
 * The result of a request. `stopped`: the worker shut down before the answer. `stale`: a reused connection was cut, and it is unknown how
 * much of the request was read.
 */
export type AttemptResult = { endedAt: number } & (
  | { kind: 'answered'; status: number; retryAfter: string | null; text: string }
  | { kind: 'failed'; error: string; text: string }
  | { kind: 'stale'; text: string }
  | { kind: 'stopped' }
);
export type FinishedAttempt = { delivery: ClaimedDelivery; answer: AttemptResult };

export function toAnswer(answer: OutboundAnswer, endedAt: number): AttemptResult {
  if (answer.ok) {
    const { status, retryAfter } = answer;
    return { kind: 'answered', endedAt, status, retryAfter, text: storable(answer.answer) };
  }
  const text = storable(answer.detail);
  return answer.wasReused
    ? { kind: 'stale', endedAt, text }
    : { kind: 'failed', endedAt, error: answer.error, text };
}

/** Returns true if the result says nothing about the endpoint; such a delivery is retried at once. */
export function isNoWord({ kind }: AttemptResult): boolean {
  return kind === 'stopped' || kind === 'stale';
}

export function isGood(answer: AttemptResult): boolean {
  return answer.kind === 'answered' && answer.status >= 200 && answer.status < 300;
}

export function resultOf({ delivery, answer }: FinishedAttempt): DeliveryResult {
  const { projectId, endpointId, messageId, number } = delivery;
  const place = { projectId, endpointId, messageId, number, endedAt: answer.endedAt };
  const said = {
    status: answer.kind === 'answered' ? answer.status : null,
    error: errorOf(answer),
    answer: answer.kind === 'stopped' || answer.text === '' ? null : answer.text,
  };
  if (isGood(answer)) return { ...place, ...said, state: 'delivered', nextAt: null };
  const nextAt = againAt(delivery, answer);
  return { ...place, ...said, state: nextAt === null ? 'exhausted' : 'pending', nextAt };
}

function errorOf(answer: AttemptResult): string | null {
  if (answer.kind === 'answered') return answer.status >= 300 && answer.status < 400 ? 'redirect' : null;
  if (answer.kind === 'stale') return 'reset';
  return answer.kind === 'failed' ? answer.error : 'stopped';
}

/** Returns the time of the next attempt. A result that is not the endpoint's failure is retried at once if an attempt is left. */
function againAt({ messageId, endpointId, tries }: ClaimedDelivery, answer: AttemptResult): number | null {
  if (isNoWord(answer)) return tries < TRIES_MAX ? answer.endedAt : null;
  const failed = {
    tries,
    endedAt: answer.endedAt,
    status: answer.kind === 'answered' ? answer.status : null,
    retryAfter: answer.kind === 'answered' ? answer.retryAfter : null,
  };
  return nextAttempt(failed, jitterShare(messageId, endpointId, tries));
}

/** Makes any text storable in PostgreSQL. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u{FFFD}');
}
