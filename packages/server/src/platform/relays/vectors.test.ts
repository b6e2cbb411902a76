import fc from 'fast-check';
import { expect, describe, test } from 'vitest';
import { relayContext, relayOutbound } from '../../../testing/factories/relay-context.ts';
import { composeMail } from '../mail/compose.ts';
import { RELAY_ADAPTERS } from './adapters.ts';
import { mailboxText, readOwnMime } from './own-mime.ts';
import { readSettings } from './settings.ts';
import { signedHeaders } from './sigv4.ts';
import { isSnsUrl } from './sns.ts';

const outbound = relayOutbound();

describe('signatures of the public documentation', () => {
  test('signs the example of Amazon Web Services', () => {
    const { authorization } = signedHeaders(
      {
        method: 'GET',
        url: 'https://example.amazonaws.com/',
        headers: {},
        body: Buffer.alloc(0),
        service: 'service',
        region: 'us-east-1',
      },
      { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
      Date.UTC(2015, 7, 30, 12, 36),
    );
    expect(authorization).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    );
  });

  test('verifies the example of Svix, which signs the webhooks of Resend', async () => {
    const hook = {
      headers: {
        'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'svix-timestamp': '1614265330',
        'svix-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
      body: Buffer.from('{"test": 2432232314}'),
    };
    const settings = { webhook_secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' };
    const context = relayContext(settings, outbound, 1_614_265_330_000);
    expect(await RELAY_ADAPTERS.resend.webhook?.verify(hook, context)).toBe('valid');
  });
});

test('SendGrid › verifies the example of its library', async () => {
  const hook = {
    headers: {
      'x-twilio-email-event-webhook-timestamp': '1588788367',
      'x-twilio-email-event-webhook-signature':
        'MEUCIQCtIHJeH93Y+qpYeWrySphQgpNGNr/U+UyUlBkU6n7RAwIgJTz2C+8a8xonZGi6BpSzoQsbVRamr2nlxFDWYNH2j/0=',
    },
    body: Buffer.from('{"category":"example_payload","event":"test_event","message_id":"message_id"}'),
  };
  const key =
    'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEDr2LjtURuePQzplybdC+u4CwrqDqBaWjcMMsTbhdbcwHBcepxo7yAQGhHPTnlvFYPAZFceEu/1FwCM/QmGUhA==';
  const context = relayContext({ verification_key: key }, outbound, 1_588_788_367_000);
  expect(await RELAY_ADAPTERS.sendgrid.webhook?.verify(hook, context)).toBe('valid');
  const changed = { ...hook, body: Buffer.from('{}') };
  expect(await RELAY_ADAPTERS.sendgrid.webhook?.verify(changed, context)).toBe('invalid');
});

describe('readOwnMime', () => {
  test('returns what was composed, for any text', async () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 120 }).map(clean);
    const text = fc
      .string({ unit: 'grapheme' })
      .map((value) => value.replaceAll(/[\r\0]/g, '').toWellFormed());
    await fc.assert(
      fc.asyncProperty(fc.record({ subject: line, name: line, html: text, plain: text }), async (words) => {
        const { subject, name, html, plain } = words;
        const email = {
          messageId: 'm@acme.test',
          date: new Date(0),
          from: { name, address: 'hello@acme.test' },
          to: { name: 'Ada', address: 'ada@example.test' },
          replyTo: { name: '', address: 'r+x@acme.test' },
          subject,
          html,
          text: plain,
          headers: [{ name: 'List-Id', value: '<emails.p1.acme.test>' }],
        };
        const { date: _, ...parts } = email;
        expect(readOwnMime(await composeMail(email, null))).toEqual(parts);
      }),
      { numRuns: 300 },
    );
  });

  test('quotes names in mailboxes', () => {
    expect(mailboxText({ name: 'Acme, "Inc."', address: 'a@b.test' })).toBe('"Acme, \\"Inc.\\"" <a@b.test>');
    expect(mailboxText({ name: '', address: 'a@b.test' })).toBe('a@b.test');
  });
});

/** Changes a text as the composer changes a header: it joins spaces, and refuses control characters. */
function clean(value: string): string {
  return value
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '')
    .replaceAll(/ +/g, ' ')
    .trim();
}

describe('isSnsUrl', () => {
  const topic = 'arn:aws:sns:eu-central-1:123456789012:beckon';

  test('accepts the host of the region of the topic', () => {
    expect(isSnsUrl('https://sns.eu-central-1.amazonaws.com/cert.pem', topic)).toBe(true);
    expect(isSnsUrl('https://sns.cn-north-1.amazonaws.com.cn/c.pem', 'arn:aws-cn:sns:cn-north-1:1:t')).toBe(
      true,
    );
  });

  test.each([
    'http://sns.eu-central-1.amazonaws.com/cert.pem',
    'https://sns.us-east-1.amazonaws.com/cert.pem',
    'https://sns.eu-central-1.amazonaws.com.evil.test/cert.pem',
    'https://evil.test/sns.eu-central-1.amazonaws.com/cert.pem',
    'https://sns.eu-central-1.amazonaws.com@evil.test/cert.pem',
    'https://user@sns.eu-central-1.amazonaws.com/cert.pem',
    'https://sns.eu-central-1.amazonaws.com:8443/cert.pem',
    'https://bucket.s3.amazonaws.com/cert.pem',
    'file:///etc/passwd',
    '',
    42,
  ])('rejects %s', (url) => {
    expect(isSnsUrl(url, topic)).toBe(false);
  });
});

describe('the host of SMTP_URL', () => {
  test.each([
    ['smtp.postmarkapp.com', 'postmark'],
    ['email-smtp.eu-west-1.amazonaws.com', 'ses'],
    ['smtp.eu.mailgun.org', 'mailgun'],
    ['smtp.sendgrid.net', 'sendgrid'],
    ['smtp.resend.com', 'resend'],
    ['smtp-relay.brevo.com', 'brevo'],
    ['mail.acme.test', undefined],
    ['smtp.postmarkapp.com.evil.test', undefined],
  ])('recognizes %s as %s', (host, kind) => {
    expect(Object.values(RELAY_ADAPTERS).find(({ smtpHost }) => smtpHost?.test(host))?.kind).toBe(kind);
  });
});

describe('readSettings', () => {
  test('names each field that is wrong', () => {
    const read = readSettings(RELAY_ADAPTERS.mailgun, { region: 'mars', token: 'x', domain: 'mg.acme.test' });
    expect(read).toEqual({
      ok: false,
      errors: [
        { field: 'token', message: 'Unknown field. Use api_key, domain, region, signing_key, api_url.' },
        { field: 'api_key', message: 'API key is required.' },
        { field: 'region', message: 'Region must be one of us, eu.' },
      ],
    });
  });

  test('fills in defaults and leaves out optional fields', () => {
    const read = readSettings(RELAY_ADAPTERS.mailgun, {
      api_key: ' key-1 ',
      domain: 'mg.acme.test',
      api_url: '',
    });
    expect(read).toEqual({ ok: true, settings: { api_key: 'key-1', domain: 'mg.acme.test', region: 'us' } });
  });

  test('checks the form of values of a provider', () => {
    const input = { access_key_id: 'A', secret_access_key: 'B', region: 'Frankfurt', topic_arn: 'beckon' };
    const read = readSettings(RELAY_ADAPTERS.ses, input);
    expect(read.ok ? [] : read.errors.map(({ field }) => field)).toEqual(['region', 'topic_arn']);
  });
});
