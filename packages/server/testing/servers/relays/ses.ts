import { execFileSync } from 'node:child_process';
import { createHash, createHmac, createPrivateKey, randomBytes, randomUUID, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type FakeAnswer,
  type FakeEvent,
  type FakeProvider,
  type FakeRequest,
  headerOf,
  jsonOf,
  named,
} from './provider.ts';

/** https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html, …/ses/latest/dg/event-publishing-retrieving-sns-contents.html */
const [ACCESS_KEY, SECRET_KEY, REGION] = ['AKIAFAKE', 'fake/secret+key', 'eu-central-1'];
export const SES_TOPIC = `arn:aws:sns:${REGION}:123456789012:beckon`;
export const SNS_CERTIFICATE_URL = `https://sns.${REGION}.amazonaws.com/SimpleNotificationService-fake.pem`;

function selfSigned(): { certificate: Buffer; key: Buffer } {
  const directory = mkdtempSync(join(tmpdir(), 'beckon-sns-'));
  const [keyPath, certificatePath] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')];
  const subject = ['-subj', '/CN=sns.amazonaws.com', '-days', '3650', '-nodes'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-keyout', keyPath, '-out', certificatePath, ...subject],
    { stdio: 'ignore' },
  );
  const made = { certificate: readFileSync(certificatePath), key: readFileSync(keyPath) };
  rmSync(directory, { recursive: true });
  return made;
}

let pair: ReturnType<typeof selfSigned> | null = null;

/** The certificate that SNS signs with, and its key. */
export function snsPair(): { certificate: Buffer; key: Buffer } {
  return (pair ??= selfSigned());
}

type SnsMessage = { Type: string; MessageId: string; Message: string; [name: string]: string };

/** Signs a message as SNS does with signature version 2. */
export function signedSns(message: SnsMessage, signedAt: number): Buffer {
  const complete: Record<string, string> = {
    TopicArn: SES_TOPIC,
    Timestamp: new Date(signedAt).toISOString(),
    ...message,
  };
  const names = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
  const text = names.map((name) => (name in complete ? `${name}\n${complete[name]}\n` : '')).join('');
  const signature = sign('sha256', Buffer.from(text), createPrivateKey(snsPair().key)).toString('base64');
  return Buffer.from(
    JSON.stringify({
      ...complete,
      SignatureVersion: '2',
      Signature: signature,
      SigningCertURL: SNS_CERTIFICATE_URL,
    }),
  );
}

function sesEvent({ kind, email, text, at }: FakeEvent): object {
  const timestamp = new Date(at).toISOString();
  const mail = {
    timestamp,
    messageId: email.id,
    source: 'hello@acme.test',
    destination: [email.to],
    tags: { 'ses:configuration-set': ['beckon'], beckon: [email.token] },
  };
  const recipient = { emailAddress: email.to, diagnosticCode: text };
  const about = {
    delivered: { eventType: 'Delivery', delivery: { timestamp, recipients: [email.to], smtpResponse: text } },
    bounced: {
      eventType: 'Bounce',
      bounce: {
        timestamp,
        bounceType: 'Permanent',
        bounceSubType: 'General',
        bouncedRecipients: [{ ...recipient, action: 'failed', status: '5.1.1' }],
      },
    },
    deferred: {
      eventType: 'DeliveryDelay',
      deliveryDelay: { timestamp, delayType: 'MailboxFull', delayedRecipients: [recipient] },
    },
    complained: {
      eventType: 'Complaint',
      complaint: {
        timestamp,
        complainedRecipients: [{ emailAddress: email.to }],
        complaintFeedbackType: 'abuse',
      },
    },
    opened: { eventType: 'Open', open: { timestamp, ipAddress: '192.0.2.1' } },
  }[kind];
  return { ...about, mail };
}

