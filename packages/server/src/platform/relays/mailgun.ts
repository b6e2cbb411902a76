import { createHmac } from 'node:crypto';
import { equalInConstantTime, sha256 } from '../crypto/hash.ts';
import type {
  CheckResult,
  DnsRecord,
  DomainRecords,
  FieldError,
  HookVerdict,
  PullResult,
  RegisterResult,
  RelayAdapter,
  RelayContext,
  RelayEmail,
  RelayEvent,
  RelayResult,
  RelaySettings,
  SmtpAddress,
  SuppressionPage,
} from './adapter.ts';
import { API_URL, apiUrl } from './fields.ts';
import { asList, asObject, asReply, asSeconds, asText, type Json, readJson } from './json.ts';
import { bareId, MAILGUN_VARIABLE, mailgunEvent } from './mailgun-events.ts';
import { type Answer, failureMessage, request, submit } from './request.ts';
import { accepted, resultOfRefusal } from './results.ts';
import { suppressionPage } from './suppression-page.ts';
import { freshness } from './verify.ts';

/** Mailgun: https://documentation.mailgun.com/docs/mailgun/api-reference. It takes our MIME, so our DKIM signature stays. */
const US = 'https://api.mailgun.net';
const EU = 'https://api.eu.mailgun.net';

function url({ settings }: RelayContext, path: string): string {
  return `${apiUrl(settings, settings['region'] === 'eu' ? EU : US)}${path}`;
}

function domainPath({ settings }: RelayContext): string {
  return encodeURIComponent(settings['domain'] ?? '');
}

