// Only servers receive webhooks. This is a separate entry point, so the rest of the contract still runs anywhere.
//
// oxlint-disable-next-line no-restricted-imports
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * The signature of a webhook delivery, in two forms. Both use the same key bytes and the same raw body.
 *
 *     X-Service-Signature: t=<unix seconds>,v1=<hex>[,v1=<hex>]      HMAC-SHA-256 over `<t>.<body>`
 *     webhook-id, webhook-timestamp, webhook-signature: v1,<base64>  over `<id>.<timestamp>.<body>` (Standard Webhooks)
 *
 * During a rotation of secrets there is one `v1` for each active secret, and one match is enough.
 */
export const SIGNATURE_HEADERS = {
  service: 'X-Service-Signature',
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  signature: 'webhook-signature',
} as const;

export const SIGNATURE_TOLERANCE_S = 300;

export type SigningInput = {
  /** `msg_…`, as in the body. */
  id: string;
  /** The exact bytes that are sent. */
  body: Uint8Array | string;
  /** Unix seconds. */
  timestamp: number;
  secrets: readonly Uint8Array[];
};

export function signWebhook({ id, body, timestamp, secrets }: SigningInput): Record<string, string> {
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
  /** Names in any case; a repeated header may be a list. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as it arrived, before any parser. */
  body: Uint8Array | string;
  secrets: readonly Uint8Array[];
  /** Milliseconds since 1970. */
  now: number;
};

export type Verified =
  | { ok: true }
  | { ok: false; why: 'no_signature' | 'malformed' | 'too_old' | 'too_new' | 'wrong_signature' };

/** One form is enough. If both are present, both must be valid. */
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
/** The limits of Standard Webhooks. */
const SECRET_BYTES_MIN = 24;
const SECRET_BYTES_MAX = 64;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** Returns the key bytes; null for an invalid secret. */
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

/** Returns null if a header occurs twice, because it is unclear which one is meant. */
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

type Claim = { before: string; timestamp: number; signatures: ClaimSignatures } | 'absent' | 'malformed';
type ClaimSignatures = { texts: string[]; encoding: 'hex' | 'base64' };

/** More than the number of active secrets, and few enough to try all. */
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

function claimOf(timestamp: string, before: string, signatures: ClaimSignatures): Claim {
  const { texts, encoding } = signatures;
  if (texts.length === 0 || texts.length > SIGNATURES_MAX) return 'malformed';
  if (!texts.every((text) => FORMS[encoding].test(text))) return 'malformed';
  return { before, timestamp: Number(timestamp), signatures };
}

/** Compares the encoded texts, because several base64 texts decode to the same bytes and only one of them is valid. */
function fits(
  { before, signatures: { texts, encoding } }: Exclude<Claim, string>,
  body: Uint8Array | string,
  secrets: readonly Uint8Array[],
): boolean {
  return secrets.some((secret) => {
    const expected = Buffer.from(mac(secret, before, body).toString(encoding));
    return texts.some(
      (text) => text.length === expected.length && timingSafeEqual(Buffer.from(text), expected),
    );
  });
}
