import type { WebhookEvent } from '@beckon/contract';
import { readWebhookSecret, type Received, type Verified, verifyWebhook } from '@beckon/contract/signature';

export type SignatureProblem = Extract<Verified, { ok: false }>['why'] | 'not_an_event';

/** The request is not from Beckon, or is too old. Answer with 400 and ignore its content. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError';
  readonly why: SignatureProblem;

  constructor(why: SignatureProblem) {
    super(SAID[why]);
    this.why = why;
  }
}

const SAID: Record<SignatureProblem, string> = {
  no_signature: 'The request has no signature',
  malformed: 'The signature of the request cannot be read',
  too_old:
    'The request was signed more than five minutes ago: an old one sent again, or a clock that is wrong',
  too_new: 'The request was signed more than five minutes from now: the clocks differ',
  wrong_signature:
    'The signature is not that of this body: another secret, or a body that was parsed and written again',
  not_an_event: 'The request is signed, but its body is no event',
};

/** The headers of `node:http` or of `fetch`. */
export type WebhookHeaders = Received['headers'] | { entries(): Iterable<[string, string]> };

/** Checks deliveries to your endpoint. */
export const webhooks = {
  /**
   * Returns the event of a webhook delivery after verifying its signature. `rawBody`: the bytes as they arrived, before any parser. Give
   * both secrets while you replace one. A server newer than this library may send types that are not in `WebhookEvent`; answer them with
   * 2xx too.
   */
  verify(
    rawBody: string | Uint8Array,
    headers: WebhookHeaders,
    secret: string | readonly string[],
  ): WebhookEvent {
    const secrets = [secret].flat().map(secretBytes);
    const verified = verifyWebhook({ body: rawBody, headers: plain(headers), secrets, now: Date.now() });
    if (!verified.ok) throw new SignatureError(verified.why);
    const event = read(typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody));
    if (event === null) throw new SignatureError('not_an_event');
    return event;
  },
};

function secretBytes(text: string): Uint8Array {
  const bytes = readWebhookSecret(text);
  if (bytes === null) throw new TypeError('Beckon: a webhook secret is whsec_ and 32 bytes of base64');
  return bytes;
}

function plain(headers: WebhookHeaders): Received['headers'] {
  const { entries } = headers as { entries?: unknown };
  if (typeof entries !== 'function') return headers as Received['headers'];
  return Object.fromEntries((headers as { entries(): Iterable<[string, string]> }).entries());
}

function read(text: string): WebhookEvent | null {
  try {
    const event = JSON.parse(text) as Partial<Record<'id' | 'type', unknown>> | null;
    return typeof event?.id === 'string' && typeof event.type === 'string' ? (event as WebhookEvent) : null;
  } catch {
    // The signature is valid but the body is not JSON; the caller throws `not_an_event`.
    return null;
  }
}
