import Type from 'typebox';
import type { BounceClass, BotLikelihood, WebhookType } from '../index.ts';
import type { EmailOutcome, EmailState } from './choices.ts';
import { type BulkRefusal, FILTER, FRAME, PAGE, item, list, raw, sortOf } from './envelope.ts';
import { BULK_MAX_ROWS } from './list-orders.ts';

/** An email that was claimed for sending. */
export type EmailListed = {
  id: string;
  draft_id: string;
  rule_id: string;
  rule: string;
  /** Null: the rule itself has the text. */
  template: string | null;
  external_user_id: string;
  address: string;
  subject: string;
  state: EmailState;
  /** Why it failed, waits or has an unknown delivery, as a code and in words. */
  reason: string | null;
  reason_text: string | null;
  domain: string | null;
  provider: string | null;
  attempts: number;
  /** The last reply of the relay. */
  reply: string | null;
  claimed_at: string;
  /** When the relay accepted it, or sending was given up. */
  ended_at: string | null;
  outcomes: EmailOutcome[];
};

/** One request for the tracking pixel, a link or the bot trap of an email, with its classification. */
export type EmailHit = {
  number: number;
  kind: 'open' | 'click' | 'trap';
  url: string | null;
  at: string;
  /** Null: not classified yet; that happens ten seconds after the request. */
  bot: BotLikelihood | null;
  reason: string | null;
  reason_text: string | null;
  agent: string | null;
};

/** A webhook delivery of an outcome of this email. */
export type EmailWebhook = {
  id: string;
  type: string;
  endpoint_id: string;
  url: string;
  state: string;
  attempts: number;
  created_at: string;
  delivered_at: string | null;
};

export type EmailBecame = {
  id: string;
  type: WebhookType;
  occurred_at: string;
  bot: BotLikelihood | null;
  bounce_class: BounceClass | null;
  text: string;
};

export type EmailHeader = { name: string; value: string };

export type EmailWhole = EmailListed & {
  user_time_zone: string | null;
  first_attempt_at: string | null;
  /**
   * While the email is claimed or submitting: when the worker's lease ends. After that, an email that was not submitted is
   * released; for a submitted one, delivery is unknown.
   */
  lease_until: string | null;
  relay_id: string | null;
  /** The raw email as it was submitted to the relay. Null: it was not submitted, or it is no longer stored. */
  raw: {
    mail_from: string;
    rcpt_to: string;
    size: number;
    headers: EmailHeader[];
    text: string;
    has_html: boolean;
    /** Not loaded in the frame unless requested. */
    remote_images: number;
  } | null;
  hits: EmailHit[];
  hit_count: number;
  outcome_history: EmailBecame[];
  links: { url: string; clicks: number; bot_clicks: number }[];
  webhooks: EmailWebhook[];
  replies: ReplyListed[];
  /** `unavailable`, `available`, or `requires_confirmation`: the member confirms that the email may arrive twice. */
  send_again: 'unavailable' | 'available' | 'requires_confirmation';
};

/** How many emails are sent again, and why the others are not. */
export type EmailsSentAgain = { sent_again: number; refused: BulkRefusal[] };

/** An email that the test inbox captured. */
export type TestInboxEmail = {
  id: string;
  copy: number;
  copies: number;
  draft_id: string | null;
  external_user_id: string | null;
  /** `user`: sent to a tracked user. `team`: sent to a member, such as a forwarded reply or a test copy. */
  kind: 'user' | 'team';
  mail_from: string;
  to: string;
  subject: string;
  size: number;
  at: string;
};

/** A check of an email. `detail`: the places that it found, one per line. */
export type EmailCheck = {
  name: string;
  status: 'ok' | 'warning' | 'error';
  message: string;
  detail?: string[];
};
export type MailCheck = Required<EmailCheck>;

export type TestInboxEmailWhole = TestInboxEmail & {
  from: string;
  headers: EmailHeader[];
  text: string;
  has_html: boolean;
  remote_images: number;
  html_source: string;
  checks: MailCheck[];
};

/** The state of the test inbox, also when it is empty. */
export type TestInboxState = {
  /** False: a relay is set, and the emails here are from before. */
  in_use: boolean;
  /** Drafts to be sent, and when the first one is due. */
  waiting: number;
  next_at: string | null;
  kept_max: number;
  kept_days: number;
};

