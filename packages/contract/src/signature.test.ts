import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test, vi } from 'vitest';
import { newWebhookSecret, readWebhookSecret, signWebhook, verifyWebhook } from './signature.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
const timestamp = NOW / 1_000;
const id = 'msg_01k0000000000000000000000';
const body = JSON.stringify({ id, type: 'email.opened', data: { name: 'Zoë “Z” 😀' } });

function newSecret(): { text: string; bytes: Uint8Array } {
  const text = newWebhookSecret();
  return { text, bytes: readWebhookSecret(text) ?? new Uint8Array() };
}

const secret = newSecret();
const other = newSecret();
const headers = signWebhook({ id, body, timestamp, secrets: [secret.bytes] });
const verify = (changed: Partial<Parameters<typeof verifyWebhook>[0]>) =>
  verifyWebhook({ headers, body, secrets: [secret.bytes], now: NOW, ...changed });

const SERVICE = 'X-Service-Signature';
const only = (...names: string[]) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)));

describe('published vectors', () => {
  test('GitHub: HMAC-SHA-256 of a body', () => {
    const mac = createHmac('sha256', "It's a Secret to Everybody").update('Hello, World!').digest('hex');
    expect(mac).toBe('757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17');
  });

  test('Standard Webhooks', () => {
    const bytes = readWebhookSecret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
    const signed = signWebhook({
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1_614_265_330,
      body: '{"test": 2432232314}',
      secrets: bytes ? [bytes] : [],
    });
    expect(signed['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  test('Beckon: HMAC of time, dot and body with the decoded secret', () => {
    const mac = createHmac('sha256', Buffer.from(secret.text.slice(6), 'base64'));
    const hex = mac.update(`${timestamp}.${body}`).digest('hex');
    expect(headers[SERVICE]).toBe(`t=${timestamp},v1=${hex}`);
  });
});

describe('the standardwebhooks package', () => {
  test('verifies signatures of Beckon, and Beckon verifies its signatures', () => {
    vi.useFakeTimers({ now: NOW });
    try {
      fc.assert(
        fc.property(fc.json(), fc.stringMatching(/^msg_[0-9a-z]{26}$/), (text, name) => {
          const theirs = new Webhook(secret.text);
          const signed = signWebhook({
            id: name,
            body: text,
            timestamp,
            secrets: [other.bytes, secret.bytes],
          });
          expect(theirs.verify(text, signed)).toEqual(JSON.parse(text));
          const signature = theirs.sign(name, new Date(NOW), text);
          const sent = {
            'webhook-id': name,
            'webhook-timestamp': String(timestamp),
            'webhook-signature': signature,
          };
          expect(verify({ headers: sent, body: text })).toEqual({ ok: true });
        }),
      );
    } finally {
      vi.useRealTimers();
    }
  });
});

test('verifyWebhook › accepts either form, headers in any case, and a body as bytes or text', () => {
  expect(verify({})).toEqual({ ok: true });
  expect(verify({ headers: only(SERVICE) })).toEqual({ ok: true });
  expect(verify({ headers: only('webhook-id', 'webhook-timestamp', 'webhook-signature') })).toEqual({
    ok: true,
  });
  const shouted = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  );
  expect(verify({ headers: shouted, body: Buffer.from(body) })).toEqual({ ok: true });
});

test('verifyWebhook › accepts each active secret during a rotation, and no other', () => {
  const third = newSecret();
  const live = [secret.bytes, other.bytes, third.bytes];
  for (const secrets of [live.slice(0, 2), live]) {
    const signed = signWebhook({ id, body, timestamp, secrets });
    expect(signed[SERVICE]?.match(/v1=/g)).toHaveLength(secrets.length);
    for (const activeSecret of secrets)
      expect(verify({ headers: signed, secrets: [activeSecret] })).toEqual({ ok: true });
    expect(verify({ headers: signed, secrets: [newSecret().bytes] })).toEqual({
      ok: false,
      why: 'wrong_signature',
    });
  }
});

test('verifyWebhook › rejects a change in any header or the body', () => {
  const headerNames = Object.keys(headers);
  fc.assert(
    fc.property(
      fc.constantFrom(...headerNames, 'body'),
      fc.nat(),
      fc.integer({ min: 1, max: 127 }),
      (part, n, bits) => {
        const flip = (text: string): string => {
          const at = n % text.length;
          return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ bits) + text.slice(at + 1);
        };
        const changed =
          part === 'body'
            ? { body: flip(body) }
            : { headers: { ...headers, [part]: flip(headers[part] ?? '') } };
        expect(verify(changed).ok).toBe(false);
      },
    ),
    { numRuns: 5_000 },
  );
  expect(verify({ body: '' }).ok).toBe(false);
  expect(verify({ secrets: [] }).ok).toBe(false);
});

