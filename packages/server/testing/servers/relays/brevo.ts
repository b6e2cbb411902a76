import { randomUUID } from 'node:crypto';
import { type FakeEvent, type FakeProvider, headerOf, jsonOf } from './provider.ts';

/** https://developers.brevo.com/reference/send-transac-email, …/docs/transactional-webhooks, …/docs/heterogenous-versions-batch-emails */
const KEY = 'xkeysib-fake';
const SECRET = 'hook-secret-of-brevo';

const EVENTS = {
  delivered: 'delivered',
  bounced: 'hard_bounce',
  deferred: 'deferred',
  complained: 'spam',
  opened: 'unique_opened',
};
const LISTED = {
  delivered: 'delivered',
  bounced: 'hardBounces',
  deferred: 'deferred',
  complained: 'spam',
  opened: 'opened',
};

function payload({ kind, email, text, at }: FakeEvent): object {
  return {
    event: EVENTS[kind],
    email: email.to,
    id: 26224,
    date: new Date(at).toISOString().replace('T', ' ').slice(0, 19),
    ts: Math.floor(at / 1_000),
    ts_event: Math.floor(at / 1_000),
    ts_epoch: at,
    'message-id': email.id,
    'X-Mailin-custom': email.token,
    subject: 'Three steps are left',
    reason: text,
  };
}

export function brevoProvider(): FakeProvider {
  return {
    settings: { api_key: KEY, hook_secret: SECRET },
    urlField: 'api_url',
    isSubmission: ({ method, path }) => method === 'POST' && path === '/v3/smtp/email',
    isAuthorized: ({ headers }) => headers['api-key'] === KEY,
    unauthorized: { status: 401, body: { code: 'unauthorized', message: 'Key not found' } },
    read(request) {
      const json = jsonOf(request);
      const headers = json['headers'] as Record<string, string>;
      const key = headers['idempotencyKey'] ?? '';
      if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(key)) throw new Error('the key must be a UUID');
      return {
        to: (json['to'] as { email: string }[])[0]?.email ?? '',
        token: headers['X-Mailin-custom'] ?? '',
        key,
        content: [
          JSON.stringify(json['sender']),
          json['subject'],
          json['htmlContent'],
          json['textContent'],
          headers['List-Unsubscribe'],
        ].join('\n'),
      };
    },
    // https://developers.brevo.com/docs/smtp-integration
    readSmtp: (headers) => ({ token: headerOf(headers, 'X-Mailin-custom') }),
    newId: () => `<${randomUUID()}@smtp-relay.mailin.fr>`,
    accepted: ({ id }) => ({ status: 201, body: { messageId: id } }),
    repeated: () => ({
      status: 400,
      body: {
        code: 'duplicate_parameter',
        message: 'A request with this idempotencyKey was already received',
      },
    }),
    refusals: {
      email: { status: 400, body: { code: 'invalid_parameter', message: 'email is not valid in to' } },
      account: { status: 400, body: { code: 'invalid_parameter', message: 'sender is not valid' } },
      rate: {
        status: 429,
        headers: { 'retry-after': '7' },
        body: { code: 'too_many_requests', message: 'Rate limit exceeded' },
      },
      server: { status: 500, body: { message: 'Internal Server Error' } },
    },
    hook(event) {
      return {
        headers: { authorization: `Bearer ${SECRET}` },
        body: Buffer.from(JSON.stringify(payload(event))),
      };
    },
    respond({ method, path, query }, { events }) {
      if (path === '/v3/account') return { status: 200, body: { email: 'team@acme.test' } };
      if (path === '/v3/webhooks')
        return method === 'GET'
          ? { status: 404, body: { code: 'document_not_found' } }
          : { status: 201, body: { id: 1 } };
      if (path === '/v3/senders/domains/acme.test') {
        const dkim = { type: 'TXT', value: 'k=rsa;p=MIGf', host_name: 'mail._domainkey', status: true };
        return { status: 200, body: { domain: 'acme.test', dns_records: { dkim_record: dkim } } };
      }
      if (path === '/v3/smtp/blockedContacts')
        return {
          status: 200,
          body: {
            count: 3,
            contacts: [
              { email: 'bounced@home.test', reason: { code: 'hardBounce', message: 'Hard bounced' } },
              { email: 'spam@home.test', reason: { code: 'contactFlaggedAsSpam' } },
              { email: 'other@home.test', reason: { code: 'adminBlocked' } },
            ],
          },
        };
      if (path !== '/v3/smtp/statistics/events') return null;
      const [offset, limit] = [Number(query.get('offset')), Number(query.get('limit'))];
      const rows = events
        .toSorted((a, b) => a.at - b.at)
        .slice(offset, offset + limit)
        .map(({ kind, email, text, at }) => ({
          email: email.to,
          date: new Date(at).toISOString(),
          messageId: email.id,
          event: LISTED[kind],
          reason: text,
        }));
      return { status: 200, body: { events: rows } };
    },
  };
}
