import { createHmac } from 'node:crypto';
import type { ReplyClass } from '../mail/smtp-reply.ts';
import { enhancedStatus } from '../mail/smtp-reply.ts';
import { equalInConstantTime } from '../crypto/hash.ts';
import type {
  CheckResult,
  DnsRecord,
  DomainRecords,
  HookRequest,
  HookVerdict,
  RegisterResult,
  RelayAdapter,
  RelayContext,
  RelayEmail,
  RelayEvent,
  RelayEventKind,
  RelayResult,
  RelaySettings,
} from './adapter.ts';
import { API_URL, apiUrl, tagOfToken, tokenOfTag } from './fields.ts';
import { RESEND_IDEMPOTENCY } from './idempotency.ts';
import { asList, asObject, asReply, asSeconds, asText, asTime, type Json, readJson } from './json.ts';
import { mailboxText, readOwnMime } from './own-mime.ts';
import { type Answer, failureMessage, request, submit } from './request.ts';
import { accepted, rateLimited, repeated, resultOfRefusal } from './results.ts';
import { freshness, header, strictBase64 } from './verify.ts';

/** Resend: https://resend.com/docs. It takes JSON, sends with a return path of its own, and recognizes repeated requests for 24 hours. */
const TAG = 'beckon';
/** An email that is sent by SMTP has no tags. Each event contains its custom headers: https://github.com/resend/resend-dotnet/pull/127 */
const TOKEN_HEADER = 'X-Beckon-Token';

const QUOTA_PAUSE_MS = 15 * 60_000;

/** Error names about the email itself. The others are about the account, the key or the domain. */
const OF_EMAIL = new Set([
  'missing_required_field',
  'invalid_parameter',
  'invalid_attachment',
  'validation_error',
]);

/** A request with the same key is in progress, so its answer does not exist yet. */
const IN_PROGRESS = 'concurrent_idempotent_requests';
/** A request with the same key had another body. It does not say what became of the email. */
const OTHER_BODY = 'invalid_idempotent_request';

const KINDS: Record<string, RelayEventKind> = {
  'email.delivered': 'delivered',
  'email.delivery_delayed': 'deferred',
  'email.bounced': 'bounced',
  'email.complained': 'complained',
  'email.failed': 'dropped',
  'email.suppressed': 'dropped',
};

/** Subtypes of bounces. For the others the text of the receiving server decides. */
const SUBTYPES: Record<string, ReplyClass> = {
  NoEmail: 'hard',
  Suppressed: 'hard',
  OnAccountSuppressionList: 'hard',
  MailboxFull: 'soft',
  MessageTooLarge: 'policy',
  ContentRejected: 'policy',
  AttachmentRejected: 'policy',
};
const TYPES: Record<string, ReplyClass> = { Permanent: 'hard', Transient: 'soft' };

function url({ settings }: RelayContext, path: string): string {
  return `${apiUrl(settings, 'https://api.resend.com')}${path}`;
}

function headers({ settings }: RelayContext): Record<string, string> {
  return { authorization: `Bearer ${settings['api_key'] ?? ''}` };
}

function send(email: RelayEmail, context: RelayContext): Promise<RelayResult> {
  const parts = readOwnMime(email.mime);
  const body = {
    from: mailboxText(parts.from),
    to: [mailboxText({ ...parts.to, address: email.rcptTo })],
    ...(parts.replyTo ? { reply_to: [mailboxText(parts.replyTo)] } : {}),
    subject: parts.subject,
    html: parts.html,
    text: parts.text,
    headers: Object.fromEntries(parts.headers.map(({ name, value }) => [name, value])),
    tags: [{ name: TAG, value: tagOfToken(email.token) }],
  };
  const keyed = { ...headers(context), 'idempotency-key': email.idempotencyKey };
  return submit(context, { url: url(context, '/emails'), headers: keyed, body }, decide);
}