/** Checks Signature Version 4 of a request. */
function isSigned({ method, path, query, headers, body }: FakeRequest, service: string): boolean {
  const found =
    /Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=(\S+)/.exec(
      headers.authorization ?? '',
    );
  const [, key, date = '', region = '', signedService = '', names = '', signature] = found ?? [];
  if (key !== ACCESS_KEY || region !== REGION || signedService !== service) return false;
  const encoded = path
    .split('/')
    .map((part) => encodeURIComponent(part))
    .join('/');
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const hash = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
  // The documentation wants the parameters sorted by their names.
  const canonicalQuery = [...query]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .toSorted()
    .join('&');
  const canonical = `${method}\n${encoded}\n${canonicalQuery}\n${lines.join('')}\n${names}\n${hash(body)}`;
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = `AWS4-HMAC-SHA256\n${String(headers['x-amz-date'])}\n${scope}\n${hash(canonical)}`;
  const mac = (secret: string | Buffer, data: string) => createHmac('sha256', secret).update(data).digest();
  const signing = mac(mac(mac(mac(`AWS4${SECRET_KEY}`, date), region), service), 'aws4_request');
  return mac(signing, text).toString('hex') === signature;
}

/** SNS takes forms, and SQS takes JSON. */
function serviceOf({ path, headers }: FakeRequest): string {
  if (path !== '/') return 'ses';
  return String(headers['content-type']).startsWith('application/x-www-form-urlencoded') ? 'sns' : 'sqs';
}

/** https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html: a topic signs with version 1 until it is set to version 2. */
function answerOfSns(request: FakeRequest, topic: { signsWith: string }): FakeAnswer {
  const form = new URLSearchParams(request.body.toString());
  const error = (message: string) => ({
    status: 400,
    headers: { 'content-type': 'text/xml' },
    body: `<ErrorResponse><Error><Code>InvalidParameter</Code><Message>${message}</Message></Error></ErrorResponse>`,
  });
  if (form.get('Version') !== '2010-03-31') return error('Invalid parameter: Version');
  if (form.get('TopicArn') !== SES_TOPIC) return error('Invalid parameter: TopicArn');
  if (form.get('Action') === 'SetTopicAttributes' && form.get('AttributeName') === 'SignatureVersion') {
    topic.signsWith = form.get('AttributeValue') ?? '';
    return { status: 200, headers: { 'content-type': 'text/xml' }, body: '<SetTopicAttributesResponse/>' };
  }
  if (form.get('Action') !== 'Subscribe' || form.get('Protocol') !== 'https')
    return error('Invalid parameter');
  if (topic.signsWith !== '2' || !form.get('Endpoint')?.startsWith('https://'))
    return error('Invalid parameter: Endpoint');
  const body =
    '<SubscribeResponse><SubscribeResult><SubscriptionArn>pending confirmation</SubscriptionArn></SubscribeResult></SubscribeResponse>';
  return { status: 200, headers: { 'content-type': 'text/xml' }, body };
}