export type ReplySignName = 'recipient' | 'domain' | 'reference' | 'token' | 'failed';

export type ReplyListed = {
  id: string;
  email_id: string;
  draft_id: string;
  external_user_id: string;
  received_at: string;
  from: string;
  from_name: string;
  subject: string;
  /** The reply as text; lists have only its beginning. */
  text: string;
  auto_reply: boolean;
  verified: ReplySignName;
  forward: 'none' | 'waiting' | 'done' | 'failed';
  forward_at: string | null;
  forwarded_at: string | null;
  forward_error: string | null;
};

export type ReplyThread = {
  reply: ReplyListed;
  /** The email that was replied to; null: it is no longer stored. */
  email: {
    id: string;
    draft_id: string;
    rule: string;
    subject: string;
    address: string;
    claimed_at: string;
  } | null;
  /** All replies to the same email, the oldest first. */
  thread: ReplyListed[];
  /** The address that replies are forwarded to; null: they are not forwarded. */
  forward_to: string | null;
};

const Copy = { copy: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })) };

export const EMAILS_API = {
  'GET /projects/:project/emails': {
    query: Type.Object({ ...PAGE, filter: FILTER, sort: sortOf('emails') }),
    response: list<EmailListed>(),
  },
  'GET /projects/:project/emails/export': {
    query: Type.Object({ filter: FILTER, sort: sortOf('emails') }),
    response: raw(),
  },
  /**
   * Creates a new draft with the same text for each email that was not delivered. Emails with an unknown delivery are refused: a member
   * confirms each of them, because it may arrive twice.
   */
  'POST /projects/:project/emails/send-again': {
    body: Type.Object({
      emails: Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: BULK_MAX_ROWS }),
    }),
    response: item<EmailsSentAgain>(),
  },
  'GET /projects/:project/emails/:email': { response: item<EmailWhole>() },
  'GET /projects/:project/emails/:email/email.html': { query: Type.Object(FRAME), response: raw() },
  'GET /projects/:project/emails/:email/eml': { response: raw() },
  'GET /projects/:project/test-inbox': {
    query: Type.Object({
      ...PAGE,
      filter: FILTER,
      user: Type.Optional(Type.String({ maxLength: 1_000 })),
      draft: Type.Optional(Type.String({ maxLength: 100 })),
    }),
    response: list<TestInboxEmail>(),
  },
  'GET /projects/:project/test-inbox.csv': { query: Type.Object({ filter: FILTER }), response: raw() },
  'GET /projects/:project/test-inbox/state': { response: item<TestInboxState>() },
  'POST /projects/:project/test-inbox/clear': {
    /** `confirm`: the project's name. `older`: only emails older than this, such as `7d`. */
    body: Type.Object({ confirm: Type.String(), older: Type.Optional(Type.String({ maxLength: 50 })) }),
    response: item<{ cleared: number }>(),
  },
  'GET /projects/:project/test-inbox/:email': {
    query: Type.Object(Copy),
    response: item<TestInboxEmailWhole>(),
  },
  'GET /projects/:project/test-inbox/:email/email.html': {
    query: Type.Object({ ...Copy, ...FRAME }),
    response: raw(),
  },
  /** The beginning of the raw email. */
  'GET /projects/:project/test-inbox/:email/source': {
    query: Type.Object(Copy),
    response: item<{ source: string; truncated: boolean }>(),
  },
  'GET /projects/:project/test-inbox/:email/eml': { query: Type.Object(Copy), response: raw() },
  'GET /projects/:project/replies': {
    query: Type.Object({
      ...PAGE,
      filter: FILTER,
      user: Type.Optional(Type.String({ maxLength: 1_000 })),
    }),
    response: list<ReplyListed>(),
  },
  'GET /projects/:project/replies.csv': { query: Type.Object({ filter: FILTER }), response: raw() },
  'GET /projects/:project/replies/:reply': { response: item<ReplyThread>() },
  'POST /projects/:project/replies/:reply/forward': {
    response: item<{ id: string; forward_at: string }>(),
  },
};
