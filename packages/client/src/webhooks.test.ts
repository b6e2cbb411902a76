import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newWebhookSecret, readWebhookSecret, signWebhook } from '@beckon/contract/signature';
import { SignatureError, type WebhookEvent, webhooks } from './index.ts';
import { createFakeServer, type FakeServer } from './testing.ts';

const SECRET = newWebhookSecret();
const BODY = JSON.stringify({ id: 'msg_1', type: 'email.opened', livemode: true, data: { rule: 'welcome' } });

function signed(body: string, secret = SECRET, ageS = 0): Record<string, string> {
  const bytes = readWebhookSecret(secret);
  const timestamp = Math.floor(Date.now() / 1_000) - ageS;
  return signWebhook({ id: 'msg_1', body, timestamp, secrets: bytes ? [bytes] : [] });
}
function why(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error instanceof SignatureError ? error.why : error;
  }
}

test('webhooks.verify › returns the event of a signed request, for every kind of headers and body', () => {
  const headers = signed(BODY);
  const event: WebhookEvent = webhooks.verify(BODY, headers, SECRET);
  expect(event).toEqual(JSON.parse(BODY));
  expect(webhooks.verify(Buffer.from(BODY), new Headers(headers), SECRET)).toEqual(event);
  expect(webhooks.verify(BODY, headers, [newWebhookSecret(), SECRET])).toEqual(event);
});

test('webhooks.verify › accepts the test event that Beckon sends on demand', () => {
  const data = { message: 'This is a test event' };
  const body = JSON.stringify({ id: 'msg_2', type: 'test', livemode: true, data });
  const event: WebhookEvent = webhooks.verify(body, signed(body), SECRET);
  expect(event.type === 'test' && event.data).toEqual(data);
});

test('webhooks.verify › accepts an event of an unknown type', () => {
  const body = JSON.stringify({ id: 'msg_3', type: 'email.of_tomorrow', livemode: true, data: {} });
  expect(webhooks.verify(body, signed(body), SECRET)).toEqual(JSON.parse(body));
});

test('webhooks.verify › rejects anything else with its reason', () => {
  const headers = signed(BODY);
  expect(why(() => webhooks.verify(BODY, {}, SECRET))).toBe('no_signature');
  expect(why(() => webhooks.verify(`${BODY} `, headers, SECRET))).toBe('wrong_signature');
  expect(why(() => webhooks.verify(BODY, headers, newWebhookSecret()))).toBe('wrong_signature');
  expect(why(() => webhooks.verify(BODY, signed(BODY, SECRET, 301), SECRET))).toBe('too_old');
  expect(why(() => webhooks.verify(BODY, signed(BODY, SECRET, -302), SECRET))).toBe('too_new');
  expect(why(() => webhooks.verify(BODY, { 'x-service-signature': 'yes' }, SECRET))).toBe('malformed');
  for (const body of ['null', 'yes', '{"type":"email.opened"}', '{"id":"msg_1"}', '{"id":1,"type":"test"}'])
    expect(why(() => webhooks.verify(body, signed(body), SECRET))).toBe('not_an_event');
  expect(() => webhooks.verify(BODY, headers, 'sk_live_123')).toThrow(TypeError);
});

let fake: FakeServer;
beforeAll(async () => {
  fake = await createFakeServer();
});
afterAll(() => fake.close());

test('fake server › delivers webhooks like the real server', async () => {
  const received: WebhookEvent[] = [];
  const endpoint = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      received.push(webhooks.verify(Buffer.concat(chunks), request.headers, fake.webhookSecret));
      response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => endpoint.once('listening', resolve));
  const { port } = endpoint.address() as AddressInfo;
  const about = {
    external_user_id: 'ada',
    email_id: 'e1',
    draft_id: 'd1',
    rule: 'welcome',
    occurred_at: '2026-11-22',
  };
  const data = { ...about, method: 'link' } as const;
  expect(await fake.deliver(`http://127.0.0.1:${port}/`, 'email.unsubscribed', data)).toBe(204);
  expect(received).toMatchObject([{ type: 'email.unsubscribed', livemode: false, data }]);
  endpoint.close();
});
