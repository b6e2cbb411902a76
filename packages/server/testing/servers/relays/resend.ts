import { createHmac, randomUUID } from 'node:crypto';
import { type FakeProvider, jsonOf } from './provider.ts';

/** https://resend.com/docs/api-reference/emails/send-email, …/errors, …/dashboard/webhooks/verify-webhooks-requests */
const KEY = 're_FakeKey_0123456789';
const SECRET_BYTES = Buffer.from('a secret of resend that has 32 b');
const SECRET = `whsec_${SECRET_BYTES.toString('base64')}`;

const TYPES = {
  delivered: 'email.delivered',
  bounced: 'email.bounced',
  deferred: 'email.delivery_delayed',
  complained: 'email.complained',
  opened: 'email.opened',
};

export function resendProvider(): FakeProvider {
  return {
    settings: { api_key: KEY, webhook_secret: SECRET },
    urlField: 'api_url',
    isSubmission: ({ method, path }) => method === 'POST' && path === '/emails',
    isAuthorized: ({ headers }) => headers.authorization === `Bearer ${KEY}`,
    unauthorized: {
      status: 401,
      body: { statusCode: 401, name: 'validation_error', message: 'API key is invalid' },
    },
    read(request) {
      const json = jsonOf(request);
      const headers = json['headers'] as Record<string, string>;
      const [to = ''] = json['to'] as string[];
      const [tag] = json['tags'] as { name: string; value: string }[];
      if (!/^[\w-]{1,256}$/.test(tag?.value ?? ''))
        throw new Error('a tag may contain letters, digits, _ and - only');
      return {
        to: /([^<\s]+@[^>\s]+)>?$/.exec(to)?.[1] ?? '',
        token: tag?.value ?? '',
        key: String(request.headers['idempotency-key']),
        content: [
          json['from'],
          json['subject'],
          json['html'],
          json['text'],
          headers['List-Unsubscribe'],
        ].join('\n'),
      };
    },
    // https://github.com/resend/resend-dotnet/pull/127: each event has the custom headers of its email.
    readSmtp: (headers) => ({ token: '', headers: headers.filter(({ name }) => /^X-/i.test(name)) }),
    newId: randomUUID,
    accepted: ({ id }) => ({ status: 200, body: { id } }),
    repeated: ({ id }) => ({ status: 200, body: { id } }),
    refusals: {
      email: {
        status: 422,
        body: { statusCode: 422, name: 'validation_error', message: 'Invalid `to` field.' },
      },
      account: {
        status: 403,
        body: { statusCode: 403, name: 'validation_error', message: 'The acme.test domain is not verified.' },
      },
      rate: {
        status: 429,
        headers: { 'retry-after': '7' },
        body: { statusCode: 429, name: 'rate_limit_exceeded', message: 'Too many requests.' },
      },
      server: {
        status: 500,
        body: { statusCode: 500, name: 'application_error', message: 'An unexpected error occurred.' },
      },
    },
    hook({ id, kind, email, text, at }, signedAt) {
      const bounce =
        kind === 'bounced' ? { bounce: { type: 'Permanent', subType: 'General', message: text } } : {};
      const data = {
        email_id: email.id,
        from: 'Acme <hello@acme.test>',
        to: [email.to],
        subject: 'Three steps are left',
        ...(email.headers ? { headers: email.headers } : { tags: { beckon: email.token } }),
        created_at: new Date(at).toISOString(),
        ...bounce,
      };
      const body = JSON.stringify({ type: TYPES[kind], created_at: new Date(at).toISOString(), data });
      const seconds = String(Math.floor(signedAt / 1_000));
      const signature = createHmac('sha256', SECRET_BYTES)
        .update(`${id}.${seconds}.${body}`)
        .digest('base64');
      return {
        headers: { 'svix-id': id, 'svix-timestamp': seconds, 'svix-signature': `v1,${signature}` },
        body: Buffer.from(body),
      };
    },
    respond({ method, path }) {
      if (path === '/domains') return { status: 200, body: { data: [{ id: 'd1', name: 'acme.test' }] } };
      if (path === '/domains/d1') return { status: 200, body: { name: 'acme.test', records: RECORDS } };
      if (path === '/webhooks' && method === 'GET')
        return { status: 200, body: { object: 'list', data: [] } };
      if (path === '/webhooks')
        return { status: 201, body: { object: 'webhook', id: randomUUID(), signing_secret: SECRET } };
      return null;
    },
  };
}

const RECORDS = [
  { record: 'SPF', name: 'send', type: 'MX', value: 'feedback-smtp.eu-west-1.amazonses.com', priority: 10 },
  { record: 'SPF', name: 'send', type: 'TXT', value: 'v=spf1 include:amazonses.com ~all' },
  { record: 'DKIM', name: 'resend._domainkey', type: 'TXT', value: 'p=MIGfMA0GCSq' },
];
