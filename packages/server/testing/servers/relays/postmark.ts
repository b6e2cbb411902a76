import { randomUUID } from 'node:crypto';
import { type FakeEvent, type FakeProvider, headerOf, jsonOf, named } from './provider.ts';

/** https://postmarkapp.com/developer/api/email-api, …/webhooks/bounce-webhook, …/api/bounce-api */
const TOKEN = '4a1e9a2c-0000-4000-8000-fakeservertoken';
const SECRET = 'hook-secret-of-postmark';

const TYPES = {
  bounced: { RecordType: 'Bounce', Type: 'HardBounce', TypeCode: 1, Name: 'Hard bounce' },
  deferred: { RecordType: 'Bounce', Type: 'Transient', TypeCode: 2, Name: 'Message delayed/Undeliverable' },
  complained: { RecordType: 'SpamComplaint', Type: 'SpamComplaint', TypeCode: 512, Name: 'Spam complaint' },
};

/** Ids of bounces are numbers. */
function numberOf(id: string): number {
  return Number.parseInt(Buffer.from(id).toString('hex').slice(0, 12), 16);
}

function payload({ kind, email, text, at, id }: FakeEvent): object {
  const common = { MessageID: email.id, Metadata: { beckon: email.token }, Tag: '', ServerID: 23 };
  const time = new Date(at).toISOString();
  if (kind === 'delivered')
    return { ...common, RecordType: 'Delivery', Recipient: email.to, DeliveredAt: time, Details: text };
  if (kind === 'opened')
    return { ...common, RecordType: 'Open', Recipient: email.to, ReceivedAt: time, FirstOpen: true };
  return {
    ...common,
    ...TYPES[kind],
    ID: numberOf(id),
    Email: email.to,
    BouncedAt: time,
    Details: text,
    Description: 'The server was unable to deliver your message.',
    Inactive: true,
    CanActivate: true,
  };
}

export function postmarkProvider(): FakeProvider {
  return {
    settings: { server_token: TOKEN, hook_secret: SECRET },
    urlField: 'api_url',
    isSubmission: ({ method, path }) => method === 'POST' && path === '/email',
    isAuthorized: ({ headers }) => headers['x-postmark-server-token'] === TOKEN,
    unauthorized: {
      status: 401,
      body: { ErrorCode: 10, Message: 'No Account or Server API tokens were supplied.' },
    },
    read(request) {
      const json = jsonOf(request);
      const headers = json['Headers'];
      return {
        to: /([^<\s]+@[^>\s]+)>?$/.exec(String(json['To']))?.[1] ?? '',
        token: (json['Metadata'] as Record<string, string>)['beckon'] ?? '',
        key: null,
        content: [
          json['From'],
          json['Subject'],
          json['HtmlBody'],
          json['TextBody'],
          named(headers, 'List-Unsubscribe'),
        ].join('\n'),
      };
    },
    // https://postmarkapp.com/support/article/1125-custom-metadata-faq
    readSmtp: (headers) => ({ token: headerOf(headers, 'X-PM-Metadata-beckon') }),
    newId: randomUUID,
    accepted: ({ id, to }) => ({
      status: 200,
      body: { To: to, SubmittedAt: '2026-01-01T00:00:00Z', MessageID: id, ErrorCode: 0, Message: 'OK' },
    }),
    refusals: {
      email: {
        status: 422,
        body: {
          ErrorCode: 406,
          Message: 'You tried to send to a recipient that has been marked as inactive.',
        },
      },
      account: {
        status: 422,
        body: { ErrorCode: 400, Message: 'The From address is not a Sender Signature on your account.' },
      },
      rate: { status: 429, headers: { 'retry-after': '7' }, body: { ErrorCode: 429, Message: 'Rate limit' } },
      server: { status: 500, body: { ErrorCode: 500, Message: 'Internal Server Error' } },
    },
    hook(event) {
      const authorization = `Basic ${Buffer.from(`beckon:${SECRET}`).toString('base64')}`;
      return { headers: { authorization }, body: Buffer.from(JSON.stringify(payload(event))) };
    },
    respond({ method, path, query }, { events }) {
      if (path === '/server') return { status: 200, body: { ID: 23, Name: 'Production' } };
      if (path === '/webhooks' && method === 'GET') return { status: 200, body: { Webhooks: [] } };
      if (path === '/webhooks') return { status: 200, body: { ID: 1 } };
      if (path === '/message-streams/outbound/suppressions/dump')
        return {
          status: 200,
          body: {
            Suppressions: [
              { EmailAddress: 'bounced@home.test', SuppressionReason: 'HardBounce', Origin: 'Recipient' },
              { EmailAddress: 'spam@home.test', SuppressionReason: 'SpamComplaint', Origin: 'Recipient' },
              { EmailAddress: 'left@home.test', SuppressionReason: 'ManualSuppression', Origin: 'Customer' },
            ],
          },
        };
      if (path !== '/bounces') return null;
      const offset = Number(query.get('offset'));
      const bounces = events
        .filter(({ kind }) => kind !== 'delivered' && kind !== 'opened')
        .toSorted((a, b) => b.at - a.at);
      const page = bounces.slice(offset, offset + Number(query.get('count')));
      return { status: 200, body: { TotalCount: bounces.length, Bounces: page.map(payload) } };
    },
  };
}
