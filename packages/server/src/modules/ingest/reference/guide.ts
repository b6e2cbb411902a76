/** The introduction of the API, in Markdown: the description of the document, and the beginning of `docs/reference/api.md`. */
export const GUIDE = `
Your server sends Beckon two kinds of records: users, and events about them.
Five endpoints accept them.
A 2xx response means that the records are stored in the database, on disk, and wait to be processed.
It does not mean that they have been processed.

## Authentication

Every request needs an API key of the project: \`Authorization: Bearer sk_live_…\`.
A key works for the five endpoints of its own project and for nothing else.
It is shown once, when you create it, and only a salted hash of it is stored.

A key in the query string is ignored.
A revoked key is rejected at its next request, permanently.
To rotate a key, create a new one, deploy it, and revoke the old one when it is no longer used.
Several keys can be active at once.
A client must not retry a 401 or 403 automatically.

Send requests from your server only.
No response has \`Access-Control-Allow-Origin\`, so a browser cannot make them, and a key must never be in a browser.

## Requests

A body is one JSON object in UTF-8, sent as \`Content-Type: application/json\`.
It may be compressed with one encoding: \`Content-Encoding: gzip\`, \`br\` or \`zstd\`.
Limits count decompressed bytes.

- Unknown fields are ignored, and not stored.
- Values are never trimmed, folded or converted: the string "3" is not the number 3.
- null is a value only inside \`traits\` and \`properties\`.
  Anywhere else, leave the field out.
- Times are RFC 3339 with \`Z\` or an offset.
  Times in responses are in UTC with milliseconds.

## Idempotency

Send an \`Idempotency-Key\`, a new UUID v4, with each logical write, and the same key with each retry of it.
For 24 hours after the first acceptance, the same key and body return the first response, byte for byte.
The response then has \`Idempotent-Replayed: true\`, and nothing is stored.
The key is rejected as \`idempotency_key_reuse\` with another body, or at another endpoint.
Two simultaneous requests with one key are stored once: the second waits for the first.

Only a 2xx uses up a key, so you can correct a rejected request and send it again with the same key.
Keys of two projects are independent.
For a single record, white space and the order of JSON keys do not make another body.
In batch and bulk requests, the order of keys does.

## Rate limits

Each project has a limit per endpoint, in requests, that allows short bursts.
\`RateLimit-Policy\` and \`RateLimit\` contain the limit and the rest.
Beyond it, the response is 429 \`rate_limited\`, with the seconds to wait in \`Retry-After\`.
Rejected and replayed requests count like all others.

## Responses

A success is \`{ "data": …, "meta": … }\`, an error is \`{ "errors": [{ "code", "message", "field"? }] }\`, and no response is both.
Use the status and \`code\` in programs; \`message\` is for people.
Every response has an \`X-Request-Id\`.

Retry on 429, on 5xx and after no response, with the same \`Idempotency-Key\`.
Wait at least \`Retry-After\`, or use a growing delay without it.

## Versions

All endpoints are under \`/api/v1\`.
Changes within it only add new optional fields, headers or codes.
Any other change would be \`/api/v2\`, beside it.
Send your client as \`User-Agent: name/version\`.
If it is older than this server requires, the response has \`X-Client-Outdated\` and is otherwise the same.
`.trim();
