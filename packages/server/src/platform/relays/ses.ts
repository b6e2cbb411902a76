import type {
  CheckResult,
  DomainRecords,
  FieldError,
  PullResult,
  RelayAdapter,
  RelayContext,
  RelayEmail,
  RelayEvent,
  RelayResult,
  RelaySettings,
  SuppressionPage,
} from './adapter.ts';
import { call, sesUrl } from './aws.ts';
import { API_URL, apiUrl, tagOfToken } from './fields.ts';
import { asList, asObject, asReply, asText, readJson } from './json.ts';
import { type Answer, failureMessage, request, submit } from './request.ts';
import { accepted, rateLimited, resultOfRefusal } from './results.ts';
import { sesEvents, SES_TAG } from './ses-events.ts';
import { registerSes } from './ses-register.ts';
import { suppressionPage } from './suppression-page.ts';
import { confirmSns, notificationOf, verifySns } from './sns.ts';

/**
 * Amazon SES by its API version 2: https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html. It takes our MIME, so our DKIM
 * signature stays. Events come by SNS over HTTPS or from an SQS queue.
 */
const THROTTLED = new Set(['TooManyRequestsException', 'ThrottlingException', 'Throttling']);
const QUOTA_PAUSE_MS = 5 * 60_000;
/** Errors about the email. All others with a 4xx are about the account, the credentials or the domain. */
const OF_EMAIL = new Set(['MessageRejected', 'BadRequestException']);
/** SES reports an unverified sender as a rejected message. */
const SAYS_UNVERIFIED = /not verified|not authorized|sandbox/i;

const JSON_TYPE = { 'content-type': 'application/json' };

function send(email: RelayEmail, context: RelayContext): Promise<RelayResult> {
  const configurationSet = context.settings['configuration_set'];
  const body = {
    Destination: { ToAddresses: [email.rcptTo] },
    Content: { Raw: { Data: Buffer.from(email.mime).toString('base64') } },
    EmailTags: [{ Name: SES_TAG, Value: tagOfToken(email.token) }],
    ...(configurationSet === undefined ? {} : { ConfigurationSetName: configurationSet }),
  };
  const url = sesUrl(context, 'outbound-emails');
  const bytes = Buffer.from(JSON.stringify(body));
  return submit(context, call(context, { service: 'ses', url, body: bytes, headers: JSON_TYPE }), decide);
}

/** SES removes these fields before it delivers the email. */
function smtpHeaders(token: string, { configuration_set: configurationSet }: RelaySettings): string[] {
  const tags = `X-SES-MESSAGE-TAGS: ${SES_TAG}=${tagOfToken(token)}`;
  return configurationSet === undefined ? [tags] : [tags, `X-SES-CONFIGURATION-SET: ${configurationSet}`];
}

function decide(answer: Answer): RelayResult | null {
  const { status, json, text, retryAfterMs } = answer;
  if (status === 200) return accepted(asText(json['MessageId']), text);
  const error = errorName(answer);
  const message = asReply(json['message'] ?? json['Message']) || text;
  if (THROTTLED.has(error)) return rateLimited(message, retryAfterMs);
  if (error === 'LimitExceededException') return rateLimited(message, QUOTA_PAUSE_MS);
  const isOfEmail = OF_EMAIL.has(error) && !SAYS_UNVERIFIED.test(message);
  return resultOfRefusal({ status, retryAfterMs, message, isOfEmail });
}

/** The name is in a header, with an address behind a colon, or in the body with a namespace before a hash. */
function errorName({ errorType, json }: Answer): string {
  const name = errorType ?? asText(json['__type']) ?? asText(json['code']) ?? '';
  return (name.split(':')[0] ?? '').split('#').at(-1) ?? '';
}

function parse(body: Buffer): RelayEvent[] {
  const notification = notificationOf(body);
  return notification ? sesEvents(notification.id, notification.content) : [];
}

/** The most that SQS returns at once. */
const MESSAGES_MAX = 10;
/** A message that was not acknowledged is returned again after this time. */
const VISIBILITY_SECONDS = 120;

