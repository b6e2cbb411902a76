import { type SampleCall, SAMPLE_USER as USER } from '../../parts/sample-calls.ts';

const SIGN_UP = { external_user_id: USER, name: 'user_signed_up' };

/** A sample body, because request bodies are not stored. */
const CALLS: Record<string, SampleCall> = {
  users: { path: 'users', body: { external_user_id: USER, email: 'ada@example.com' } },
  events: { path: 'events', body: SIGN_UP },
  'users-bulk': { path: 'users/bulk', body: { users: [{ external_user_id: USER }] } },
  'events-batch': { path: 'events/batch', body: { events: [SIGN_UP] } },
  'events-bulk': { path: 'events/bulk', body: { events: [SIGN_UP] } },
};

/** A call of this endpoint. */
export function sampleCall(endpoint: string): SampleCall {
  return CALLS[endpoint] ?? { path: endpoint, body: {} };
}

/** Explains a response to its sender in one sentence. */
export function meaningOf(status: number, code: string | null): string {
  const meaning = MEANINGS[code ?? ''];
  if (meaning !== undefined) return meaning;
  if (status < 300) return 'Accepted and stored on disk. It is processed in order.';
  return status < 500
    ? 'Refused. The response named each invalid field.'
    : 'Server error. Retry the request.';
}

const MEANINGS: Record<string, string> = {
  validation_failed: 'Refused. The response named each invalid field. No record was stored.',
  rate_limited: 'Too many requests. A client that waits for Retry-After loses no data.',
  backfill_queue_full:
    'The project’s ingest queue is full. A client that waits for Retry-After loses no data.',
  idempotency_key_reuse: 'The Idempotency-Key was used with another body in the last 24 hours.',
  forbidden: 'API keys can only send data.',
  payload_too_large: 'The body was too large for this endpoint.',
  unsupported_media_type: 'The body was not JSON, or had an unsupported encoding.',
  server_error: 'Server error. A retry with the same Idempotency-Key is safe.',
};
