import type { ClaimedDelivery, DeliveryResult } from '../deliveries/webhook.ts';
import { jitterShare, nextAttempt, TRIES_MAX } from '../deliveries/schedule.ts';
import type { OutboundResponse } from '../../../platform/outbound/exchange.ts';

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
export type FinishedAttempt = { delivery: ClaimedDelivery; result: AttemptResult };

export function attemptResult(response: OutboundResponse, endedAt: number): AttemptResult {
  if (response.ok) {
    const { status, retryAfter } = response;
    return { kind: 'answered', endedAt, status, retryAfter, text: storable(response.body) };
  }
  const text = storable(response.detail);
  return response.wasReused
    ? { kind: 'stale', endedAt, text }
    : { kind: 'failed', endedAt, error: response.error, text };
}

/** Returns true if the result says nothing about the endpoint; such a delivery is retried at once. */
export function isInconclusive({ kind }: AttemptResult): boolean {
  return kind === 'stopped' || kind === 'stale';
}

export function isSuccess(result: AttemptResult): boolean {
  return result.kind === 'answered' && result.status >= 200 && result.status < 300;
}

export function deliveryResult({ delivery, result }: FinishedAttempt): DeliveryResult {
  const { projectId, endpointId, webhookId, number } = delivery;
  const key = { projectId, endpointId, webhookId, number, endedAt: result.endedAt };
  const facts = {
    status: result.kind === 'answered' ? result.status : null,
    error: errorOf(result),
    response: result.kind === 'stopped' || result.text === '' ? null : result.text,
  };
  if (isSuccess(result)) return { ...key, ...facts, state: 'delivered', nextAt: null };
  const nextAt = retryAt(delivery, result);
  return { ...key, ...facts, state: nextAt === null ? 'exhausted' : 'pending', nextAt };
}

function errorOf(result: AttemptResult): string | null {
  if (result.kind === 'answered') return result.status >= 300 && result.status < 400 ? 'redirect' : null;
  if (result.kind === 'stale') return 'reset';
  return result.kind === 'failed' ? result.error : 'stopped';
}

/** Returns the time of the next attempt. A result that is not the endpoint's failure is retried at once if an attempt is left. */
function retryAt({ webhookId, endpointId, tries }: ClaimedDelivery, result: AttemptResult): number | null {
  if (isInconclusive(result)) return tries < TRIES_MAX ? result.endedAt : null;
  const failed = {
    tries,
    endedAt: result.endedAt,
    status: result.kind === 'answered' ? result.status : null,
    retryAfter: result.kind === 'answered' ? result.retryAfter : null,
  };
  return nextAttempt(failed, jitterShare(webhookId, endpointId, tries));
}

/** Makes any text storable in PostgreSQL. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u{FFFD}');
}
