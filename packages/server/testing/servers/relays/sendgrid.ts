import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import {
  type FakeAnswer,
  type FakeEvent,
  type FakeProvider,
  type FakeRequest,
  headerOf,
  jsonOf,
} from './provider.ts';

/** https://www.twilio.com/docs/sendgrid/api-reference/mail-send, …/for-developers/tracking-events/event */
const KEY = 'SG.fake.key';
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

const EVENTS = {
  delivered: 'delivered',
  bounced: 'bounce',
  deferred: 'deferred',
  complained: 'spamreport',
  opened: 'open',
};

function payload({ id, kind, email, text, at }: FakeEvent): object {
  const about = kind === 'delivered' || kind === 'deferred' ? { response: text } : { reason: text };
  const bounce =
    kind === 'bounced' ? { type: 'bounce', status: '5.1.1', bounce_classification: 'Invalid Address' } : {};
  return {
    email: email.to,
    timestamp: Math.floor(at / 1_000),
    event: EVENTS[kind],
    sg_event_id: id,
    sg_message_id: `${email.id}.filter0001.16648.5515E0B88.0`,
    beckon: email.token,
    ...about,
    ...bounce,
  };
}

type EventWebhook = { id: string; url: string; enabled: boolean; public_key?: string };

const WEBHOOKS = '/v3/user/webhooks/event/settings';

/** https://www.twilio.com/docs/sendgrid/api-reference/webhooks: a webhook has no key until its signature is enabled. */
function answerOfWebhooks(request: FakeRequest, hooks: EventWebhook[]): FakeAnswer {
  const { method, path } = request;
  if (method === 'GET' && path === `${WEBHOOKS}/all`)
    return { status: 200, body: { max_allowed: 5, webhooks: hooks } };
  const json = jsonOf(request) as Partial<EventWebhook>;
  if (method === 'POST' && path === WEBHOOKS) {
    const hook = { id: randomBytes(8).toString('hex'), url: json.url ?? '', enabled: json.enabled === true };
    hooks.push(hook);
    return { status: 201, body: hook };
  }
  const [, isSigned, id] = /\/settings\/(signed\/)?([\da-f]+)$/.exec(path) ?? [];
  const hook = hooks.find((known) => known.id === id);
  if (method !== 'PATCH' || !hook) return { status: 404, body: { errors: [{ message: 'not found' }] } };
  if (isSigned === undefined) return { status: 200, body: Object.assign(hook, json) };
  const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  return { status: 200, body: { id: hook.id, public_key: json.enabled === true ? key : '' } };
}

export function sendgridProvider(): FakeProvider {
  const hooks: EventWebhook[] = [];
  return {
    settings: {
      api_key: KEY,
      verification_key: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    },
    urlField: 'api_url',
    isSubmission: ({ method, path }) => method === 'POST' && path === '/v3/mail/send',
    isAuthorized: ({ headers }) => headers.authorization === `Bearer ${KEY}`,
    unauthorized: {
      status: 401,
      body: { errors: [{ message: 'The provided authorization grant is invalid', field: null, help: null }] },
    },
    read(request) {
      const json = jsonOf(request);
      const [personalization] = json['personalizations'] as {
        to: { email: string }[];
        custom_args: Record<string, string>;
      }[];
      const content = json['content'] as { type: string; value: string }[];
      // The documentation wants plain text before HTML.
      if (content[0]?.type !== 'text/plain') throw new Error('text/plain must be first');
      return {
        to: personalization?.to[0]?.email ?? '',
        token: personalization?.custom_args['beckon'] ?? '',
        key: null,
        content: [
          JSON.stringify(json['from']),
          json['subject'],
          ...content.map(({ value }) => value),
          (json['headers'] as Record<string, string>)['List-Unsubscribe'],
        ].join('\n'),
      };
    },
    // https://www.twilio.com/docs/sendgrid/for-developers/sending-email/unique-arguments: strings only.
    readSmtp(headers) {
      const json = JSON.parse(headerOf(headers, 'X-SMTPAPI')) as { unique_args: Record<string, string> };
      return { token: json.unique_args['beckon'] ?? '' };
    },
    newId: () => randomBytes(11).toString('base64url'),
    accepted: ({ id }) => ({ status: 202, headers: { 'x-message-id': id }, body: '' }),
    refusals: {
      email: {
        status: 400,
        body: {
          errors: [
            {
              message: 'Does not contain a valid address.',
              field: 'personalizations.0.to.0.email',
              help: null,
            },
          ],
        },
      },
      account: {
        status: 403,
        body: {
          errors: [{ message: 'The from address does not match a verified Sender Identity.', field: 'from' }],
        },
      },
      rate: {
        status: 429,
        headers: { 'retry-after': '7' },
        body: { errors: [{ field: null, message: 'too many requests' }] },
      },
      server: { status: 500, body: { errors: [{ message: 'internal error', field: null }] } },
    },
    hook(event, signedAt) {
      const body = JSON.stringify([payload(event)]);
      const timestamp = String(Math.floor(signedAt / 1_000));
      const signature = sign('sha256', Buffer.from(timestamp + body), privateKey).toString('base64');
      return {
        headers: {
          'x-twilio-email-event-webhook-signature': signature,
          'x-twilio-email-event-webhook-timestamp': timestamp,
        },
        body: Buffer.from(body),
      };
    },
    respond(request) {
      const { path, query } = request;
      if (path.startsWith('/v3/user/webhooks/')) return answerOfWebhooks(request, hooks);
      if (path === '/v3/scopes') return { status: 200, body: { scopes: ['mail.send', 'alerts.read'] } };
      if (path === '/v3/suppression/bounces')
        return { status: 200, body: [{ email: 'bounced@home.test', reason: '550 5.1.1', status: '5.1.1' }] };
      if (path === '/v3/suppression/spam_reports')
        return { status: 200, body: [{ email: 'spam@home.test', ip: '192.0.2.1' }] };
      if (path !== '/v3/whitelabel/domains' || query.get('domain') !== 'acme.test') return null;
      const dns = {
        mail_cname: { type: 'cname', host: 'em1.acme.test', data: 'u1.wl.sendgrid.net', valid: true },
        dkim1: { type: 'cname', host: 's1._domainkey.acme.test', data: 's1.domainkey.u1.wl.sendgrid.net' },
      };
      return { status: 200, body: [{ id: 1, domain: 'acme.test', dns }] };
    },
  };
}
