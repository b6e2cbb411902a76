import { createHmac, randomBytes } from 'node:crypto';
import { type FakeEvent, type FakeProvider, headerOf } from './provider.ts';

/** https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages, …/user-manual/webhooks/securing-webhooks */
const KEY = 'key-fake';
const SIGNING_KEY = 'signing-key-of-mailgun';
const DOMAIN = 'mg.acme.test';

function eventData({ id, kind, email, text, at }: FakeEvent): object {
  const failed = { event: 'failed', 'log-level': 'error', reason: 'bounce' };
  const about = {
    delivered: { event: 'delivered' },
    opened: { event: 'opened' },
    complained: { event: 'complained' },
    bounced: { ...failed, severity: 'permanent', 'delivery-status': { code: 550, message: text } },
    deferred: { ...failed, severity: 'temporary', 'delivery-status': { code: 450, message: text } },
  }[kind];
  return {
    id,
    timestamp: at / 1_000,
    recipient: email.to,
    message: { headers: { to: email.to, 'message-id': email.id.replaceAll(/[<>]/g, '') } },
    'user-variables': { beckon: email.token },
    ...about,
  };
}

/** The fields of a multipart form. */
function formOf(body: Buffer, type: string): Map<string, string> {
  const [, boundary = ''] = /boundary=(\S+)/.exec(type) ?? [];
  const parts = body.toString('latin1').split(`--${boundary}\r\n`).slice(1);
  return new Map(
    parts.map((part) => {
      const end = part.indexOf('\r\n\r\n');
      const [, name = ''] = /name="([^"]+)"/.exec(part.slice(0, end)) ?? [];
      return [name, part.slice(end + 4).replace(/\r\n(?:--[^\n]*--\r\n)?$/, '')];
    }),
  );
}

export function mailgunProvider(): FakeProvider {
  return {
    settings: { api_key: KEY, domain: DOMAIN, region: 'eu', signing_key: SIGNING_KEY },
    urlField: 'api_url',
    isSubmission: ({ method, path }) => method === 'POST' && path === `/v3/${DOMAIN}/messages.mime`,
    isAuthorized: ({ headers }) =>
      headers.authorization === `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}`,
    unauthorized: { status: 401, body: 'Forbidden' },
    read({ body, headers }) {
      const form = formOf(body, headers['content-type'] ?? '');
      return {
        to: form.get('to') ?? '',
        token: form.get('v:beckon') ?? '',
        key: null,
        content: form.get('message') ?? '',
      };
    },
    // https://documentation.mailgun.com/docs/mailgun/user-manual/sending-messages: a JSON object.
    readSmtp: (headers) => ({
      token: (JSON.parse(headerOf(headers, 'X-Mailgun-Variables')) as Record<string, string>)['beckon'] ?? '',
    }),
    newId: () => `<${randomBytes(8).toString('hex')}@${DOMAIN}>`,
    accepted: ({ id }) => ({ status: 200, body: { id, message: 'Queued. Thank you.' } }),
    refusals: {
      email: {
        status: 400,
        body: { message: "'to' parameter is not a valid address. please check documentation" },
      },
      account: { status: 400, body: { message: 'Domain mg.acme.test is not allowed to send' } },
      rate: { status: 429, headers: { 'retry-after': '7' }, body: { message: 'Too many requests' } },
      server: { status: 500, body: { message: 'Internal Error' } },
    },
    hook(event, signedAt) {
      const timestamp = String(Math.floor(signedAt / 1_000));
      const token = Buffer.from(event.id.padEnd(25, '0')).toString('hex').slice(0, 50);
      const signature = createHmac('sha256', SIGNING_KEY)
        .update(timestamp + token)
        .digest('hex');
      const body = { signature: { timestamp, token, signature }, 'event-data': eventData(event) };
      return { headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(body)) };
    },
    respond({ method, path, query }, { events, url }) {
      if (path === `/v3/domains/${DOMAIN}`)
        return { status: 200, body: { domain: { name: DOMAIN }, sending_dns_records: RECORDS } };
      if (path === `/v3/domains/${DOMAIN}/webhooks`)
        return method === 'GET'
          ? { status: 200, body: { webhooks: {} } }
          : { status: 200, body: { message: 'ok' } };
      if (path === '/v5/accounts/http_signing_key')
        return { status: 200, body: { message: 'success', http_signing_key: SIGNING_KEY } };
      if (path === `/v3/${DOMAIN}/bounces`)
        return { status: 200, body: { items: [{ address: 'bounced@home.test', code: '550' }], paging: {} } };
      if (path === `/v3/${DOMAIN}/complaints`)
        return { status: 200, body: { items: [{ address: 'spam@home.test', count: 1 }], paging: {} } };
      if (!path.startsWith(`/v3/${DOMAIN}/events`)) return null;
      const begin = Number(query.get('begin')) * 1_000;
      const page = Number(query.get('page'));
      const limit = Number(query.get('limit'));
      const listed = events.filter(({ at }) => at >= begin).toSorted((a, b) => a.at - b.at);
      const items = listed.slice(page * limit, (page + 1) * limit).map(eventData);
      query.set('page', String(page + 1));
      const next = `${url}/v3/${DOMAIN}/events?${query.toString()}`;
      return { status: 200, body: { items, paging: { next } } };
    },
  };
}

const RECORDS = [
  { record_type: 'TXT', name: DOMAIN, value: 'v=spf1 include:mailgun.org ~all', valid: 'valid' },
  { record_type: 'TXT', name: `pic._domainkey.${DOMAIN}`, value: 'k=rsa; p=MIGf', valid: 'valid' },
  { record_type: 'CNAME', name: `email.${DOMAIN}`, value: 'mailgun.org', valid: 'unknown' },
];
