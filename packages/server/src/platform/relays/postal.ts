import { createPublicKey, type KeyObject, verify as verifySignature } from 'node:crypto';
import type { ReplyClass } from '../mail/smtp-reply.ts';
import { enhancedStatus } from '../mail/smtp-reply.ts';
import type {
  CheckResult,
  DomainRecords,
  FieldError,
  HookRequest,
  HookVerdict,
  RelayAdapter,
  RelayContext,
  RelayEmail,
  RelayEvent,
  RelayEventKind,
  RelayResult,
  RelaySettings,
} from './adapter.ts';
import { asObject, asReply, asSeconds, asText, type Json, readJson } from './json.ts';
import { type Answer, failureMessage, request, submit } from './request.ts';
import { accepted, rateLimited, refused, relayRefused } from './results.ts';
import { header, strictBase64 } from './verify.ts';

/** Postal, which is self-hosted: https://docs.postalserver.io/developer/api. It takes our MIME, so our DKIM signature stays. */
const TAG_HEADER = 'X-Postal-Tag';

/** Errors about the email. The others are about the key, the server or the sending domain. */
const OF_EMAIL = new Set(['NoRecipients', 'NoContent']);

const KINDS: Record<string, RelayEventKind> = {
  MessageSent: 'delivered',
  MessageDelayed: 'deferred',
  MessageDeliveryFailed: 'bounced',
  MessageBounced: 'bounced',
  MessageHeld: 'deferred',
};

function url({ settings }: RelayContext, path: string): string {
  return `${(settings['server_url'] ?? '').replace(/\/+$/, '')}/api/v1/${path}`;
}

function headers({ settings }: RelayContext): Record<string, string> {
  return { 'x-server-api-key': settings['api_key'] ?? '' };
}

function send(email: RelayEmail, context: RelayContext): Promise<RelayResult> {
  // The signature does not cover this field, so it can be added to the signed email.
  const tagged = Buffer.concat([Buffer.from(`${TAG_HEADER}: ${email.token}\r\n`), email.mime]);
  const body = {
    mail_from: email.mailFrom,
    rcpt_to: [email.rcptTo],
    data: tagged.toString('base64'),
  };
  return submit(context, { url: url(context, 'send/raw'), headers: headers(context), body }, (answer) =>
    decide(answer, email.rcptTo),
  );
}

/** The status of an answer is 200 in any case; its body says what it means. */
function decide({ status, json, text, retryAfterMs }: Answer, rcptTo: string): RelayResult | null {
  const data = asObject(json['data']);
  if (status === 429) return rateLimited(text, retryAfterMs);
  if (status === 404 || status === 403) return relayRefused(text, status);
  if (status === 413) return refused('policy', text, status);
  if (status !== 200) return null;
  if (json['status'] === 'success')
    return accepted(asText(asObject(asObject(data['messages'])[rcptTo])['id']), 'Queued by Postal');
  if (json['status'] === 'parameter-error') return refused('policy', asReply(data['message']));
  if (json['status'] !== 'error') return null;
  const code = asText(data['code']) ?? '';
  const message = asReply(data['message']) || code;
  return OF_EMAIL.has(code) ? refused('policy', message) : relayRefused(message);
}

/**
 * Postal does not sign the time of a request, and its retries repeat the request unchanged for half an hour. The id of an event makes a
 * repeated one harmless.
 */
async function verify(hook: HookRequest, { settings }: RelayContext): Promise<HookVerdict> {
  const signature = strictBase64(header(hook, 'x-postal-signature-256'));
  const key = readKey(settings['public_key']);
  if (signature === null || key === null) return 'invalid';
  return verifySignature('sha256', hook.body, key, signature) ? 'valid' : 'invalid';
}

