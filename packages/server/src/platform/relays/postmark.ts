import type {
  CheckResult,
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
import type { ReplyClass } from '../mail/smtp-reply.ts';
import { enhancedStatus } from '../mail/smtp-reply.ts';
import { API_URL, apiUrl, HOOK_SECRET, urlWithPassword } from './fields.ts';
import { asList, asObject, asReply, asText, asTime, type Json, readJson } from './json.ts';
import { mailboxText, readOwnMime } from './own-mime.ts';
import { type Answer, failureMessage, request, submit } from './request.ts';
import { suppressionPage } from './suppression-page.ts';
import { accepted, refused, relayRefused, resultOfRefusal } from './results.ts';
import { basicPassword, isSecret } from './verify.ts';

/** Postmark: https://postmarkapp.com/developer. It takes JSON, and replaces the return path and the DKIM signature. */
const TOKEN = 'beckon';

/**
 * The error codes of the email API by what they say about an email. The others are faults of the account, the token or the sender
 * signature, so every email would get them.
 */
const OF_EMAIL: Record<number, ReplyClass> = {
  300: 'policy',
  // The recipient is inactive at Postmark: an earlier hard bounce, complaint or manual suppression.
  406: 'hard',
  411: 'policy',
};

/** Types of bounces, with the outcome and the class of each. Types that are not here are no outcome. */
const BOUNCES: Record<string, { kind: RelayEventKind; bounceClass: ReplyClass | null }> = {
  HardBounce: { kind: 'bounced', bounceClass: 'hard' },
  BadEmailAddress: { kind: 'bounced', bounceClass: 'hard' },
  SoftBounce: { kind: 'bounced', bounceClass: 'soft' },
  Transient: { kind: 'deferred', bounceClass: null },
  DnsError: { kind: 'deferred', bounceClass: null },
  Blocked: { kind: 'bounced', bounceClass: 'policy' },
  SpamNotification: { kind: 'bounced', bounceClass: 'policy' },
  VirusNotification: { kind: 'bounced', bounceClass: 'policy' },
  DMARCPolicy: { kind: 'bounced', bounceClass: 'policy' },
  Unknown: { kind: 'bounced', bounceClass: null },
  SpamComplaint: { kind: 'complained', bounceClass: null },
  ManuallyDeactivated: { kind: 'dropped', bounceClass: 'policy' },
  Unconfirmed: { kind: 'dropped', bounceClass: 'policy' },
  SMTPApiError: { kind: 'dropped', bounceClass: 'infrastructure' },
};

function url({ settings }: RelayContext, path: string): string {
  return `${apiUrl(settings, 'https://api.postmarkapp.com')}${path}`;
}

function headers({ settings }: RelayContext): Record<string, string> {
  return { 'x-postmark-server-token': settings['server_token'] ?? '' };
}

function send(email: RelayEmail, context: RelayContext): Promise<RelayResult> {
  const parts = readOwnMime(email.mime);
  const body = {
    MessageStream: context.settings['message_stream'] ?? 'outbound',
    From: mailboxText(parts.from),
    To: mailboxText({ ...parts.to, address: email.rcptTo }),
    ...(parts.replyTo ? { ReplyTo: mailboxText(parts.replyTo) } : {}),
    Subject: parts.subject,
    HtmlBody: parts.html,
    TextBody: parts.text,
    Headers: [
      ...parts.headers.map(({ name, value }) => ({ Name: name, Value: value })),
      { Name: 'Message-ID', Value: `<${parts.messageId}>` },
      // Keeps our Message-ID, by which replies and reports name the email.
      { Name: 'X-PM-KeepID', Value: 'true' },
    ],
    TrackOpens: false,
    TrackLinks: 'None',
    Metadata: { [TOKEN]: email.token },
  };
  return submit(context, { url: url(context, '/email'), headers: headers(context), body }, decide);
}

function decide({ status, json, text, retryAfterMs }: Answer): RelayResult | null {
  const code = typeof json['ErrorCode'] === 'number' ? json['ErrorCode'] : null;
  const message = asReply(json['Message']) || text;
  if (status === 200) return accepted(asText(json['MessageID']), message);
  if (code === MAINTENANCE) return relayRefused(message, status);
  const bounceClass = status === 422 && code !== null ? OF_EMAIL[code] : undefined;
  if (bounceClass !== undefined) return refused(bounceClass, message, status);
  return resultOfRefusal({ status, retryAfterMs, message, isOfEmail: false });
}

/** Postmark is offline and has processed nothing. */
const MAINTENANCE = 100;

function parse(body: Buffer): RelayEvent[] {
  return eventOf(asObject(readJson(body)));
}

function eventOf(json: Json): RelayEvent[] {
  if (json['RecordType'] === 'Delivery') return deliveryOf(json);
  if (json['RecordType'] !== 'Bounce' && json['RecordType'] !== 'SpamComplaint') return [];
  const type = asText(json['Type']) ?? '';
  const bounce = Object.hasOwn(BOUNCES, type) ? BOUNCES[type] : undefined;
  const id = asText(json['ID']);
  if (!bounce || id === null) return [];
  const text = asReply(json['Details']) || asReply(json['Description']);
  return [
    {
      ...common(json),
      ...bounce,
      eventId: `bounce:${id}`,
      recipient: asText(json['Email']),
      status: enhancedStatus(text),
      text,
      at: asTime(json['BouncedAt']),
    },
  ];
}

function deliveryOf(json: Json): RelayEvent[] {
  const recipient = asText(json['Recipient']);
  const id = asText(json['MessageID']);
  if (id === null) return [];
  const delivery = { kind: 'delivered', bounceClass: null, status: null } as const;
  const eventId = `delivery:${id}:${recipient ?? ''}`;
  const text = asReply(json['Details']);
  return [{ ...common(json), ...delivery, eventId, recipient, text, at: asTime(json['DeliveredAt']) }];
}

function common(json: Json) {
  return {
    token: asText(asObject(json['Metadata'])[TOKEN]),
    relayEmailId: asText(json['MessageID']),
    code: null,
  };
}

const PAGE = 500;
/** Bounces that Postmark lists later than others that happened before them. */
const OVERLAP_MS = 2 * 3_600_000;
/** The largest offset that the API accepts. */
const OFFSET_MAX = 10_000 - PAGE;

/** `newest` becomes the start of the next search when this one has reached `since`. The list begins with the newest bounce. */
type Cursor = { since: number; offset: number; newest: number };

async function pull(text: string | null, context: RelayContext): Promise<PullResult> {
  const cursor = readCursor(text, context.now());
  const path = `/bounces?count=${PAGE}&offset=${cursor.offset}`;
  const answer = await request(context, {
    url: url(context, path),
    headers: headers(context),
    answerMaxBytes: 4 * 1_048_576,
  });
  if ('failed' in answer || answer.status !== 200) {
    const retryAfterMs = 'failed' in answer ? null : answer.retryAfterMs;
    return { ok: false, message: failureMessage('Postmark', answer), retryAfterMs };
  }
  const bounces = asList(answer.json['Bounces'], PAGE).map(asObject);
  const times = bounces.flatMap((bounce) => asTime(bounce['BouncedAt']) ?? []);
  const newest = Math.max(cursor.newest, ...times);
  const hasMore =
    bounces.length === PAGE && cursor.offset < OFFSET_MAX && Math.min(...times) > cursor.since - OVERLAP_MS;
  const next = hasMore
    ? { since: cursor.since, offset: cursor.offset + PAGE, newest }
    : { since: newest, offset: 0, newest };
  const events = bounces
    .filter((bounce) => (asTime(bounce['BouncedAt']) ?? 0) > cursor.since - OVERLAP_MS)
    .flatMap((bounce) => eventOf({ ...bounce, RecordType: 'Bounce' }));
  return { ok: true, events: events.toReversed(), cursor: JSON.stringify(next), hasMore };
}

function readCursor(text: string | null, now: number): Cursor {
  const { since, offset, newest } = asObject(text === null ? null : readJson(text));
  if (typeof since === 'number' && typeof offset === 'number' && typeof newest === 'number')
    return { since, offset, newest };
  return { since: now, offset: 0, newest: now };
}

const SUPPRESSIONS = new Map<unknown, ProviderSuppression['reason']>([
  ['HardBounce', 'hard_bounce'],
  ['SpamComplaint', 'complained'],
  ['ManualSuppression', 'unsubscribed'],
]);

/** The list of a stream is one answer. */
function suppressions(_: string | null, context: RelayContext): Promise<SuppressionPage> {
  const stream = encodeURIComponent(context.settings['message_stream'] ?? 'outbound');
  const path = `/message-streams/${stream}/suppressions/dump`;
  return suppressionPage(context, {
    title: 'Postmark',
    provider: { url: url(context, path), headers: headers(context) },
    rows: ({ json }) => json['Suppressions'],
    read: ({ EmailAddress: address, SuppressionReason: reason }) => ({
      address,
      reason: SUPPRESSIONS.get(reason) ?? null,
    }),
    next: () => null,
  });
}

async function check(context: RelayContext): Promise<CheckResult> {
  const answer = await request(context, { url: url(context, '/server'), headers: headers(context) });
  if ('failed' in answer) return { ok: false, message: failureMessage('Postmark', answer), field: null };
  if (answer.status === 200)
    return { ok: true, detail: `Server ${asText(answer.json['Name']) ?? 'without a name'}` };
  if (answer.status !== 401) return { ok: false, message: failureMessage('Postmark', answer), field: null };
  return { ok: false, message: 'Postmark does not accept this server API token.', field: 'server_token' };
}

async function register(hookUrl: string, context: RelayContext): Promise<RegisterResult> {
  const { settings } = context;
  const stream = settings['message_stream'] ?? 'outbound';
  const path = `/webhooks?MessageStream=${encodeURIComponent(stream)}`;
  const existing = await request(context, { url: url(context, path), headers: headers(context) });
  if ('failed' in existing || existing.status !== 200)
    return { ok: false, message: failureMessage('Postmark', existing) };
  const isThere = asList(existing.json['Webhooks'], 100).some((hook) => asObject(hook)['Url'] === hookUrl);
  if (isThere) return { ok: true, settings: {} };
  const body = {
    Url: hookUrl,
    MessageStream: stream,
    HttpAuth: { Username: 'beckon', Password: settings[HOOK_SECRET] ?? '' },
    Triggers: {
      Delivery: { Enabled: true },
      Bounce: { Enabled: true, IncludeContent: false },
      SpamComplaint: { Enabled: true, IncludeContent: false },
    },
  };
  const answer = await request(context, { url: url(context, '/webhooks'), headers: headers(context), body });
  if ('failed' in answer || answer.status !== 200)
    return { ok: false, message: failureMessage('Postmark', answer) };
  return { ok: true, settings: {} };
}

export const postmark: RelayAdapter = {
  kind: 'postmark',
  title: 'Postmark',
  fields: [
    {
      name: 'server_token',
      label: 'Server API token',
      isSecret: true,
      hint: 'In Postmark: your server → API Tokens.',
    },
    {
      name: 'message_stream',
      label: 'Message stream',
      isSecret: false,
      isOptional: true,
      hint: 'The id of a transactional or broadcast stream. Empty: outbound.',
    },
    API_URL,
  ],
  smtpHost: /^smtp(?:-broadcasts)?\.postmarkapp\.com$/i,
  spf: () => null,
  smtp: {
    headers: (token) => [`X-PM-Metadata-${TOKEN}: ${token}`],
    settingsOf: ({ host }) => (/^smtp-broadcasts\./i.test(host) ? { message_stream: 'broadcast' } : {}),
  },
  slots: 20,
  idempotencyWindowMs: null,
  send,
  webhook: {
    verifiedBy: HOOK_SECRET,
    url: urlWithPassword,
    events: ['Delivery', 'Bounce', 'Spam Complaint'],
    verify: async (hook, { settings }) =>
      isSecret(basicPassword(hook), settings[HOOK_SECRET]) ? 'valid' : 'invalid',
    parse: ({ body }) => parse(body),
    register,
  },
  pull,
  suppressions,
  records: async (domain) => ({
    records: [{ type: 'CNAME', name: `pm-bounces.${domain}`, value: 'pm.mtasv.net', purpose: 'return_path' }],
    guideUrl: 'https://account.postmarkapp.com/signature_domains',
    isComplete: false,
  }),
  simulator: {
    bounce: 'hardbounce@bounce-testing.postmarkapp.com',
    complaint: null,
  },
  check,
};
