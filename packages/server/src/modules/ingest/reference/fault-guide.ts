import type { FaultCode } from '@beckon/contract';

/** The cause of each error code, and the action that resolves it. */
export const FAULT_GUIDE: Record<FaultCode, { when: string; remedy: string }> = {
  validation_failed: {
    when: 'The body, one of its fields or the `Idempotency-Key` header is not valid. No record of the request was stored. The status is 422, or 400 on the two bulk endpoints. On these, a single invalid record is reported with status 200 and the code `validation` instead. `field` is the path of the invalid field, such as `email`, `properties.usagePercent` or `events.3.name`. For other causes, it is `Idempotency-Key` or `body`.',
    remedy:
      'Correct the fields in `errors` and send the request again. You may use the same `Idempotency-Key`, because a rejected request does not use it up.',
  },
  auth_required: {
    when: 'The `Authorization` header is missing or malformed, or its key is unknown or revoked. All causes have the same response.',
    remedy: 'Check the key. Do not retry automatically, because the response stays the same.',
  },
  forbidden: {
    when: 'The key is valid, but its project is suspended, or API keys have no access to this path.',
    remedy: 'Ask the operator of this server. Do not retry automatically.',
  },
  idempotency_key_reuse: {
    when: 'In the last 24 hours, the project already used this `Idempotency-Key` with another body or at another endpoint. No record of this request was stored.',
    remedy:
      'For a new request, use a new key. To retry the earlier request, send the same body to the same endpoint.',
  },
  rate_limited: {
    when: 'The project has reached its rate limit for this endpoint. A client address with very many invalid keys gets the same response.',
    remedy: 'Wait for the seconds in `Retry-After`, then send the same request again.',
  },
  backfill_queue_full: {
    when: 'Only on the bulk endpoints: 50,000 or more accepted records of the project wait. No record of this request was stored.',
    remedy: 'Wait for the seconds in `Retry-After`, then continue. Send smaller chunks if it happens again.',
  },
  server_error: {
    when: '503, with `Retry-After`: the database did not respond in time, or memory for request bodies is full. 500: a bug in Beckon.',
    remedy:
      'Send the same request again with the same `Idempotency-Key`. Its records are stored only once, even if the first request had already stored them. If a 500 persists, search the server log for the `X-Request-Id` of the response.',
  },
  https_required: {
    when: 'The request used plain HTTP, and the public address of this server is https. The request was not processed.',
    remedy:
      'Use the https address in `Location`. A key that was sent over plain HTTP was readable on the network, so revoke it and create a new one.',
  },
  not_found: {
    when: 'No endpoint exists at this path. A trailing slash makes a different path.',
    remedy: 'Compare the path with the five endpoints of the API.',
  },
  method_not_allowed: {
    when: 'The path exists, but does not accept this method. The `Allow` header of the response lists the accepted ones, which for the API is only `POST`.',
    remedy:
      'Send a `POST` from your server. A web page cannot call these endpoints, because they support no CORS.',
  },
  unsupported_media_type: {
    when: '`Content-Type` is not `application/json` (in UTF-8), or `Content-Encoding` is not one of `gzip`, `br`, `zstd`.',
    remedy: 'Set `Content-Type: application/json`, and compress with one of these encodings or not at all.',
  },
  payload_too_large: {
    when: 'After decompression, the body is larger than the endpoint accepts: 256 KiB on `/users` and `/events`, and 10 MiB on batch and bulk endpoints.',
    remedy:
      'Split a batch or bulk request into several with fewer records. On the other endpoints, send a smaller record.',
  },
  bad_request: {
    when: 'The bytes are not valid HTTP, or are HTTP/1.1 without `Host`.',
    remedy: 'Check the client or proxy that sends the request.',
  },
  request_timeout: {
    when: 'The headers or the body took too long to arrive.',
    remedy: 'Send the request again on a new connection, with the same `Idempotency-Key`.',
  },
  headers_too_large: {
    when: 'All request headers together are larger than 16 KiB.',
    remedy: 'Send fewer or shorter headers.',
  },
};