/** Accepts a PEM, or the value of the DKIM record that `postal default-dkim-record` shows. */
function readKey(text: string | undefined): KeyObject | null {
  const value = /\bp=([A-Za-z\d+/=\s]+)/.exec(text ?? '')?.[1] ?? text ?? '';
  const der = strictBase64(value.replaceAll(/-----[^-]+-----|[\s";]/g, ''));
  if (der === null) return null;
  try {
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'rsa' ? key : null;
  } catch {
    return null;
  }
}

function parse(body: Buffer): RelayEvent[] {
  const json = asObject(readJson(body));
  const [name, eventId] = [asText(json['event']) ?? '', asText(json['uuid'])];
  if (!Object.hasOwn(KINDS, name) || eventId === null) return [];
  const payload = asObject(json['payload']);
  const message = asObject(payload['message'] ?? payload['original_message']);
  if (message['direction'] !== 'outgoing') return [];
  const text = asReply(payload['output']) || asReply(payload['details']);
  const isSuppressed = name === 'MessageHeld' && SAYS_SUPPRESSED.test(asReply(payload['details']));
  return [
    {
      eventId,
      kind: isSuppressed ? 'dropped' : (KINDS[name] ?? 'deferred'),
      token: asText(message['tag']),
      relayEmailId: asText(message['id']),
      recipient: asText(message['to']),
      bounceClass: classOf(isSuppressed),
      code: null,
      status: enhancedStatus(text),
      text,
      at: timeOf(json, payload),
    },
  ];
}

/** Anything else that Postal holds may still be released. */
const SAYS_SUPPRESSED = /suppression list/i;

function classOf(isSuppressed: boolean): ReplyClass | null {
  return isSuppressed ? 'hard' : null;
}

function timeOf(json: Json, payload: Json): number | null {
  return asSeconds(payload['timestamp']) ?? asSeconds(json['timestamp']);
}

/** The records of a domain are in Postal's own interface only. */
async function records(_: string, { settings }: RelayContext): Promise<DomainRecords> {
  return { records: [], guideUrl: settings['server_url'] ?? '', isComplete: false };
}

/** The API has no request for a check alone. The answer for a message that does not exist proves the key. */
async function check(context: RelayContext): Promise<CheckResult> {
  const answer = await request(context, {
    url: url(context, 'messages/message'),
    headers: headers(context),
    body: { id: 0 },
  });
  const code = 'failed' in answer ? '' : asText(asObject(answer.json['data'])['code']);
  if (code === 'MessageNotFound') return { ok: true, detail: 'The API key is valid.' };
  if (code === 'InvalidServerAPIKey' || code === 'AccessDenied')
    return { ok: false, message: 'Postal does not accept this API key.', field: 'api_key' };
  if (code === 'ServerSuspended')
    return { ok: false, message: 'This mail server is suspended in Postal.', field: null };
  return { ok: false, message: failureMessage('Postal', answer), field: 'server_url' };
}

function checkSettings({ server_url: text = '' }: RelaySettings): FieldError[] {
  return /^https?:\/\/[^\s/?#@]+\/?$/i.test(text)
    ? []
    : [{ field: 'server_url', message: 'Server URL must have the form https://postal.example.com.' }];
}

export const postal: RelayAdapter = {
  kind: 'postal',
  title: 'Postal',
  fields: [
    { name: 'server_url', label: 'Server URL', isSecret: false, hint: 'Such as https://postal.example.com.' },
    {
      name: 'api_key',
      label: 'API key',
      isSecret: true,
      hint: 'In Postal: your mail server → Credentials, of the type API.',
    },
    {
      name: 'public_key',
      label: 'Webhook public key',
      isSecret: false,
      isOptional: true,
      hint: 'The output of `postal default-dkim-record`, or its value behind p=.',
    },
  ],
  checkSettings,
  smtpHost: null,
  spf: () => null,
  smtp: null,
  slots: 20,
  idempotencyWindowMs: null,
  send,
  webhook: {
    verifiedBy: 'public_key',
    url: (hookUrl) => hookUrl,
    events: Object.keys(KINDS),
    verify,
    parse: ({ body }) => parse(body),
  },
  pull: null,
  suppressions: null,
  records,
  simulator: null,
  check,
};