function decide({ status, json, text, retryAfterMs }: Answer): RelayResult | null {
  const name = asText(json['name']) ?? '';
  const message = asReply(json['message']) || text;
  if (status === 200 || status === 201) return accepted(asText(json['id']), message);
  if (name === IN_PROGRESS) return null;
  if (name === OTHER_BODY) return repeated(message);
  if (name.endsWith('_quota_exceeded')) return rateLimited(message, QUOTA_PAUSE_MS);
  const isOfEmail = (status === 400 || status === 422) && OF_EMAIL.has(name);
  return resultOfRefusal({ status, retryAfterMs, message, isOfEmail });
}

async function verify(hook: HookRequest, context: RelayContext): Promise<HookVerdict> {
  const [id, timestamp, signatures] = ['svix-id', 'svix-timestamp', 'svix-signature'].map((name) =>
    header(hook, name),
  );
  const secret = strictBase64((context.settings['webhook_secret'] ?? '').replace(/^whsec_/, ''));
  if (!id || !timestamp || !signatures || secret === null) return 'invalid';
  const expected = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(hook.body).digest();
  const isSigned = signatures
    .split(' ', SIGNATURES_MAX)
    .some((signature) => isSignature(signature, expected));
  return isSigned ? freshness(asSeconds(timestamp), context.now()) : 'invalid';
}

/** While a secret is rotated, a request has one signature for each. */
const SIGNATURES_MAX = 5;

function isSignature(text: string, expected: Buffer): boolean {
  const given = text.startsWith('v1,') ? strictBase64(text.slice(3)) : null;
  return given !== null && equalInConstantTime(given, expected);
}

function parse(hook: HookRequest): RelayEvent[] {
  const json = asObject(readJson(hook.body));
  const type = asText(json['type']) ?? '';
  const eventId = asText(header(hook, 'svix-id'));
  if (!Object.hasOwn(KINDS, type) || eventId === null) return [];
  const data = asObject(json['data']);
  const reason = reasonOf(data);
  const text = asReply(reason['message']) || asReply(reason['reason']);
  return [
    {
      eventId,
      kind: KINDS[type] ?? 'deferred',
      token: tokenOfTag(tagValue(data['tags'])) ?? headerValue(data['headers']),
      relayEmailId: asText(data['email_id']),
      recipient: asText(asList(data['to'], 1)[0]),
      bounceClass: type === 'email.suppressed' ? 'hard' : classOf(reason),
      code: null,
      status: enhancedStatus(text),
      text,
      at: asTime(json['created_at']),
    },
  ];
}

function reasonOf(data: Json): Json {
  return asObject(data['bounce'] ?? data['failed'] ?? data['suppressed']);
}

function classOf(reason: Json): ReplyClass | null {
  const [subType, type] = [asText(reason['subType']) ?? '', asText(reason['type']) ?? ''];
  if (Object.hasOwn(SUBTYPES, subType)) return SUBTYPES[subType] ?? null;
  return Object.hasOwn(TYPES, type) ? (TYPES[type] ?? null) : null;
}

/** Tags are an object in events, and a list in requests. */
function tagValue(tags: unknown): string | null {
  const listed = asList(tags, 20)
    .map(asObject)
    .find(({ name }) => name === TAG);
  return asText(listed ? listed['value'] : asObject(tags)[TAG]);
}

function headerValue(headers: unknown): string | null {
  const field = asList(headers, HEADERS_MAX)
    .map(asObject)
    .find(({ name }) => asText(name)?.toLowerCase() === TOKEN_HEADER.toLowerCase());
  return asText(field?.['value']);
}

const HEADERS_MAX = 100;

async function register(hookUrl: string, context: RelayContext): Promise<RegisterResult> {
  const list = await request(context, { url: url(context, '/webhooks'), headers: headers(context) });
  if ('failed' in list || list.status !== 200) return { ok: false, message: failureMessage('Resend', list) };
  const existing = asList(list.json['data'], 100)
    .map(asObject)
    .find(({ endpoint }) => endpoint === hookUrl);
  const secret = asText(existing?.['signing_secret']);
  if (secret !== null) return { ok: true, settings: { webhook_secret: secret } };
  const body = { endpoint: hookUrl, events: Object.keys(KINDS) };
  const answer = await request(context, { url: url(context, '/webhooks'), headers: headers(context), body });
  const created = 'failed' in answer ? null : asText(answer.json['signing_secret']);
  if (created === null) return { ok: false, message: failureMessage('Resend', answer) };
  return { ok: true, settings: { webhook_secret: created } };
}

