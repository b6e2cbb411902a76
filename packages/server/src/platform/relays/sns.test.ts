import { afterAll, describe, expect, test } from 'vitest';
import { HOOK_TIME, relayContext, relayOutbound } from '../../../testing/factories/relay-context.ts';
import { SES_TOPIC, signedSns, SNS_CERTIFICATE_URL } from '../../../testing/servers/relays/ses.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { confirmSns, verifySns } from './sns.ts';

const NOW = HOOK_TIME;
const CONFIRM_URL = 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=t';
const NOTIFICATION = { Type: 'Notification', MessageId: 'm1', Message: '{}' };
const CONFIRMATION = {
  Type: 'SubscriptionConfirmation',
  MessageId: 'm2',
  Message: 'You have chosen to subscribe',
  Token: 't',
  SubscribeURL: CONFIRM_URL,
};

const certificates = relayOutbound();
afterAll(() => certificates.close());

/** Answers requests for a confirmation, and records them. */
function outbound(status = 200): Outbound & { urls: string[] } {
  const urls: string[] = [];
  return {
    ...certificates,
    urls,
    get(request) {
      urls.push(request.url);
      if (request.url === SNS_CERTIFICATE_URL) return certificates.get(request);
      return Promise.resolve({ ok: true, status, retryAfter: null, body: '', file: null, ms: 1 });
    },
  };
}

const verify = (body: Buffer, by: Outbound = outbound(), topic: string = SES_TOPIC) =>
  verifySns(body, relayContext({ topic_arn: topic }, by, NOW));

function changed(body: Buffer, fields: Record<string, unknown>): Buffer {
  return Buffer.from(JSON.stringify({ ...(JSON.parse(body.toString()) as object), ...fields }));
}

describe('verifySns', () => {
  const signed = signedSns(NOTIFICATION, NOW);

  test('accepts each type of message from the topic', async () => {
    expect(await verify(signed)).toBe('valid');
    expect(await verify(signedSns({ ...NOTIFICATION, Subject: 'Amazon SES' }, NOW))).toBe('valid');
    expect(await verify(signedSns(CONFIRMATION, NOW))).toBe('valid');
  });

  test('rejects a correctly signed message of another topic, before it requests a certificate', async () => {
    const by = outbound();
    expect(await verify(signed, by, `${SES_TOPIC}2`)).toBe('invalid');
    expect(by.urls).toEqual([]);
  });

  test.each([
    ['another message', { Message: '{"eventType":"Bounce"}' }],
    ['an added subject', { Subject: 'x' }],
    ['version 1, which is SHA-1', { SignatureVersion: '1' }],
    ['a certificate from another host', { SigningCertURL: 'https://evil.test/cert.pem' }],
    ['a certificate over http', { SigningCertURL: SNS_CERTIFICATE_URL.replace('https', 'http') }],
    ['a type that SNS does not have', { Type: '__proto__' }],
    ['a field that is no text', { Message: ['{}'] }],
    ['no signature', { Signature: undefined }],
  ])('rejects %s', async (_, fields) => {
    expect(await verify(changed(signed, fields))).toBe('invalid');
  });

  test('requests no address but that of SNS in the region of the topic', async () => {
    const by = outbound();
    await verify(changed(signed, { SigningCertURL: 'https://169.254.169.254/latest/meta-data' }), by);
    await verify(changed(signed, { SigningCertURL: 'https://sns.us-east-1.amazonaws.com/c.pem' }), by);
    expect(by.urls).toEqual([]);
  });
});

describe('confirmSns', () => {
  const confirm = (body: Buffer, by: Outbound) =>
    confirmSns(body, relayContext({ topic_arn: SES_TOPIC }, by, NOW));

  test('requests the address of a confirmation once', async () => {
    const by = outbound();
    expect(await confirm(signedSns(CONFIRMATION, NOW), by)).toBe('confirmed');
    expect(by.urls).toEqual([CONFIRM_URL]);
  });

  test('requests nothing for a notification, or at an address that is not SNS', async () => {
    const by = outbound();
    expect(await confirm(signedSns(NOTIFICATION, NOW), by)).toBe('none');
    const elsewhere = signedSns({ ...CONFIRMATION, SubscribeURL: 'https://evil.test/' }, NOW);
    expect(await confirm(elsewhere, by)).toBe('failed');
    expect(by.urls).toEqual([]);
  });

  test('fails if SNS refuses, so that it asks again', async () => {
    expect(await confirm(signedSns(CONFIRMATION, NOW), outbound(500))).toBe('failed');
  });
});
