import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Journal, LoadEntry } from '../journal.ts';
import type { RequestSpec } from './requests.ts';

type Begin = Extract<LoadEntry, { kind: 'begin' }>;
export type PostOptions = Pick<Begin, 'key' | 'to' | 'intent'> & { secret: string };
/** A response, or null if no complete one came. `retryAfterMs` is from its Retry-After header. */
export type PostResult = { status: number; retryAfterMs: number | null } | null;

const RESPONSE_TIMEOUT_MS = 20_000;
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

/** Makes one attempt. It is on the disk before its first byte is sent, and again when its response was read completely. */
export async function post(journal: Journal, spec: RequestSpec, options: PostOptions): Promise<PostResult> {
  const { secret, ...attempt } = options;
  const id = randomUUID();
  journal.write({ kind: 'begin', at: Date.now(), id, ...attempt, ...spec });
  try {
    const answer = await send(`${attempt.to}${spec.path}`, { spec, secret });
    journal.write({ kind: 'end', at: Date.now(), id, ...answer.response });
    return { status: answer.response.status, retryAfterMs: answer.retryAfterMs };
  } catch (error) {
    journal.write({ kind: 'lost', at: Date.now(), id, reason: String(error).slice(0, 200) });
    return null;
  }
}

type Answer = {
  response: { status: number; body: string; replayed: boolean };
  retryAfterMs: number | null;
};

function send(url: string, { spec, secret }: { spec: RequestSpec; secret: string }): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const request = http.request(url, {
    method: 'POST',
    agent,
    // Covers the whole response, however slowly it comes.
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    headers: {
      Authorization: `Bearer ${secret}`,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(spec.body),
      'Idempotency-Key': spec.idempotencyKey,
      'X-Forwarded-Proto': 'https',
    },
  });
  request.on('error', reject);
  request.on('response', (response) => {
    buffer(response).then((body) => {
      const { statusCode = 0, headers, complete } = response;
      if (!complete) return reject(new Error('the response was cut off'));
      const seconds = Number(headers['retry-after'] ?? NaN);
      resolve({
        response: {
          status: statusCode,
          body: body.toString(),
          replayed: headers['idempotent-replayed'] === 'true',
        },
        retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : null,
      });
    }, reject);
  });
  request.end(spec.body);
  return promise;
}
