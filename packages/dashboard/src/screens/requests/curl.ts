/** A body that the endpoint takes: what was sent is not kept. */
const BODIES: Record<string, { path: string; body: string }> = {
  users: { path: 'users', body: '{"external_user_id":"ada","email":"ada@x.org"}' },
  events: { path: 'events', body: '{"external_user_id":"ada","name":"signed_up"}' },
  'users-bulk': { path: 'users/bulk', body: '{"users":[{"external_user_id":"ada"}]}' },
  'events-batch': {
    path: 'events/batch',
    body: '{"events":[{"external_user_id":"ada","name":"signed_up"}]}',
  },
  'events-bulk': { path: 'events/bulk', body: '{"events":[{"external_user_id":"ada","name":"signed_up"}]}' },
};

/** The same request as a command, with the secret left in the shell. */
export function curlOf(url: string, endpoint: string): string {
  const { path, body } = BODIES[endpoint] ?? { path: endpoint, body: '{}' };
  return [
    `curl -i ${url}/api/v1/${path} \\`,
    `  -H "Authorization: Bearer $BECKON_API_KEY" \\`,
    `  -H "Idempotency-Key: $(uuidgen)" -H 'Content-Type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n');
}

/** What an answer means for whoever sent, in a sentence. */
export function meaningOf(status: number, code: string | null): string {
  const known = MEANINGS[code ?? ''];
  if (known !== undefined) return known;
  if (status < 300) return 'It was accepted: it is durable, and applied in its turn.';
  return status < 500
    ? 'It was refused; the answer named each field.'
    : 'The server could not take it; a retry may.';
}

const MEANINGS: Record<string, string> = {
  validation_failed: 'It was refused: the answer named each field that was wrong. Nothing of it was stored.',
  rate_limited: 'It came too fast. A client that waits for Retry-After loses nothing.',
  backfill_queue_full:
    'Too much of this project waits already. A client that waits for Retry-After loses nothing.',
  idempotency_key_reuse: 'Its Idempotency-Key was used with another body in the last 24 hours.',
  forbidden: 'The key opens ingest alone.',
  payload_too_large: 'Its body was larger than this endpoint accepts.',
  unsupported_media_type: 'Its body was no JSON, or in a coding that is not taken.',
  server_error: 'The server could not take it. A retry with the same Idempotency-Key is safe.',
};
