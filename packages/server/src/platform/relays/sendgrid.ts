import { createPublicKey, type KeyObject, verify as verifySignature } from 'node:crypto';
import type { ReplyClass } from '../mail/smtp-reply.ts';
import { enhancedStatus } from '../mail/smtp-reply.ts';
import type {
  CheckResult,
  DnsRecord,
  DomainRecords,
  HookRequest,
  HookVerdict,
  RelayAdapter,
  RelayContext,
  RelayEmail,
  RelayEvent,
  RelayEventKind,
  RelayResult,
  SuppressionPage,
} from './adapter.ts';
import { API_URL, apiUrl } from './fields.ts';
import { asCode, asList, asObject, asReply, asSeconds, asText, type Json, readJson } from './json.ts';
import { readOwnMime } from './own-mime.ts';
import { type Answer, failureMessage, request, submit } from './request.ts';
import { accepted, resultOfRefusal } from './results.ts';
import { registerSendgrid } from './sendgrid-register.ts';
import { nextOffset, offsetOf, suppressionPage } from './suppression-page.ts';
import { freshness, header, strictBase64 } from './verify.ts';

/** Twilio SendGrid: https://www.twilio.com/docs/sendgrid/api-reference. It takes JSON, and replaces the return path and the DKIM signature. */
const ARGUMENT = 'beckon';

const KINDS: Record<string, RelayEventKind> = {
  delivered: 'delivered',
  deferred: 'deferred',
  bounce: 'bounced',
  dropped: 'dropped',
  spamreport: 'complained',
};

/** SendGrid's own classification of a bounce. For `Unclassified` the text of the receiving server decides. */
const CLASSIFICATIONS: Record<string, ReplyClass> = {
  'Invalid Address': 'hard',
  'Mailbox Unavailable': 'soft',
  Technical: 'infrastructure',
  Content: 'policy',
  Reputation: 'policy',
  'Frequency/Volume': 'policy',
  'Frequency or Volume Too High': 'policy',
};

/** Why SendGrid did not try to deliver. */
const DROPPED: Record<string, ReplyClass> = {
  'Bounced Address': 'hard',
  Invalid: 'hard',
  'Spam Reporting Address': 'policy',
  'Unsubscribed Address': 'policy',
};

function url({ settings }: RelayContext, path: string): string {
  const standard = settings['region'] === 'eu' ? 'https://api.eu.sendgrid.com' : 'https://api.sendgrid.com';
  return `${apiUrl(settings, standard)}${path}`;
}

function headers({ settings }: RelayContext): Record<string, string> {
  return { authorization: `Bearer ${settings['api_key'] ?? ''}` };
}

function send(email: RelayEmail, context: RelayContext): Promise<RelayResult> {
  const parts = readOwnMime(email.mime);
  const body = {
    personalizations: [
      { to: [person({ ...parts.to, address: email.rcptTo })], custom_args: { [ARGUMENT]: email.token } },
    ],
    from: person(parts.from),
    ...(parts.replyTo ? { reply_to: person(parts.replyTo) } : {}),
    subject: parts.subject,
    content: [
      { type: 'text/plain', value: parts.text },
      { type: 'text/html', value: parts.html },
    ],
    headers: {
      'Message-ID': `<${parts.messageId}>`,
      ...Object.fromEntries(parts.headers.map(({ name, value }) => [name, value])),
    },
    tracking_settings: {
      click_tracking: { enable: false, enable_text: false },
      open_tracking: { enable: false },
      subscription_tracking: { enable: false },
    },
  };
  return submit(context, { url: url(context, '/v3/mail/send'), headers: headers(context), body }, decide);
}

function person({ name, address }: { name: string; address: string }) {
  return name === '' ? { email: address } : { email: address, name };
}

function decide({ status, json, text, retryAfterMs }: Answer): RelayResult | null {
  // The answer is empty. Its id is in a header, and events contain the token of the email.
  if (status === 202 || status === 200) return accepted(null, text);
  const error = asObject(asList(json['errors'], 1)[0]);
  const message = asReply(error['message']) || text;
  const isOfEmail = status === 400 && OF_EMAIL.test(asText(error['field']) ?? '');
  return resultOfRefusal({ status, retryAfterMs, message, isOfEmail });
}

/** Fields that are about this email. The sender, the key and the account are the same for every email. */
const OF_EMAIL = /^(?:personalizations|content|subject|headers|reply_to)\b/;

async function verify(hook: HookRequest, { settings, now }: RelayContext): Promise<HookVerdict> {
  const timestamp = header(hook, 'x-twilio-email-event-webhook-timestamp');
  const signature = strictBase64(header(hook, 'x-twilio-email-event-webhook-signature'));
  const key = readKey(settings['verification_key']);
  if (timestamp === null || signature === null || key === null) return 'invalid';
  const signed = Buffer.concat([Buffer.from(timestamp), hook.body]);
  const isSigned = verifySignature('sha256', signed, key, signature);
  return isSigned ? freshness(asSeconds(timestamp), now()) : 'invalid';
}

/** SendGrid shows the key as base64 without the lines around it. */
function readKey(text: string | undefined): KeyObject | null {
  const der = strictBase64((text ?? '').replaceAll(/-----[^-]+-----|\s/g, ''));
  if (der === null) return null;
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    return null;
  }
}

/** More than SendGrid puts into one request. */
const EVENTS_MAX = 10_000;

function parse(body: Buffer): RelayEvent[] {
  return asList(readJson(body), EVENTS_MAX).map(asObject).flatMap(eventOf);
}

