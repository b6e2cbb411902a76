import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  HOOK_TIME,
  relayContext,
  relayOutbound,
  RELAY_TOKEN,
} from '../../../testing/factories/relay-context.ts';
import { type FakeRelay, startFakeRelay } from '../../../testing/servers/relays/fake-relay.ts';
import type { FakeEvent, FakeHook } from '../../../testing/servers/relays/provider.ts';
import type { HttpRelayKind } from './adapter.ts';
import { RELAY_ADAPTERS } from './adapters.ts';

const KINDS = Object.keys(RELAY_ADAPTERS) as HttpRelayKind[];
const NOW = HOOK_TIME;
const TEXT = '550 5.1.1 The email account that you tried to reach does not exist';

const outbound = relayOutbound();
afterAll(() => outbound.close());

function event(kind: HttpRelayKind, changed: Partial<FakeEvent> = {}): FakeEvent {
  const isTag = kind === 'ses' || kind === 'resend';
  const token = isTag ? RELAY_TOKEN.replace('.', '-') : RELAY_TOKEN;
  const email = { id: '1571', to: 'ada@example.test', token, key: null, content: '' };
  return { id: 'event-1', kind: 'bounced', email, text: TEXT, at: NOW - 2_000, ...changed };
}

describe.each(KINDS)('%s › webhook', (kind) => {
  const adapter = RELAY_ADAPTERS[kind];
  const webhook = adapter.webhook;
  if (!webhook) throw new Error(`${kind} has no webhook`);
  let relay: FakeRelay;
  beforeAll(async () => {
    relay = await startFakeRelay(kind);
  });
  afterAll(() => relay.close());

  const hook = (changed: Partial<FakeEvent> = {}, signedAt = NOW) =>
    relay.provider.hook(event(kind, changed), signedAt);
  const verify = (request: FakeHook, settings = relay.settings) =>
    webhook.verify(request, relayContext(settings, outbound, NOW));

  test('accepts a signed request', async () => {
    expect(await verify(hook())).toBe('valid');
  });

  test('rejects a request without a signature', async () => {
    const unsigned = {
      headers: {},
      body: kind === 'mailgun' ? Buffer.from('{"event-data":{}}') : hook().body,
    };
    const bare = kind === 'ses' ? { headers: {}, body: Buffer.from('{"Type":"Notification"}') } : unsigned;
    expect(await verify(bare)).toBe('invalid');
  });

  test('rejects a request that another secret signed', async () => {
    const others: Record<string, string> = {
      hook_secret: 'other',
      webhook_secret: `whsec_${Buffer.from('other').toString('base64')}`,
      signing_key: 'other',
      verification_key: '',
      public_key: '',
      topic_arn: 'arn:aws:sns:eu-central-1:123456789012:other',
    };
    expect(await verify(hook(), { ...relay.settings, ...others })).toBe('invalid');
  });

  test('rejects everything while the secret is missing', async () => {
    const { api_key: apiKey = '', server_token: token = '' } = relay.settings;
    expect(await verify(hook(), { api_key: apiKey, server_token: token })).toBe('invalid');
  });

  const coversBody = ['resend', 'ses', 'sendgrid', 'postal'].includes(kind);
  test.runIf(coversBody)('rejects a body that was changed or truncated', async () => {
    const { headers, body } = hook();
    expect(await verify({ headers, body: Buffer.concat([body, Buffer.from(' ')]) })).toBe(
      kind === 'ses' ? 'valid' : 'invalid',
    );
    expect(await verify({ headers, body: body.subarray(0, -1) })).toBe('invalid');
    const changed = Buffer.from(body.toString().replace('ada@example.test', 'eve@example.test'));
    expect(await verify({ headers, body: changed })).toBe('invalid');
  });

  const signsTime = ['resend', 'ses', 'sendgrid', 'mailgun'].includes(kind);
  test.runIf(signsTime)(
    'refuses a request that was signed more than five minutes ago as a replay',
    async () => {
      expect(await verify(hook({}, NOW - 4 * 60_000))).toBe('valid');
      expect(await verify(hook({}, NOW - 6 * 60_000))).toBe('stale');
      expect(await verify(hook({}, NOW + 6 * 60_000))).toBe('stale');
    },
  );

  test('verifies no bytes that are not signed', async () => {
    const names = ['authorization', 'svix-id', 'svix-timestamp', 'svix-signature', 'x-postal-signature-256'];
    const twilio = ['signature', 'timestamp'].map((name) => `x-twilio-email-event-webhook-${name}`);
    const headers = fc.dictionary(fc.constantFrom(...names, ...twilio), fc.string());
    const body = fc.oneof(
      fc.uint8Array(),
      fc.json().map((text) => Buffer.from(text)),
    );
    await fc.assert(
      fc.asyncProperty(headers, body, async (given, bytes) => {
        expect(await verify({ headers: given, body: Buffer.from(bytes) })).toBe('invalid');
      }),
    );
  });

  test('reads the event of an email', () => {
    const [read] = webhook.parse(hook());
    expect(read).toMatchObject({
      kind: 'bounced',
      token: RELAY_TOKEN,
      relayEmailId: kind === 'sendgrid' ? null : '1571',
      recipient: 'ada@example.test',
      text: TEXT,
      at: kind === 'sendgrid' ? expect.any(Number) : NOW - 2_000,
    });
    expect(read?.status).toBe('5.1.1');
  });

  test.each(['delivered', 'deferred', 'complained'] as const)('reads an event of the kind %s', (name) => {
    const read = webhook.parse(hook({ kind: name }));
    // Postal knows no complaints.
    expect(read.map((found) => found.kind)).toEqual(kind === 'postal' && name === 'complained' ? [] : [name]);
  });

  test('ignores opens, which Beckon counts itself, and unknown events', () => {
    expect(webhook.parse(hook({ kind: 'opened' }))).toEqual([]);
  });

  test('gives an event the same id if it is reported again, and others another one', () => {
    const id = (changed: Partial<FakeEvent>, signedAt: number) =>
      webhook.parse(hook(changed, signedAt))[0]?.eventId;
    expect(id({}, NOW)).toBe(id({}, NOW + 60_000));
    expect(id({}, NOW)).not.toBe(id({ id: 'event-2', kind: 'delivered' }, NOW));
  });

  test('parses any JSON without an exception', () => {
    fc.assert(
      fc.property(fc.json(), fc.string(), (text, id) => {
        const body = Buffer.from(text);
        expect(webhook.parse({ headers: { 'svix-id': id }, body })).toBeInstanceOf(Array);
      }),
    );
  });

  test('parses a payload with any value in any place without an exception', () => {
    const { headers, body } = hook();
    const json: unknown = JSON.parse(body.toString());
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), (value, place) => {
        const changed = Buffer.from(JSON.stringify(replaceAt(json, { place, value })));
        for (const read of webhook.parse({ headers, body: changed })) {
          expect(read.eventId).not.toBe('');
          expect(read.text.length).toBeLessThanOrEqual(500);
          expect(read.at === null || Number.isSafeInteger(read.at)).toBe(true);
        }
      }),
    );
  });

  test.runIf('register' in webhook)('registers the webhook at the provider', async () => {
    const context = relayContext(relay.settings, outbound, NOW);
    const register = () => webhook.register?.('https://beckon.acme.test/hooks/relays/r1', context);
    const registered = await register();
    expect(registered).toMatchObject({ ok: true });
    // The provider already has the webhook the second time.
    expect(await register()).toEqual(registered);
    if (registered?.ok) expect(relay.settings).toMatchObject(registered.settings);
  });
});

/** Replaces the value at a place, counted through all values of the JSON. */
function replaceAt(json: unknown, change: { place: number; value: unknown }): unknown {
  let count = 0;
  const total = JSON.stringify(json).match(/[:[,]/g)?.length ?? 1;
  const target = change.place % total;
  return JSON.parse(JSON.stringify(json), (_, value: unknown) => {
    count += 1;
    return count === target ? change.value : value;
  });
}
