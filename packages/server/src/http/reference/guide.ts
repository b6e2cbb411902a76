/** The part of the page that is read before the first request. Paragraphs, `## ` headings, `- ` lists, code in backticks. */
export const GUIDE = `
Your server sends Beckon two kinds of input: records of your users, and events about them. Five endpoints take them. A 2xx means that the records are on disk, in the database, and wait to be processed; it does not mean that they have been.

## Authentication

Every request carries an API key of the project: \`Authorization: Bearer sk_live_…\`. A key opens the five endpoints of its own project and nothing else. It is shown once, when it is made, and only a salted hash of it is kept.

A key in the query string is ignored. A revoked key is refused at its next request, for good. Several keys may be active at once, so to change one: make a new key, deploy it, and revoke the old one when it is no longer used. A client must not retry a 401 or 403 automatically.

Calls come from your server only. No answer carries \`Access-Control-Allow-Origin\`, so a browser cannot make them, and a key never belongs in one.

## Requests

A body is one JSON object in UTF-8, sent as \`Content-Type: application/json\`. It may be compressed: \`Content-Encoding: gzip\`, \`br\` or \`zstd\`, one coding only. Limits count decompressed bytes.

- Unknown fields are ignored, and not stored.
- Nothing is trimmed, folded or converted: the string "3" is not the number 3.
- null is a value only inside \`traits\` and \`properties\`; anywhere else leave the field out.
- Times are RFC 3339 with \`Z\` or an offset. Times in answers are in UTC with milliseconds.

## Idempotency

Send an \`Idempotency-Key\`, a new UUID v4, with each logical write, and send the same one with each retry of it. For 24 hours from the first acceptance the same key with the same body returns the first answer, byte for byte, with \`Idempotent-Replayed: true\`, and stores nothing. With another body, or at another endpoint, it is refused as \`idempotency_key_reuse\`. Two requests with one key at the same moment are stored once: the second waits for the first.

Only a 2xx uses a key up, so a request that was refused can be corrected and sent again under the same key. Keys of two projects know nothing of each other. For a single record, white space and the order of JSON keys do not make another body; in batch and bulk requests the order of keys does.

## Rate limits

Each project has a limit for each endpoint, in requests, that allows short bursts. \`RateLimit-Policy\` and \`RateLimit\` say what it is and what is left. Beyond it the answer is 429 \`rate_limited\`, with the seconds to wait in \`Retry-After\`. A refused and a replayed request count like any other.

## Answers

A success is \`{ "data": …, "meta": … }\`, a refusal is \`{ "errors": [{ "code", "message", "field"? }] }\`, and no answer is both. Decide by status and \`code\`; \`message\` is for people. Every answer has an \`X-Request-Id\`.

Retry on 429, on 5xx and where no answer came, with the same \`Idempotency-Key\`. Wait at least \`Retry-After\` where it is given, and longer each time where it is not.

## Versions

Everything lives under \`/api/v1\`. Changes within it only add: new optional fields, new headers, new codes. Anything else would be \`/api/v2\`, beside it. Send your client as \`User-Agent: name/version\`; if it is older than what this server wants, the answer says so in \`X-Client-Outdated\` and is otherwise the same.
`.trim();