function eventOf(json: Json): RelayEvent[] {
  const name = asText(json['event']) ?? '';
  const eventId = asText(json['sg_event_id']);
  if (!Object.hasOwn(KINDS, name) || eventId === null) return [];
  const text = asReply(json['reason']) || asReply(json['response']);
  return [
    {
      eventId,
      kind: KINDS[name] ?? 'deferred',
      token: asText(json[ARGUMENT]),
      relayEmailId: null,
      recipient: asText(json['email']),
      bounceClass: classOf(name, json),
      code: asCode(/^\d{3}/.exec(text)?.[0]),
      status: enhancedStatus(asText(json['status']) ?? '') ?? enhancedStatus(text),
      text,
      at: asSeconds(json['timestamp']),
    },
  ];
}

function classOf(name: string, json: Json): ReplyClass | null {
  const classification = asText(json['bounce_classification']) ?? '';
  const reason = asText(json['reason']) ?? '';
  if (name === 'dropped') return Object.hasOwn(DROPPED, reason) ? (DROPPED[reason] ?? null) : 'policy';
  if (name !== 'bounce') return null;
  if (Object.hasOwn(CLASSIFICATIONS, classification)) return CLASSIFICATIONS[classification] ?? null;
  return json['type'] === 'blocked' ? 'policy' : null;
}

const PAGE = 500;
/** The lists are read one after the other. */
const LISTS = ['bounces', 'spam_reports'] as const;

/** The cursor is the number of the list and the offset in it. */
function suppressions(cursor: string | null, context: RelayContext): Promise<SuppressionPage> {
  const [number = '0', offset = '0'] = (cursor ?? '').split(' ');
  const index = number === '1' ? 1 : 0;
  const path = `/v3/suppression/${LISTS[index]}?limit=${PAGE}&offset=${offsetOf(offset)}`;
  return suppressionPage(context, {
    title: 'SendGrid',
    provider: { url: url(context, path), headers: headers(context) },
    rows: ({ value }) => value,
    read: ({ email }) => ({ address: email, reason: index === 0 ? 'hard_bounce' : 'complained' }),
    next: (_, rows) => {
      const next = nextOffset(offset, rows, PAGE);
      return next === null ? (index === 0 ? '1 0' : null) : `${index} ${next}`;
    },
  });
}

async function records(domain: string, context: RelayContext): Promise<DomainRecords> {
  const guideUrl = 'https://app.sendgrid.com/settings/sender_auth';
  const path = `/v3/whitelabel/domains?domain=${encodeURIComponent(domain)}`;
  const answer = await request(context, { url: url(context, path), headers: headers(context) });
  const rows = 'failed' in answer ? [] : asList(answer.value, 50).map(asObject);
  const dns = asObject(rows.find((row) => row['domain'] === domain)?.['dns']);
  const found = Object.entries(dns).flatMap(([name, row]) => recordOf(name, asObject(row)));
  return { records: found, guideUrl, isComplete: found.length > 0 };
}

function recordOf(entry: string, row: Json): DnsRecord[] {
  const [type, name, value] = [(asText(row['type']) ?? '').toUpperCase(), asText(row['host']), row['data']];
  if ((type !== 'TXT' && type !== 'CNAME' && type !== 'MX') || name === null) return [];
  if (typeof value !== 'string' || value.length > 2_000) return [];
  return [{ type, name, value, purpose: entry.startsWith('dkim') ? 'dkim' : 'return_path' }];
}

async function check(context: RelayContext): Promise<CheckResult> {
  const answer = await request(context, { url: url(context, '/v3/scopes'), headers: headers(context) });
  if (!('failed' in answer)) {
    const maySend = asList(answer.json['scopes'], 1_000).includes('mail.send');
    if (answer.status === 200 && maySend) return { ok: true, detail: 'The API key may send emails.' };
    if (answer.status === 200)
      return { ok: false, message: 'The API key lacks the permission Mail Send.', field: 'api_key' };
    if (answer.status === 401 || answer.status === 403)
      return { ok: false, message: 'SendGrid does not accept this API key.', field: 'api_key' };
  }
  return { ok: false, message: failureMessage('SendGrid', answer), field: null };
}

export const sendgrid: RelayAdapter = {
  kind: 'sendgrid',
  title: 'SendGrid',
  fields: [
    {
      name: 'api_key',
      label: 'API key',
      isSecret: true,
      hint: 'In SendGrid, under Settings: API Keys, with Mail Send.',
    },
    { name: 'region', label: 'Region', isSecret: false, values: ['global', 'eu'] },
    {
      name: 'verification_key',
      label: 'Webhook verification key',
      isSecret: false,
      isOptional: true,
      hint: 'In SendGrid, under Settings and Mail Settings: Event Webhook, with Signature Verification enabled.',
    },
    API_URL,
  ],
  smtpHost: /^smtp(?:\.eu)?\.sendgrid\.net$/i,
  spf: () => null,
  smtp: {
    headers: (token) => [`X-SMTPAPI: ${JSON.stringify({ unique_args: { [ARGUMENT]: token } })}`],
    settingsOf: ({ host }) => ({ region: /^smtp\.eu\./i.test(host) ? 'eu' : 'global' }),
  },
  slots: 20,
  idempotencyWindowMs: null,
  send,
  webhook: {
    verifiedBy: 'verification_key',
    url: (hookUrl) => hookUrl,
    events: ['Delivered', 'Deferred', 'Bounced', 'Dropped', 'Spam Reports'],
    verify,
    parse: ({ body }) => parse(body),
    register: (hookUrl, context) =>
      registerSendgrid(hookUrl, context, {
        url: (path) => url(context, path),
        headers: headers(context),
      }),
  },
  pull: null,
  suppressions,
  records,
  simulator: null,
  check,
};
