import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Journal, LoadEntry } from '../journal.ts';
import type { Wanted } from './requests.ts';

type Begin = Extract<LoadEntry, { kind: 'begin' }>;
export type Sending = Pick<Begin, 'key' | 'to' | 'intent'> & { secret: string };
/** A response, or null if no complete one came. `retryAfterMs` is from its Retry-After header. */
export type Heard = { status: number; retryAfterMs: number | null } | null;

const ANSWER_WITHIN_MS = 20_000;
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

/** Makes one attempt. It is on the disk before its first byte is sent, and again when its response was read completely. */
export async function post(journal: Journal, wanted: Wanted, sending: Sending): Promise<Heard> {
  const { secret, ...how } = sending;
  const id = randomUUID();
  journal.write({ kind: 'begin', at: Date.now(), id, ...how, ...wanted });
  try {
    const answer = await ask(`${how.to}${wanted.path}`, { wanted, secret });
    journal.write({ kind: 'end', at: Date.now(), id, ...answer.read });
    return { status: answer.read.status, retryAfterMs: answer.retryAfterMs };
  } catch (error) {
    journal.write({ kind: 'lost', at: Date.now(), id, reason: String(error).slice(0, 200) });
    return null;
  }
}

type Answer = {
  read: { status: number; body: string; replayed: boolean };
  retryAfterMs: number | null;
};

function ask(url: string, { wanted, secret }: { wanted: Wanted; secret: string }): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const request = http.request(url, {
    method: 'POST',
    agent,
    // Covers the whole response, however slowly it comes.
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    headers: {
      Authorization: `Bearer ${secret}`,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(wanted.body),
      'Idempotency-Key': wanted.idempotencyKey,
      'X-Forwarded-Proto': 'https',
    },
  });
  request.on('error', reject);
  request.on('response', (response) => {
    buffer(response).then((body) => {
      const { statusCode = 0, headers, complete } = response;
      if (!complete) return reject(new Error('the answer was cut off'));
      const seconds = Number(headers['retry-after'] ?? NaN);
      resolve({
        read: {
          status: statusCode,
          body: body.toString(),
          replayed: headers['idempotent-replayed'] === 'true',
        },
        retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : null,
      });
    }, reject);
  });
  request.end(wanted.body);
  return promise;
}