async function pull(_: string | null, context: RelayContext): Promise<PullResult> {
  const queueUrl = context.settings['queue_url'];
  if (queueUrl === undefined)
    return { ok: false, message: 'Set the queue URL to read events from SQS.', retryAfterMs: null };
  const answer = await sqs(context, 'ReceiveMessage', {
    QueueUrl: queueUrl,
    MaxNumberOfMessages: MESSAGES_MAX,
    VisibilityTimeout: VISIBILITY_SECONDS,
  });
  if ('failed' in answer || answer.status !== 200)
    return { ok: false, message: failureMessage('Amazon SQS', answer), retryAfterMs: null };
  const messages = asList(answer.json['Messages'], MESSAGES_MAX).map(asObject);
  const entries = messages.flatMap(({ ReceiptHandle: handle }, index) =>
    typeof handle === 'string' ? [{ Id: String(index), ReceiptHandle: handle }] : [],
  );
  return {
    ok: true,
    events: messages.flatMap(({ Body: text, MessageId: id }) =>
      typeof text === 'string' ? eventsInQueue(asText(id) ?? '', text) : [],
    ),
    cursor: '',
    hasMore: messages.length === MESSAGES_MAX,
    ...(entries.length > 0
      ? {
          acknowledge: async () => {
            await sqs(context, 'DeleteMessageBatch', { QueueUrl: queueUrl, Entries: entries });
          },
        }
      : {}),
  };
}

/** SNS wraps what it publishes, unless the subscription uses raw message delivery. Only SNS and our account may write to the queue. */
function eventsInQueue(id: string, text: string): RelayEvent[] {
  const notification = notificationOf(text);
  return notification
    ? sesEvents(notification.id, notification.content)
    : sesEvents(id, asObject(readJson(text)));
}

function sqs(context: RelayContext, action: string, body: Record<string, unknown>) {
  const { settings } = context;
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': `AmazonSQS.${action}`,
  };
  const url = `${apiUrl(settings, `https://sqs.${settings['region'] ?? ''}.amazonaws.com`)}/`;
  const signed = call(context, { service: 'sqs', url, body: Buffer.from(JSON.stringify(body)), headers });
  return request(context, { ...signed, answerMaxBytes: 4 * 1_048_576 });
}

const PAGE = 1_000;

function suppressions(cursor: string | null, context: RelayContext): Promise<SuppressionPage> {
  const query = new URLSearchParams({
    PageSize: String(PAGE),
    ...(cursor === null ? {} : { NextToken: cursor }),
  });
  const url = sesUrl(context, `suppression/addresses?${query.toString()}`);
  return suppressionPage(context, {
    title: 'Amazon SES',
    provider: call(context, { service: 'ses', url }),
    rows: ({ json }) => json['SuppressedDestinationSummaries'],
    read: ({ EmailAddress: address, Reason: reason }) => ({
      address,
      reason: reason === 'COMPLAINT' ? 'complained' : 'hard_bounce',
    }),
    next: ({ json }) => (typeof json['NextToken'] === 'string' ? json['NextToken'] : null),
  });
}

async function records(domain: string, context: RelayContext): Promise<DomainRecords> {
  const region = context.settings['region'] ?? '';
  const guideUrl = `https://${region}.console.aws.amazon.com/ses/home?region=${region}#/identities`;
  const url = sesUrl(context, `identities/${encodeURIComponent(domain)}`);
  const answer = await request(context, call(context, { service: 'ses', url }));
  if ('failed' in answer || answer.status !== 200) return { records: [], guideUrl, isComplete: false };
  const tokens = asList(asObject(answer.json['DkimAttributes'])['Tokens'], 10).flatMap(
    (token) => asText(token) ?? [],
  );
  const found = tokens.map((token) => ({
    type: 'CNAME' as const,
    name: `${token}._domainkey.${domain}`,
    value: `${token}.dkim.amazonses.com`,
    purpose: 'dkim' as const,
  }));
  const mailFrom = asText(asObject(answer.json['MailFromAttributes'])['MailFromDomain']);
  if (mailFrom === null) return { records: found, guideUrl, isComplete: found.length > 0 };
  const returnPath = [
    {
      type: 'MX' as const,
      name: mailFrom,
      value: `10 feedback-smtp.${region}.amazonses.com`,
      purpose: 'return_path' as const,
    },
    {
      type: 'TXT' as const,
      name: mailFrom,
      value: 'v=spf1 include:amazonses.com ~all',
      purpose: 'return_path' as const,
    },
  ];
  return { records: [...found, ...returnPath], guideUrl, isComplete: found.length > 0 };
}