async function records(domain: string, context: RelayContext): Promise<DomainRecords> {
  const guideUrl = 'https://resend.com/domains';
  const list = await request(context, { url: url(context, '/domains'), headers: headers(context) });
  const found =
    'failed' in list
      ? undefined
      : asList(list.json['data'], 1_000)
          .map(asObject)
          .find(({ name }) => name === domain);
  const id = asText(found?.['id']);
  if (id === null) return { records: [], guideUrl, isComplete: false };
  const path = `/domains/${encodeURIComponent(id)}`;
  const answer = await request(context, { url: url(context, path), headers: headers(context) });
  const rows = 'failed' in answer ? [] : asList(answer.json['records'], 20).map(asObject);
  return { records: rows.flatMap((row) => recordOf(row, domain)), guideUrl, isComplete: rows.length > 0 };
}

function recordOf(row: Json, domain: string): DnsRecord[] {
  const [type, name, value] = [asText(row['type']), asText(row['name']), row['value']];
  if (type !== 'TXT' && type !== 'CNAME' && type !== 'MX') return [];
  if (name === null || typeof value !== 'string' || value.length > 2_000) return [];
  const priority = type === 'MX' ? `${asText(row['priority']) ?? '10'} ` : '';
  const purpose = row['record'] === 'DKIM' ? 'dkim' : 'return_path';
  return [{ type, name: qualified(name, domain), value: `${priority}${value}`, purpose }];
}

/** Resend shows names relative to the registered domain: `send.mail` of `mail.example.com` is `send.mail.example.com`. */
function qualified(name: string, domain: string): string {
  if (name === domain || name.endsWith(`.${domain}`)) return name;
  const labels = domain.split('.');
  for (let shared = labels.length - 1; shared > 0; shared -= 1)
    if (`.${name}`.endsWith(`.${labels.slice(0, shared).join('.')}`))
      return [name, ...labels.slice(shared)].join('.');
  return `${name}.${domain}`;
}

async function check(context: RelayContext): Promise<CheckResult> {
  const answer = await request(context, { url: url(context, '/domains'), headers: headers(context) });
  if (!('failed' in answer)) {
    if (answer.status === 200) return { ok: true, detail: 'The API key is valid.' };
    if (answer.json['name'] === 'restricted_api_key')
      return { ok: true, detail: 'The API key is valid, and may only send emails.' };
    if ([400, 401, 403].includes(answer.status))
      return { ok: false, message: 'Resend does not accept this API key.', field: 'api_key' };
  }
  return { ok: false, message: failureMessage('Resend', answer), field: null };
}

export const resend: RelayAdapter = {
  kind: 'resend',
  title: 'Resend',
  fields: [
    {
      name: 'api_key',
      label: 'API key',
      isSecret: true,
      hint: 'In Resend: API Keys. Sending access is enough.',
    },
    {
      name: 'webhook_secret',
      label: 'Webhook signing secret',
      isSecret: true,
      isOptional: true,
      hint: 'In Resend: Webhooks → your webhook. It begins with whsec_.',
    },
    API_URL,
  ],
  smtpHost: /^smtp\.resend\.com$/i,
  spf: () => null,
  smtp: {
    headers: (token) => [`${TOKEN_HEADER}: ${token}`],
    settingsOf: () => ({}),
  },
  slots: 10,
  idempotencyWindowMs: RESEND_IDEMPOTENCY.windowMs,
  send,
  webhook: {
    verifiedBy: 'webhook_secret',
    url: (hookUrl: string, _settings: RelaySettings) => hookUrl,
    events: Object.keys(KINDS),
    verify,
    parse,
    register,
  },
  pull: null,
  suppressions: null,
  records,
  simulator: { bounce: 'bounced@resend.dev', complaint: 'complained@resend.dev' },
  check,
};