export function sesProvider(): FakeProvider {
  const deleted = new Set<string>();
  const topic = { signsWith: '1' };
  let destinations = 0;
  return {
    settings: {
      access_key_id: ACCESS_KEY,
      secret_access_key: SECRET_KEY,
      region: REGION,
      configuration_set: 'beckon',
      topic_arn: SES_TOPIC,
      queue_url: `https://sqs.${REGION}.amazonaws.com/123456789012/beckon`,
    },
    urlField: 'api_url',
    isSubmission: ({ method, path }) => method === 'POST' && path === '/v2/email/outbound-emails',
    isAuthorized: (request) => isSigned(request, serviceOf(request)),
    unauthorized: {
      status: 403,
      headers: { 'x-amzn-errortype': 'SignatureDoesNotMatchException:' },
      body: { message: 'The request signature we calculated does not match the signature you provided.' },
    },
    read(request) {
      const json = jsonOf(request) as {
        Destination: { ToAddresses: string[] };
        Content: { Raw: { Data: string } };
        EmailTags: unknown;
      };
      const token = named(json.EmailTags, 'beckon');
      if (!/^[\w-]{1,256}$/.test(token)) throw new Error('a tag may contain letters, digits, _ and - only');
      return {
        to: json.Destination.ToAddresses[0] ?? '',
        token,
        key: null,
        content: Buffer.from(json.Content.Raw.Data, 'base64').toString('latin1'),
      };
    },
    // https://docs.aws.amazon.com/ses/latest/dg/event-publishing-send-email.html: letters, digits, hyphens and underscores.
    readSmtp(headers) {
      const tags = headerOf(headers, 'X-SES-MESSAGE-TAGS').split(',');
      const [, value = ''] = tags.map((tag) => /^\s*beckon=([\w-]{1,256})\s*$/.exec(tag)).find(Boolean) ?? [];
      return { token: value };
    },
    newId: () => `0107${randomBytes(6).toString('hex')}-${randomUUID()}-000000`,
    accepted: ({ id }) => ({ status: 200, body: { MessageId: id } }),
    refusals: {
      email: {
        status: 400,
        headers: {
          'x-amzn-errortype': 'MessageRejected:http://internal.amazon.com/coral/com.amazonaws.sesv2/',
        },
        body: { message: 'Attachment type is not supported' },
      },
      account: {
        status: 400,
        headers: { 'x-amzn-errortype': 'MessageRejected' },
        body: {
          message: 'Email address is not verified. The following identities failed the check: acme.test',
        },
      },
      rate: {
        status: 429,
        headers: { 'x-amzn-errortype': 'TooManyRequestsException', 'retry-after': '7' },
        body: { message: 'Maximum sending rate exceeded.' },
      },
      server: { status: 500, headers: { 'x-amzn-errortype': 'InternalFailure' }, body: {} },
    },
    hook(event, signedAt) {
      const message = { Type: 'Notification', MessageId: event.id, Message: JSON.stringify(sesEvent(event)) };
      return {
        headers: { 'content-type': 'text/plain; charset=UTF-8' },
        body: signedSns(message, signedAt),
      };
    },
    respond(request, { events }) {
      const { path, headers } = request;
      if (serviceOf(request) === 'sns') return answerOfSns(request, topic);
      if (path === '/v2/email/configuration-sets/beckon/event-destinations') {
        destinations += 1;
        if (destinations === 1) return { status: 200, body: {} };
        return { status: 400, headers: { 'x-amzn-errortype': 'AlreadyExistsException' }, body: {} };
      }
      if (path === '/v2/email/account')
        return { status: 200, body: { SendingEnabled: true, ProductionAccessEnabled: true } };
      if (path === '/v2/email/suppression/addresses')
        return request.query.get('NextToken') === null
          ? {
              status: 200,
              body: {
                SuppressedDestinationSummaries: [{ EmailAddress: 'bounced@home.test', Reason: 'BOUNCE' }],
                NextToken: 'page/2+',
              },
            }
          : {
              status: 200,
              body: {
                SuppressedDestinationSummaries: [{ EmailAddress: 'spam@home.test', Reason: 'COMPLAINT' }],
              },
            };
      if (path === '/v2/email/identities/acme.test')
        return { status: 200, body: { DkimAttributes: { Tokens: ['a1', 'b2', 'c3'] } } };
      if (headers['x-amz-target'] === 'AmazonSQS.DeleteMessageBatch') {
        const { Entries } = jsonOf(request) as { Entries: { ReceiptHandle: string }[] };
        for (const { ReceiptHandle } of Entries) deleted.add(ReceiptHandle);
        return { status: 200, body: { Successful: [] } };
      }
      if (headers['x-amz-target'] !== 'AmazonSQS.ReceiveMessage') return null;
      const waiting = events.filter(({ id }) => !deleted.has(id)).slice(0, 10);
      const messages = waiting.map((event) => ({
        MessageId: randomUUID(),
        ReceiptHandle: event.id,
        Body: JSON.stringify({
          Type: 'Notification',
          MessageId: event.id,
          Message: JSON.stringify(sesEvent(event)),
        }),
      }));
      return { status: 200, body: messages.length > 0 ? { Messages: messages } : {} };
    },
  };
}