test.each([
  [300, true],
  [301, false],
  [86_400, false],
])('verifyWebhook › for a delivery %i s old, or that much too early, returns %s', (seconds, ok) => {
  for (const form of [headers, only(SERVICE)]) {
    expect(verify({ headers: form, now: NOW + seconds * 1_000 }).ok).toBe(ok);
    expect(verify({ headers: form, now: NOW - seconds * 1_000 }).ok).toBe(ok);
  }
  if (!ok) {
    expect(verify({ now: NOW + seconds * 1_000 })).toEqual({ ok: false, why: 'too_old' });
    expect(verify({ now: NOW - seconds * 1_000 })).toEqual({ ok: false, why: 'too_new' });
  }
});

test('verifyWebhook › rejects empty, missing, duplicate and malformed signatures', () => {
  const signature = headers[SERVICE] ?? '';
  const hex = signature.split('v1=')[1] ?? '';
  const refused = [
    '',
    't=',
    'v1=',
    `t=${timestamp}`,
    `v1=${hex}`,
    `t=${timestamp},v1=`,
    `t=${timestamp},v0=${hex}`,
    `t=${timestamp},v1=${hex}00`,
    `t=${timestamp},v1=${hex}zz`,
    `t=${timestamp},t=${timestamp},v1=${hex}`,
    `t=+${timestamp},v1=${hex}`,
    `t=${timestamp}.0,v1=${hex}`,
    `${signature}, ${signature}`,
    `t=${timestamp},${Array(11).fill(`v1=${hex}`).join(',')}`,
  ];
  for (const value of refused) expect(verify({ headers: { [SERVICE]: value } }).ok, value).toBe(false);
  expect(verify({ headers: {} })).toEqual({ ok: false, why: 'no_signature' });
  expect(verify({ headers: { [SERVICE]: [signature, signature] } })).toEqual({ ok: false, why: 'malformed' });
  expect(verify({ headers: { [SERVICE]: signature, [SERVICE.toLowerCase()]: signature } }).ok).toBe(false);
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    for (const value of ['', undefined, `${headers[name]}, ${headers[name]}`])
      expect(verify({ headers: { ...headers, [name]: value } }).ok, `${name} ${value}`).toBe(false);
});

test('newWebhookSecret › has 32 random bytes, and readWebhookSecret rejects other texts', () => {
  const made = new Set(Array.from({ length: 100 }, newWebhookSecret));
  expect(made.size).toBe(100);
  for (const text of made) {
    expect(text).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(readWebhookSecret(text)).toHaveLength(32);
  }
  for (const text of [
    '',
    'whsec_',
    'whsec_AAAA',
    secret.text.slice(6),
    `${secret.text}\n`,
    `whsec_${'A'.repeat(200)}`,
    'whsec_*',
  ])
    expect(readWebhookSecret(text), text).toBeNull();
  expect(() => signWebhook({ id, body, timestamp, secrets: [] })).toThrow();
});

describe('verifier of the guide', async () => {
  const guide = readFileSync(new URL('../../../docs/how-to/verify-webhooks.md', import.meta.url), 'utf8');
  const printed = /```js\n(import \{ createHmac[^]*?)```/.exec(guide)?.[1] ?? '';
  const module: unknown = await import(`data:text/javascript,${encodeURIComponent(printed)}`);
  const { isGenuine } = module as { isGenuine: (body: string, header: string, secret: string) => boolean };
  const now = Math.floor(Date.now() / 1_000);
  const sign = (at: number, secrets = [secret.bytes]) =>
    signWebhook({ id, body, timestamp: at, secrets })[SERVICE] ?? '';

  test('has fifteen lines', () => {
    const lines = printed.split('\n').filter((line) => line !== '' && !line.startsWith('/**'));
    expect(lines.length).toBeLessThanOrEqual(15);
  });

  test('accepts only genuine deliveries, also during a rotation of secrets', () => {
    expect(isGenuine(body, sign(now), secret.text)).toBe(true);
    expect(isGenuine(body, sign(now, [other.bytes, secret.bytes]), secret.text)).toBe(true);
    expect(isGenuine(`${body} `, sign(now), secret.text)).toBe(false);
    expect(
      isGenuine(
        body,
        sign(now).replace(/.$/, (last) => (last === '0' ? '1' : '0')),
        secret.text,
      ),
    ).toBe(false);
    expect(isGenuine(body, sign(now).replace(`t=${now}`, `t=${now + 1}`), secret.text)).toBe(false);
    expect(isGenuine(body, sign(now), other.text)).toBe(false);
    for (const at of [now - 310, now + 310, 0]) expect(isGenuine(body, sign(at), secret.text)).toBe(false);
    for (const header of ['', 't=,v1=', `t=${now}`, `t=${now},v1=`, `${sign(now)},t=${now}`])
      expect(isGenuine(body, header, secret.text)).toBe(false);
  });
});