async function check(context: RelayContext): Promise<CheckResult> {
  const url = sesUrl(context, 'account');
  const answer = await request(context, call(context, { service: 'ses', url }));
  if ('failed' in answer) return { ok: false, message: failureMessage('Amazon SES', answer), field: null };
  if (answer.status === 403)
    return {
      ok: false,
      message: `Amazon SES refused the credentials: ${asReply(answer.json['message'] ?? answer.json['Message'])}`,
      field: 'access_key_id',
    };
  if (answer.status !== 200) return { ok: false, message: failureMessage('Amazon SES', answer), field: null };
  if (answer.json['SendingEnabled'] === false)
    return { ok: false, message: 'Sending is paused for this account of Amazon SES.', field: null };
  const isSandbox = answer.json['ProductionAccessEnabled'] === false;
  return {
    ok: true,
    detail: isSandbox
      ? 'The credentials are valid. The account is in the sandbox of SES, which delivers to verified addresses only.'
      : 'The credentials are valid.',
  };
}

function checkSettings(settings: RelaySettings): FieldError[] {
  const { region = '', topic_arn: topic, queue_url: queue, configuration_set: configurationSet } = settings;
  const errors: FieldError[] = [];
  if (configurationSet !== undefined && !/^[\w-]{1,64}$/.test(configurationSet))
    errors.push({
      field: 'configuration_set',
      message: 'Configuration set can have letters, digits, hyphens and underscores, and at most 64 of them.',
    });
  if (!/^[a-z]{2}(?:-[a-z]+)+-\d$/.test(region))
    errors.push({ field: 'region', message: 'Region must be the code of a region, such as eu-central-1.' });
  if (topic !== undefined && !/^arn:aws[\w-]*:sns:[a-z\d-]+:\d{12}:[\w-]{1,256}$/.test(topic))
    errors.push({
      field: 'topic_arn',
      message: 'Topic ARN must have the form arn:aws:sns:eu-central-1:123456789012:name.',
    });
  const isQueue = queue === undefined || queue.startsWith(`https://sqs.${region}.amazonaws.com/`);
  if (!isQueue && settings['api_url'] === undefined)
    errors.push({
      field: 'queue_url',
      message: `Queue URL must start with https://sqs.${region}.amazonaws.com/.`,
    });
  return errors;
}

export const ses: RelayAdapter = {
  kind: 'ses',
  title: 'Amazon SES',
  fields: [
    { name: 'access_key_id', label: 'Access key ID', isSecret: false },
    { name: 'secret_access_key', label: 'Secret access key', isSecret: true },
    { name: 'region', label: 'Region', isSecret: false, hint: 'Such as eu-central-1.' },
    {
      name: 'configuration_set',
      label: 'Configuration set',
      isSecret: false,
      isOptional: true,
      hint: 'Publishes the events of each email with the token that identifies it.',
    },
    {
      name: 'topic_arn',
      label: 'SNS topic ARN',
      isSecret: false,
      isOptional: true,
      hint: 'Events by HTTPS are accepted from this topic only.',
    },
    {
      name: 'queue_url',
      label: 'SQS queue URL',
      isSecret: false,
      isOptional: true,
      hint: 'Set it to read events from a queue, which works without a public address.',
    },
    API_URL,
  ],
  checkSettings,
  smtpHost: /^email-smtp(?:-fips)?\.[a-z\d-]+\.amazonaws\.com$/i,
  spf: () => null,
  smtp: {
    headers: smtpHeaders,
    settingsOf: ({ host }) => ({ region: /^email-smtp(?:-fips)?\.([a-z\d-]+)\./i.exec(host)?.[1] ?? '' }),
  },
  forwardsBounces: true,
  slots: 14,
  idempotencyWindowMs: null,
  send,
  webhook: {
    verifiedBy: 'topic_arn',
    url: (hookUrl) => hookUrl,
    events: ['Delivery', 'Bounce', 'Complaint', 'Reject', 'DeliveryDelay'],
    verify: ({ body }, context) => verifySns(body, context),
    parse: ({ body }) => parse(body),
    confirm: ({ body }, context) => confirmSns(body, context),
    register: registerSes,
  },
  pull,
  suppressions,
  records,
  simulator: {
    bounce: 'bounce@simulator.amazonses.com',
    complaint: 'complaint@simulator.amazonses.com',
  },
  check,
};