function headers({ settings }: RelayContext): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`api:${settings['api_key'] ?? ''}`).toString('base64')}` };
}

function send(email: RelayEmail, context: RelayContext): Promise<RelayResult> {
  const boundary = `beckon-${sha256(email.idempotencyKey).slice(0, 32)}`;
  const fields = {
    to: email.rcptTo,
    'o:tracking': 'no',
    'o:tracking-clicks': 'no',
    'o:tracking-opens': 'no',
    [`v:${MAILGUN_VARIABLE}`]: email.token,
  };
  const body = multipart(boundary, fields, email.mime);
  const type = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  const path = `/v3/${domainPath(context)}/messages.mime`;
  return submit(
    context,
    { url: url(context, path), headers: { ...headers(context), ...type }, body },
    decide,
  );
}

function multipart(boundary: string, fields: Record<string, string>, mime: Uint8Array): Buffer {
  const texts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = `--${boundary}\r\ncontent-disposition: form-data; name="message"; filename="email.eml"\r\ncontent-type: message/rfc822\r\n\r\n`;
  return Buffer.concat([Buffer.from(texts.join('') + file), mime, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}

function decide({ status, json, text, retryAfterMs }: Answer): RelayResult | null {
  const message = asReply(json['message']) || text;
  if (status === 200) return accepted(bareId(json['id']), message);
  const isOfEmail = status === 400 && SAYS_PARAMETER.test(message);
  return resultOfRefusal({ status, retryAfterMs, message, isOfEmail });
}

/** The other messages of a 400 are about the account or the domain. */
const SAYS_PARAMETER = /^'?(?:to|message)'? parameter/i;

/**
 * The signature covers a time and a random token, and not the event. So the token is the id of the event: the signature of a request
 * cannot be used for another event.
 */
function verify(body: Buffer, { settings, now }: RelayContext): HookVerdict {
  const signature = asObject(asObject(readJson(body))['signature']);
  const [timestamp, token, given] = ['timestamp', 'token', 'signature'].map((name) =>
    asText(signature[name]),
  );
  const key = settings['signing_key'];
  if (!timestamp || !token || !given || !/^[\da-f]{64}$/.test(given) || key === undefined) return 'invalid';
  const expected = createHmac('sha256', key)
    .update(timestamp + token)
    .digest();
  const isSigned = equalInConstantTime(Buffer.from(given, 'hex'), expected);
  return isSigned ? freshness(asSeconds(timestamp), now()) : 'invalid';
}

function parse(body: Buffer): RelayEvent[] {
  const json = asObject(readJson(body));
  const token = asText(asObject(json['signature'])['token']);
  return token === null ? [] : mailgunEvent(asObject(json['event-data']), `hook:${token}`);
}

const PAGE = 300;
/** Mailgun advises to read the last half hour again, because events are listed late. */
const OVERLAP_SECONDS = 30 * 60;

/** `next`: the path of the next page, if the last one was full. `begin` and `newest` are in seconds. */
type Cursor = { begin: number; newest: number; next: string | null };

async function pull(text: string | null, context: RelayContext): Promise<PullResult> {
  const cursor = readCursor(text, context.now());
  const query = new URLSearchParams({
    begin: String(cursor.begin - OVERLAP_SECONDS),
    ascending: 'yes',
    limit: String(PAGE),
    event: 'delivered OR failed OR complained OR rejected',
  });
  const path = cursor.next ?? `/v3/${domainPath(context)}/events?${query.toString()}`;
  const answer = await request(context, {
    url: url(context, path),
    headers: headers(context),
    answerMaxBytes: 8 * 1_048_576,
  });
  if ('failed' in answer || answer.status !== 200) {
    const retryAfterMs = 'failed' in answer ? null : answer.retryAfterMs;
    return { ok: false, message: failureMessage('Mailgun', answer), retryAfterMs };
  }
  const items = asList(answer.json['items'], PAGE).map(asObject);
  const times = items.flatMap(({ timestamp }) => (typeof timestamp === 'number' ? [timestamp] : []));
  const newest = Math.floor(Math.max(cursor.newest, ...times));
  const next = items.length === PAGE ? pathOf(asObject(answer.json['paging'])['next'], context) : null;
  const following = next === null ? { begin: newest, newest, next } : { ...cursor, newest, next };
  const events = items.flatMap((item) => {
    const id = asText(item['id']);
    return id === null ? [] : mailgunEvent(item, `${asText(item['timestamp']) ?? ''}:${id}`);
  });
  return { ok: true, events, cursor: JSON.stringify(following), hasMore: next !== null };
}

/** Only the path of the next page is used, so that an answer cannot send the key to another host. */
function pathOf(next: unknown, context: RelayContext): string | null {
  if (typeof next !== 'string' || next.length > 4_096 || !URL.canParse(next)) return null;
  const { pathname, search } = new URL(next);
  return pathname.startsWith(`/v3/${domainPath(context)}/`) ? `${pathname}${search}` : null;
}

function readCursor(text: string | null, now: number): Cursor {
  const { begin, newest, next } = asObject(text === null ? null : readJson(text));
  const seconds = Math.floor(now / 1_000);
  if (typeof begin !== 'number' || typeof newest !== 'number')
    return { begin: seconds, newest: seconds, next: null };
  return { begin, newest, next: typeof next === 'string' ? next : null };
}

const HOOKS = ['delivered', 'permanent_fail', 'temporary_fail', 'complained'] as const;

async function register(hookUrl: string, context: RelayContext): Promise<RegisterResult> {
  const path = `/v3/domains/${domainPath(context)}/webhooks`;
  const list = await request(context, { url: url(context, path), headers: headers(context) });
  if ('failed' in list || list.status !== 200) return { ok: false, message: failureMessage('Mailgun', list) };
  const existing = asObject(list.json['webhooks']);
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const id of HOOKS) {
    const urls = asList(asObject(existing[id])['urls'], 10);
    if (urls.includes(hookUrl)) continue;
    const body = Buffer.from(new URLSearchParams({ id, url: hookUrl }).toString());
    const hook = { url: url(context, path), headers: { ...headers(context), ...type }, body };
    const answer = await request(context, hook);
    if ('failed' in answer || answer.status !== 200)
      return { ok: false, message: failureMessage('Mailgun', answer) };
  }
  const answer = await request(context, {
    url: url(context, '/v5/accounts/http_signing_key'),
    headers: headers(context),
  });
  const key = 'failed' in answer ? null : asText(answer.json['http_signing_key']);
  if (key === null) return { ok: false, message: failureMessage('Mailgun', answer) };
  return { ok: true, settings: { signing_key: key } };
}

const LIST_PAGE = 1_000;

/** The cursor is the path of the next page. The bounces are followed by the complaints. */
function suppressions(cursor: string | null, context: RelayContext): Promise<SuppressionPage> {
  const first = (list: string): string => `/v3/${domainPath(context)}/${list}?limit=${LIST_PAGE}`;
  const path = cursor ?? first('bounces');
  const isBounces = path.startsWith(`/v3/${domainPath(context)}/bounces`);
  return suppressionPage(context, {
    title: 'Mailgun',
    provider: { url: url(context, path), headers: headers(context) },
    rows: ({ json }) => json['items'],
    read: ({ address }) => ({ address, reason: isBounces ? 'hard_bounce' : 'complained' }),
    next: ({ json }, rows) =>
      (rows === LIST_PAGE ? pathOf(asObject(json['paging'])['next'], context) : null) ??
      (isBounces ? first('complaints') : null),
  });
}

async function records(domain: string, context: RelayContext): Promise<DomainRecords> {
  const guideUrl = 'https://app.mailgun.com/mg/sending/domains';
  const path = `/v3/domains/${encodeURIComponent(domain)}`;
  const answer = await request(context, { url: url(context, path), headers: headers(context) });
  const rows = 'failed' in answer ? [] : asList(answer.json['sending_dns_records'], 20).map(asObject);
  return { records: rows.flatMap(recordOf), guideUrl, isComplete: rows.length > 0 };
}

function recordOf(row: Json): DnsRecord[] {
  const [type, name, value] = [row['record_type'], asText(row['name']), row['value']];
  if ((type !== 'TXT' && type !== 'CNAME') || name === null) return [];
  if (typeof value !== 'string' || value.length > 2_000) return [];
  if (type === 'CNAME') return [{ type, name, value, purpose: 'tracking' }];
  return [{ type, name, value, purpose: name.includes('_domainkey') ? 'dkim' : 'return_path' }];
}

async function check(context: RelayContext): Promise<CheckResult> {
  const path = `/v3/domains/${domainPath(context)}`;
  const answer = await request(context, { url: url(context, path), headers: headers(context) });
  if (!('failed' in answer)) {
    if (answer.status === 200)
      return { ok: true, detail: `Domain ${context.settings['domain'] ?? ''} is in the account.` };
    if (answer.status === 401)
      return { ok: false, message: 'Mailgun does not accept this API key.', field: 'api_key' };
    if (answer.status === 404)
      return { ok: false, message: 'This domain is not in the account. Check the region.', field: 'domain' };
  }
  return { ok: false, message: failureMessage('Mailgun', answer), field: null };
}

/** The user of its SMTP servers is an address at the domain that sends, such as `postmaster@mg.example.com`. */
function settingsOf({ host, username }: SmtpAddress): RelaySettings {
  const [, domain] = /@([^@\s]+)$/.exec(username ?? '') ?? [];
  const region = /^smtp\.eu\./i.test(host) ? 'eu' : 'us';
  return domain === undefined ? { region } : { region, domain: domain.toLowerCase() };
}

function checkSettings({ domain = '' }: RelaySettings): FieldError[] {
  return /^[a-z\d][a-z\d.-]{0,251}[a-z\d]$/i.test(domain)
    ? []
    : [{ field: 'domain', message: 'Domain must be a domain of the account, such as mg.example.com.' }];
}

export const mailgun: RelayAdapter = {
  kind: 'mailgun',
  title: 'Mailgun',
  fields: [
    {
      name: 'api_key',
      label: 'API key',
      isSecret: true,
      hint: 'A sending key of the domain, or a key of the account.',
    },
    {
      name: 'domain',
      label: 'Domain',
      isSecret: false,
      hint: 'The domain in Mailgun that sends, such as mg.example.com.',
    },
    { name: 'region', label: 'Region', isSecret: false, values: ['us', 'eu'] },
    {
      name: 'signing_key',
      label: 'Webhook signing key',
      isSecret: true,
      isOptional: true,
      hint: 'In Mailgun, under Settings and API security: HTTP webhook signing key.',
    },
    API_URL,
  ],
  checkSettings,
  smtpHost: /^smtp(?:\.eu)?\.mailgun\.org$/i,
  spf: ({ domain }) => ({ include: 'mailgun.org', domain: domain ?? null }),
  smtp: {
    headers: (token) => [`X-Mailgun-Variables: ${JSON.stringify({ [MAILGUN_VARIABLE]: token })}`],
    settingsOf,
  },
  slots: 20,
  idempotencyWindowMs: null,
  send,
  webhook: {
    verifiedBy: 'signing_key',
    url: (hookUrl) => hookUrl,
    events: [...HOOKS],
    verify: async ({ body }, context) => verify(body, context),
    parse: ({ body }) => parse(body),
    register,
  },
  pull,
  suppressions,
  records,
  simulator: null,
  check,
};
