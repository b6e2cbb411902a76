import { sha256 } from '../crypto/hash.ts';
import type { ReplyClass } from '../mail/smtp-reply.ts';
import { enhancedStatus } from '../mail/smtp-reply.ts';
import type {
  CheckResult,
  DnsRecord,
  DomainRecords,
  HookRequest,
  HookVerdict,
  ProviderSuppression,
  PullResult,
  RegisterResult,
  RelayAdapter,
  RelayContext,
  RelayEmail,
  RelayEvent,
  RelayEventKind,
  RelayResult,
  SuppressionPage,
} from './adapter.ts';
import { API_URL, apiUrl, HOOK_SECRET, urlWithPassword } from './fields.ts';
import { BREVO_IDEMPOTENCY } from './idempotency.ts';
import { asList, asObject, asReply, asText, asTime, type Json, readJson, plausibleTime } from './json.ts';
import { readOwnMime } from './own-mime.ts';
import { type Answer, failureMessage, request, submit } from './request.ts';
import { accepted, repeated, resultOfRefusal } from './results.ts';
import { nextOffset, offsetOf, suppressionPage } from './suppression-page.ts';
import { basicPassword, header, isSecret } from './verify.ts';

/**
 * Brevo: https://developers.brevo.com/reference. It takes JSON, and replaces the return path and the DKIM signature.
 *
 * The documentation names two windows for a repeated idempotency key, 15 and 30 minutes; the shorter one counts. A repeated key gets an
 * error and not the first answer. It prevents a second email, but does not say what became of the first one.
 */
const DUPLICATE = 'duplicate_parameter';

/** Events, by their names in webhooks and in the list. */
const EVENTS: Record<string, { kind: RelayEventKind; bounceClass: ReplyClass | null }> = {
  delivered: { kind: 'delivered', bounceClass: null },
  deferred: { kind: 'deferred', bounceClass: null },
  hard_bounce: { kind: 'bounced', bounceClass: 'hard' },
  hardBounces: { kind: 'bounced', bounceClass: 'hard' },
  soft_bounce: { kind: 'bounced', bounceClass: 'soft' },
  softBounces: { kind: 'bounced', bounceClass: 'soft' },
  invalid_email: { kind: 'bounced', bounceClass: 'hard' },
  invalid: { kind: 'bounced', bounceClass: 'hard' },
  blocked: { kind: 'dropped', bounceClass: 'policy' },
  error: { kind: 'dropped', bounceClass: 'infrastructure' },
  spam: { kind: 'complained', bounceClass: null },
  complaint: { kind: 'complained', bounceClass: null },
};

const HOOK_EVENTS = ['delivered', 'deferred', 'hardBounce', 'softBounce', 'blocked', 'spam', 'invalid'];

function url({ settings }: RelayContext, path: string): string {
  return `${apiUrl(settings, 'https://api.brevo.com')}/v3${path}`;
}

function headers({ settings }: RelayContext): Record<string, string> {
  return { 'api-key': settings['api_key'] ?? '' };
}

function send(email: RelayEmail, context: RelayContext): Promise<RelayResult> {
  const parts = readOwnMime(email.mime);
  const body = {
    sender: person(parts.from),
    to: [person({ ...parts.to, address: email.rcptTo })],
    ...(parts.replyTo ? { replyTo: person(parts.replyTo) } : {}),
    subject: parts.subject,
    htmlContent: parts.html,
    textContent: parts.text,
    headers: {
      ...Object.fromEntries(parts.headers.map(({ name, value }) => [name, value])),
      'X-Mailin-custom': email.token,
      idempotencyKey: uuidOf(email.idempotencyKey),
    },
  };
  return submit(context, { url: url(context, '/smtp/email'), headers: headers(context), body }, decide);
}

function person({ name, address }: { name: string; address: string }) {
  return name === '' ? { email: address } : { email: address, name };
}

