/** The codes of all error responses. They are stable, so a client may switch on them. */
export const FAULT_MESSAGES = {
  validation_failed: 'The request is not valid',
  auth_required: 'A valid API key is required',
  forbidden: 'This API key has no access to this resource',
  idempotency_key_reuse: 'This Idempotency-Key was used with a different request in the last 24 hours',
  rate_limited: 'Too many requests',
  backfill_queue_full: 'The project has 50,000 or more records waiting; retry later with smaller chunks',
  server_error: 'The server could not process the request; retry with the same Idempotency-Key',
  https_required: 'Use https',
  not_found: 'No endpoint at this path',
  method_not_allowed: 'This path does not accept this method',
  unsupported_media_type: 'Send application/json, encoded as identity, gzip, br or zstd',
  payload_too_large: 'The body is larger than this endpoint accepts',
  bad_request: 'The request is not valid HTTP',
  request_timeout: 'The request took too long to arrive',
  headers_too_large: 'The request headers are larger than 16 KiB',
} as const;

export type FaultCode = keyof typeof FAULT_MESSAGES;

/** Errors that only the dashboard API returns. No public endpoint returns them, so they are not in the API reference. */
export const TEAM_FAULT_MESSAGES = {
  conflict: 'The resource changed since you loaded it. Reload it and try again',
  session_required: 'Sign in first: there is no session, or it has expired',
  role_required: 'Your role does not allow this',
  confirmation_required: 'Confirm that it is you, then try again',
  busy: 'The server is busy. Try again in a few seconds',
} as const;

export type TeamFaultCode = keyof typeof TEAM_FAULT_MESSAGES;
