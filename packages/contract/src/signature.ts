// Whoever receives webhooks is a server: this is an entry of its own, and the rest of the contract still runs anywhere.
// oxlint-disable-next-line no-restricted-imports
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * The signature of a delivery, in two forms that are made with the same key bytes over the same raw body.
 *
 *   X-Service-Signature: t=<unix seconds>,v1=<hex>[,v1=<hex>]     HMAC-SHA-256 over `<t>.<body>`
 *   webhook-id, webhook-timestamp, webhook-signature: v1,<base64>  over `<id>.<timestamp>.<body>` (Standard Webhooks)
 *
 * While a secret is replaced there is one `v1` for each that is live: one that fits is enough.
 */
export const SIGNATURE_HEADERS = {
  service: 'X-Service-Signature',
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  signature: 'webhook-signature',
} as const;

export const SIGNATURE_TOLERANCE_S = 300;

export type Signing = {
  /** `msg_…`, as it stands in the body. */
  id: string;
  /** The very bytes that are sent. */
  body: Uint8Array | string;
  /** Unix seconds. */
  timestamp: number;
  secrets: readonly Uint8Array[];
};

export function signWebhook({ id, body, timestamp, secrets }: Signing): Record<string, string> {
  if (secrets.length === 0) throw new Error('A delivery is signed with one secret at least');
  const service = secrets.map((secret) => `v1=${mac(secret, `${timestamp}.`, body).toString('hex')}`);
  const standard = secrets.map(
    (secret) => `v1,${mac(secret, `${id}.${timestamp}.`, body).toString('base64')}`,
  );
  return {
    [SIGNATURE_HEADERS.service]: [`t=${timestamp}`, ...service].join(','),
    [SIGNATURE_HEADERS.id]: id,
    [SIGNATURE_HEADERS.timestamp]: String(timestamp),
    [SIGNATURE_HEADERS.signature]: standard.join(' '),
  };
}

export type Received = {
  /** In any case; what came twice may be a list. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As it arrived, before anything parsed it. */
  body: Uint8Array | string;
  secrets: readonly Uint8Array[];
  /** In milliseconds. */
  now: number;
};

export type Verified =
  | { ok: true }
  | { ok: false; why: 'no_signature' | 'malformed' | 'too_old' | 'too_new' | 'wrong_signature' };

/** One form is enough; where both are there, both have to be right. */
export function verifyWebhook({ headers, body, secrets, now }: Received): Verified {
  const found = headersOf(headers);
  if (found === null) return { ok: false, why: 'malformed' };
  const claims = [serviceClaim(found), standardClaim(found)].filter((claim) => claim !== 'absent');
  if (claims.length === 0) return { ok: false, why: 'no_signature' };
  for (const claim of claims) {
    if (claim === 'malformed') return { ok: false, why: 'malformed' };
    const ageS = Math.floor(now / 1_000) - claim.timestamp;
    if (ageS > SIGNATURE_TOLERANCE_S) return { ok: false, why: 'too_old' };
    if (ageS < -SIGNATURE_TOLERANCE_S) return { ok: false, why: 'too_new' };
    if (!fits(claim, body, secrets)) return { ok: false, why: 'wrong_signature' };
  }
  return { ok: true };
}

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;
/** What Standard Webhooks allows. */
const SECRET_BYTES_MIN = 24;
const SECRET_BYTES_MAX = 64;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** The bytes that sign; null for what is no such secret. */
export function readWebhookSecret(text: string): Uint8Array | null {
  const encoded = text.startsWith(SECRET_PREFIX) ? text.slice(SECRET_PREFIX.length) : '';
  if (!BASE64.test(encoded) || encoded.length % 4 !== 0) return null;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.length >= SECRET_BYTES_MIN && bytes.length <= SECRET_BYTES_MAX ? bytes : null;
}

function mac(secret: Uint8Array, before: string, body: Uint8Array | string): Buffer {
  return createHmac('sha256', secret).update(before).update(body).digest();
}

type Found = Partial<Record<keyof typeof SIGNATURE_HEADERS, string>>;

const NAMES = new Map(
  Object.entries(SIGNATURE_HEADERS).map(([key, name]) => [name.toLowerCase(), key as keyof Found]),
);

/** Null where one of them came twice: nobody can tell which of the two was meant. */
function headersOf(headers: Received['headers']): Found | null {
  const found: Found = {};
  for (const [name, value] of Object.entries(headers)) {
    const key = NAMES.get(name.toLowerCase());
    if (key === undefined || value === undefined) continue;
    if (typeof value !== 'string' || found[key] !== undefined) return null;
    found[key] = value;
  }
  return found;
}

type Claim = { before: string; timestamp: number; given: Given } | 'absent' | 'malformed';
type Given = { texts: string[]; encoding: 'hex' | 'base64' };

/** More than there are live secrets, and few enough to try. */
const SIGNATURES_MAX = 10;
const TIMESTAMP = /^\d{1,12}$/;

function serviceClaim({ service }: Found): Claim {
  if (service === undefined) return 'absent';
  const parts = service.split(',').map((part) => part.trim());
  const valuesOf = (name: string): string[] =>
    parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1));
  const [timestamp = '', ...more] = valuesOf('t');
  if (more.length > 0 || !TIMESTAMP.test(timestamp)) return 'malformed';
  return claimOf(timestamp, `${timestamp}.`, { texts: valuesOf('v1'), encoding: 'hex' });
}

function standardClaim({ id, timestamp, signature }: Found): Claim {
  if (id === undefined && timestamp === undefined && signature === undefined) return 'absent';
  if (!id || !signature || timestamp === undefined || !TIMESTAMP.test(timestamp)) return 'malformed';
  const texts = signature.split(' ').flatMap((part) => (part.startsWith('v1,') ? [part.slice(3)] : []));
  return claimOf(timestamp, `${id}.${timestamp}.`, { texts, encoding: 'base64' });
}

const FORMS = { hex: /^[0-9a-f]{64}$/, base64: /^[A-Za-z0-9+/]{43}=$/ };

function claimOf(timestamp: string, before: string, given: Given): Claim {
  const { texts, encoding } = given;
  if (texts.length === 0 || texts.length > SIGNATURES_MAX) return 'malformed';
  if (!texts.every((text) => FORMS[encoding].test(text))) return 'malformed';
  return { before, timestamp: Number(timestamp), given };
}

/** As they are written: several texts of base64 stand for the same bytes, and ours is one of them. */
function fits(
  { before, given: { texts, encoding } }: Exclude<Claim, string>,
  body: Uint8Array | string,
  secrets: readonly Uint8Array[],
): boolean {
  return secrets.some((secret) => {
    const wanted = Buffer.from(mac(secret, before, body).toString(encoding));
    return texts.some((text) => text.length === wanted.length && timingSafeEqual(Buffer.from(text), wanted));
  });
}