/** Brevo accepts keys in the form of a UUID only. */
function uuidOf(key: string): string {
  const hex = sha256(key);
  const variant = `a${hex.slice(17, 20)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, variant, hex.slice(20, 32)].join('-');
}

function decide({ status, json, text, retryAfterMs }: Answer): RelayResult | null {
  const [code, message] = [asText(json['code']) ?? '', asReply(json['message']) || text];
  if (status >= 200 && status <= 202) return accepted(bareId(json['messageId']), message);
  if (code === DUPLICATE) return repeated(message);
  const isOfEmail = status === 400 && OF_EMAIL.test(message);
  return resultOfRefusal({ status, retryAfterMs, message, isOfEmail });
}

/** The other messages of a 400 are about the sender, the key or the account. */
const OF_EMAIL = /\b(?:in to|to is|htmlContent|textContent|subject|headers)\b/i;

function bareId(value: unknown): string | null {
  return asText(value)?.replace(/^<|>$/g, '') ?? null;
}

async function verify(hook: HookRequest, { settings }: RelayContext): Promise<HookVerdict> {
  const [, bearer = null] = /^bearer +(\S{1,500})$/i.exec(header(hook, 'authorization') ?? '') ?? [];
  return isSecret(bearer ?? basicPassword(hook), settings[HOOK_SECRET]) ? 'valid' : 'invalid';
}

const BATCH_MAX = 1_000;

/** A request contains one event, or a list of them if batches are enabled. */
function parse(body: Buffer): RelayEvent[] {
  const value = readJson(body);
  const batch = Array.isArray(value) ? asList(value, BATCH_MAX) : [value];
  return batch.map(asObject).flatMap((json) => {
    const { ts_epoch: epoch, ts_event: seconds } = json;
    const ms = typeof epoch === 'number' ? epoch : Number(seconds) * 1_000;
    return eventOf(json, { id: json['message-id'], at: plausibleTime(ms) });
  });
}

function eventOf(json: Json, { id, at }: { id: unknown; at: number | null }): RelayEvent[] {
  const name = asText(json['event']) ?? '';
  const relayEmailId = bareId(id);
  if (!Object.hasOwn(EVENTS, name) || relayEmailId === null) return [];
  const { kind = 'deferred', bounceClass = null } = EVENTS[name] ?? {};
  const recipient = asText(json['email']);
  const text = asReply(json['reason']);
  return [
    {
      // Brevo has no id for an event.
      eventId: [kind, bounceClass ?? '', relayEmailId, recipient ?? '', at ?? ''].join(' '),
      kind,
      token: asText(json['X-Mailin-custom']),
      relayEmailId,
      recipient,
      bounceClass,
      code: null,
      status: enhancedStatus(text),
      text,
      at,
    },
  ];
}

const PAGE = 2_500;
const DAY_MS = 86_400_000;

/** Days are in the time zone of the account, so a search covers three of them, and begins again when `day` is two days ago. */
type Cursor = { day: string; offset: number };

async function pull(text: string | null, context: RelayContext): Promise<PullResult> {
  const today = dayOf(context.now() + DAY_MS);
  const cursor = readCursor(text, context.now());
  const query = new URLSearchParams({
    startDate: cursor.day,
    endDate: today,
    limit: String(PAGE),
    offset: String(cursor.offset),
    sort: 'asc',
  });
  const answer = await request(context, {
    url: url(context, `/smtp/statistics/events?${query.toString()}`),
    headers: headers(context),
    answerMaxBytes: 8 * 1_048_576,
  });
  if ('failed' in answer || answer.status !== 200) {
    const retryAfterMs = 'failed' in answer ? null : answer.retryAfterMs;
    return { ok: false, message: failureMessage('Brevo', answer), retryAfterMs };
  }
  const rows = asList(answer.json['events'], PAGE).map(asObject);
  const events = rows.flatMap((row) => eventOf(row, { id: row['messageId'], at: asTime(row['date']) }));
  const isFull = rows.length === PAGE;
  const oldest = dayOf(context.now() - DAY_MS);
  const next =
    !isFull && cursor.day < oldest
      ? { day: oldest, offset: 0 }
      : { day: cursor.day, offset: cursor.offset + (isFull ? PAGE : 0) };
  return { ok: true, events, cursor: JSON.stringify(next), hasMore: isFull };
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function readCursor(text: string | null, now: number): Cursor {
  const { day, offset } = asObject(text === null ? null : readJson(text));
  return typeof day === 'string' && typeof offset === 'number'
    ? { day, offset }
    : { day: dayOf(now), offset: 0 };
}

const BLOCKED_PAGE = 100;
const BLOCKED = new Map<unknown, ProviderSuppression['reason']>([
  ['hardBounce', 'hard_bounce'],
  ['contactFlaggedAsSpam', 'complained'],
  ['unsubscribedViaMA', 'unsubscribed'],
  ['unsubscribedViaEmail', 'unsubscribed'],
  ['unsubscribedViaApi', 'unsubscribed'],
]);

function suppressions(cursor: string | null, context: RelayContext): Promise<SuppressionPage> {
  const path = `/smtp/blockedContacts?limit=${BLOCKED_PAGE}&offset=${offsetOf(cursor)}`;
  return suppressionPage(context, {
    title: 'Brevo',
    provider: { url: url(context, path), headers: headers(context) },
    rows: ({ json }) => json['contacts'],
    read: ({ email, reason }) => ({
      address: email,
      reason: BLOCKED.get(asObject(reason)['code']) ?? null,
    }),
    next: (_, rows) => nextOffset(cursor, rows, BLOCKED_PAGE),
  });
}

async function register(hookUrl: string, context: RelayContext): Promise<RegisterResult> {
  const path = '/webhooks?type=transactional';
  const list = await request(context, { url: url(context, path), headers: headers(context) });
  // Without any webhook the answer is 404.
  if ('failed' in list || (list.status !== 200 && list.status !== 404))
    return { ok: false, message: failureMessage('Brevo', list) };
  const isThere = asList(list.json['webhooks'], 100).some((hook) => asObject(hook)['url'] === hookUrl);
  if (isThere) return { ok: true, settings: {} };
  const body = {
    url: hookUrl,
    description: 'Beckon',
    type: 'transactional',
    events: HOOK_EVENTS,
    auth: { type: 'bearer', token: context.settings[HOOK_SECRET] ?? '' },
  };
  const answer = await request(context, { url: url(context, '/webhooks'), headers: headers(context), body });
  if ('failed' in answer || answer.status !== 201)
    return { ok: false, message: failureMessage('Brevo', answer) };
  return { ok: true, settings: {} };
}

async function records(domain: string, context: RelayContext): Promise<DomainRecords> {
  const guideUrl = 'https://app.brevo.com/senders/domain/list';
  const path = `/senders/domains/${encodeURIComponent(domain)}`;
  const answer = await request(context, { url: url(context, path), headers: headers(context) });
  const rows = 'failed' in answer ? {} : asObject(answer.json['dns_records']);
  const found = Object.entries(rows).flatMap(([name, row]) => recordOf(name, asObject(row), domain));
  return { records: found, guideUrl, isComplete: found.length > 0 };
}

function recordOf(entry: string, row: Json, domain: string): DnsRecord[] {
  const [type, host, value] = [asText(row['type']), asText(row['host_name']), row['value']];
  if ((type !== 'TXT' && type !== 'CNAME') || host === null) return [];
  if (typeof value !== 'string' || value.length > 2_000) return [];
  const name = host === '@' ? domain : `${host}.${domain}`;
  return [{ type, name, value, purpose: entry.startsWith('dkim') ? 'dkim' : 'verification' }];
}

async function check(context: RelayContext): Promise<CheckResult> {
  const answer = await request(context, { url: url(context, '/account'), headers: headers(context) });
  if (!('failed' in answer)) {
    if (answer.status === 200)
      return { ok: true, detail: `Account ${asText(answer.json['email']) ?? 'without an address'}` };
    if (answer.status === 401)
      return { ok: false, message: 'Brevo does not accept this API key.', field: 'api_key' };
  }
  return { ok: false, message: failureMessage('Brevo', answer), field: null };
}

export const brevo: RelayAdapter = {
  kind: 'brevo',
  title: 'Brevo',
  fields: [
    { name: 'api_key', label: 'API key', isSecret: true, hint: 'In Brevo: SMTP & API → API keys.' },
    API_URL,
  ],
  smtpHost: /^smtp-relay\.(?:brevo|sendinblue)\.com$/i,
  spf: () => null,
  smtp: {
    headers: (token) => [`X-Mailin-custom: ${token}`],
    settingsOf: () => ({}),
  },
  slots: 20,
  idempotencyWindowMs: BREVO_IDEMPOTENCY.windowMs,
  send,
  webhook: {
    verifiedBy: HOOK_SECRET,
    url: urlWithPassword,
    events: HOOK_EVENTS,
    verify,
    parse: ({ body }) => parse(body),
    register,
  },
  pull,
  suppressions,
  records,
  simulator: null,
  check,
};
