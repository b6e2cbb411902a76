import type { FaultCode } from '@beckon/contract';

/** What a caller should know of each code beyond its name: when it is answered, and what to do then. */
export const FAULT_GUIDE: Record<FaultCode, { when: string; remedy: string }> = {
  validation_failed: {
    when: 'The body, one of its fields or the `Idempotency-Key` header is not what the endpoint takes. 400 on the two bulk endpoints, where it means that the request as a whole cannot be read; 422 on the others. `field` names the place: `email`, `properties.usagePercent`, `events.3.name`, `Idempotency-Key`, or `body`.',
    remedy:
      'Correct what `errors` names and send again, under the same `Idempotency-Key` if you like: a refused request does not use it up.',
  },
  auth_required: {
    when: 'The `Authorization` header is missing or malformed, or its key is unknown or revoked. All causes have the same answer.',
    remedy: 'Check the key. Do not retry automatically: the answer will stay the same.',
  },
  forbidden: {
    when: 'The key is right, but its project is suspended, or the path is one that no API key opens.',
    remedy: 'Ask whoever runs this server. Do not retry automatically.',
  },
  idempotency_key_reuse: {
    when: 'This `Idempotency-Key` came with another body, or to another endpoint, in the last 24 hours.',
    remedy:
      'Give a new request a new key. To repeat the earlier request, send its body to its endpoint unchanged.',
  },
  rate_limited: {
    when: "The project's rate limit of this endpoint is used up. Also the answer to an address that has tried a great many wrong keys.",
    remedy: 'Wait for the seconds in `Retry-After`, then send the same request again.',
  },
  backfill_queue_full: {
    when: 'Only on the bulk endpoints: the project has 50,000 or more accepted records waiting. Nothing of this request was stored.',
    remedy: 'Wait for the seconds in `Retry-After`, then go on, with smaller chunks if it happens again.',
  },
  server_error: {
    when: '503 with `Retry-After`: the database did not answer in time, or the server holds as many bodies as it can. 500: a defect of the server.',
    remedy:
      'Send the same request again with the same `Idempotency-Key`: whether or not the first one was stored, it is stored once. For a 500 that stays, the `X-Request-Id` of the answer finds the cause in the log of the server.',
  },
  https_required: {
    when: 'The request came over plain HTTP, and the public address of this server is https. Nothing of it was looked at.',
    remedy:
      'Use the https address, which is in `Location`. A key that was sent over plain HTTP was readable on the way: revoke it and make a new one.',
  },
  not_found: {
    when: 'There is nothing under this path. A slash at the end makes another path.',
    remedy: 'Compare the path with the five endpoints on this page.',
  },
  method_not_allowed: {
    when: 'The path is right, the method is not: the endpoints take `POST` only, as `Allow` says.',
    remedy: 'Send a `POST`. From a browser it cannot be done: the calls belong on your server.',
  },
  unsupported_media_type: {
    when: '`Content-Type` is not `application/json` (in UTF-8), or `Content-Encoding` is not one of `gzip`, `br`, `zstd`.',
    remedy: 'Set `Content-Type: application/json`, and compress with one of the codings named or not at all.',
  },
  payload_too_large: {
    when: 'The body, after decompression, is larger than the endpoint takes.',
    remedy: 'Send fewer records in a request.',
  },
  bad_request: {
    when: 'The bytes are not valid HTTP, or HTTP/1.1 without `Host`.',
    remedy: 'Look at the client or proxy that writes the request.',
  },
  request_timeout: {
    when: 'The headers or the body took too long to arrive.',
    remedy: 'Send again on a new connection, with the same `Idempotency-Key`.',
  },
  headers_too_large: {
    when: 'The request headers together are larger than 16 KiB.',
    remedy: 'Send fewer or shorter headers.',
  },
};
