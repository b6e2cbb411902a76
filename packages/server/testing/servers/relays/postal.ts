import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { type FakeEvent, type FakeProvider, jsonOf } from './provider.ts';

/** https://docs.postalserver.io/developer/api, …/webhooks; the source of Postal 3.3 for the answers and the signature */
const KEY = 'postal-key';
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });

let lastId = 1_560;

const EVENTS = {
  delivered: ['MessageSent', 'Sent'],
  deferred: ['MessageDelayed', 'SoftFail'],
  bounced: ['MessageDeliveryFailed', 'HardFail'],
  opened: ['MessageLoaded', ''],
  complained: ['DomainDNSError', ''],
} as const;

function payload({ id, kind, email, text, at }: FakeEvent): object {
  const [event, status] = EVENTS[kind];
  const message = {
    id: Number(email.id),
    token: 'Kmo8CRdjuM7B',
    direction: 'outgoing',
    message_id: `${randomUUID()}@acme.test`,
    to: email.to,
    from: 'hello@acme.test',
    subject: 'Three steps are left',
    timestamp: at / 1_000,
    spam_status: 'NotChecked',
    tag: email.token,
  };
  const delivery = {
    message,
    status,
    details: 'details',
    output: text,
    sent_with_ssl: true,
    timestamp: at / 1_000,
    time: 0.2,
  };
  return { event, timestamp: at / 1_000, payload: delivery, uuid: id };
}

function ok(status: string, data: object): { status: number; body: unknown } {
  return { status: 200, body: { status, time: 0.01, flags: {}, data } };
}

export function postalProvider(): FakeProvider {
  return {
    settings: {
      api_key: KEY,
      public_key: `v=DKIM1; t=s; h=sha256; p=${publicKey.export({ format: 'der', type: 'spki' }).toString('base64')};`,
    },
    urlField: 'server_url',
    isSubmission: ({ method, path }) => method === 'POST' && path === '/api/v1/send/raw',
    isAuthorized: ({ headers }) => headers['x-server-api-key'] === KEY,
    unauthorized: ok('error', { code: 'InvalidServerAPIKey', message: 'The API token was not valid.' }),
    read(request) {
      const json = jsonOf(request);
      const content = Buffer.from(String(json['data']), 'base64').toString('latin1');
      return {
        to: (json['rcpt_to'] as string[])[0] ?? '',
        token: /^X-Postal-Tag: (.*)\r$/im.exec(content)?.[1] ?? '',
        key: null,
        content,
      };
    },
    readSmtp: null,
    newId: () => String((lastId += 1)),
    accepted: ({ id, to }) =>
      ok('success', {
        message_id: `${id}@acme.test`,
        messages: { [to]: { id: Number(id), token: 'abcdef' } },
      }),
    refusals: {
      email: ok('parameter-error', { message: '`rcpt_to` parameter is required but is missing' }),
      account: ok('error', { code: 'UnauthenticatedFromAddress' }),
      rate: { status: 429, headers: { 'retry-after': '7' }, body: { status: 'error' } },
      server: { status: 500, body: '<html>We are sorry, but something went wrong.</html>' },
    },
    hook(event) {
      const body = Buffer.from(JSON.stringify(payload(event)));
      return {
        headers: {
          'x-postal-signature': sign('sha1', body, privateKey).toString('base64'),
          'x-postal-signature-256': sign('sha256', body, privateKey).toString('base64'),
        },
        body,
      };
    },
    respond({ path }) {
      return path === '/api/v1/messages/message'
        ? ok('error', { code: 'MessageNotFound', message: 'No message found matching provided ID', id: 0 })
        : null;
    },
  };
}
