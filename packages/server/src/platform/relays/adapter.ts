import type { IncomingHttpHeaders } from 'node:http';
import type { SendResult } from '../mail/send-result.ts';
import type { ReplyClass } from '../mail/smtp-reply.ts';
import type { Outbound } from '../outbound/outbound.ts';

/**
 * The interface between Beckon and a relay that is used by HTTP. One adapter per kind knows how its provider accepts an email, what an
 * answer means, and how outcomes are reported. The kind `smtp` has no adapter (`platform/mail/relay.ts`). The kind `smtp_url` is the feedback
 * of the relay of `SMTP_URL`, which is set by the environment.
 */
export type HttpRelayKind = 'postmark' | 'resend' | 'ses' | 'mailgun' | 'sendgrid' | 'brevo' | 'postal';
export type RelayKind = 'smtp' | 'smtp_url' | HttpRelayKind;

/** A setting of a relay, as the form and the command line ask for it. */
export type RelayField = {
  name: string;
  label: string;
  /** Encrypted at rest, and never shown again. */
  isSecret: boolean;
  isOptional?: true;
  /** Says where to find the value, or its purpose. */
  hint?: string;
  /** The only values. The first is the default. */
  values?: readonly string[];
};

/** The values of the fields of a relay by name, secrets included. An optional field without a value is absent. */
export type RelaySettings = Readonly<Record<string, string>>;

export type FieldError = { field: string; message: string };

/** The settings of one relay, and what a request to its provider needs. */
export type RelayContext = {
  settings: RelaySettings;
  /** All requests use it, so that no setting reaches an address within the network of the server. */
  outbound: Outbound;
  /** The owner of the connections, such as the id of the relay. */
  key: string;
  /** The real time, in milliseconds. Some providers sign it. */
  now: () => number;
  /** Called when the request with an email was sent, and no answer has arrived yet. */
  posted?: (() => void) | undefined;
};

/** What SPF must allow for a relay. */
export type SpfNeed = {
  include: string;
  /** The domain whose record needs it, if the provider chooses the return path. Null: the domain of the return path that Beckon chooses. */
  domain: string | null;
};

/** The address of an SMTP server. */
export type SmtpAddress = { host: string; username: string | null };

/** One email to one recipient. The same email gives the same request, so that a provider recognizes a repeated one. */
export type RelayEmail = {
  /** The signed token of the email. The provider returns it with each outcome. */
  token: string;
  mailFrom: string;
  rcptTo: string;
  /** Composed and signed by Beckon. */
  mime: Uint8Array;
  /** Unique for the email, at most 64 characters. Ignored by kinds without an idempotency key. */
  idempotencyKey: string;
};

export type RelayResult = {
  result: SendResult;
  /** Set if the provider refuses requests for this long, such as by a rate limit. */
  pauseMs?: number;
};

export type RelayEventKind =
  /** A mail server of the recipient accepted the email. */
  | 'delivered'
  /** It was finally refused. */
  | 'bounced'
  /** The provider still tries. */
  | 'deferred'
  | 'complained'
  /** The provider accepted the email and did not try to deliver it, for example because of its own suppression list. */
  | 'dropped';

/** An outcome as a provider reports it. It is trusted as far as the signature of its request. */
export type RelayEvent = {
  /** The same for the same event if it is reported again. */
  eventId: string;
  kind: RelayEventKind;
  /** The token of the email if the provider returned it. It is not verified yet. */
  token: string | null;
  /** The id that the provider gave to the email when it accepted it. */
  relayEmailId: string | null;
  recipient: string | null;
  /** The class by the provider's own code. Null: the text decides, as for any other bounce. */
  bounceClass: ReplyClass | null;
  /** The SMTP code of the receiving server, such as 550. */
  code: number | null;
  /** The enhanced status, such as `5.1.1`. */
  status: string | null;
  /** The answer of the receiving server, or the words of the provider; bounded and printable. */
  text: string;
  /** When it happened, in milliseconds. Null if the provider does not say it. */
  at: number | null;
};

/** A request of a provider to `POST /hooks/relays/<id>`. The body is complete and within its bound. */
export type HookRequest = { headers: IncomingHttpHeaders; body: Buffer };

/** `stale`: correctly signed, but its time is too far from ours, so it may be a replay. */
export type HookVerdict = 'valid' | 'invalid' | 'stale';

export type RelayWebhook = {
  /**
   * The setting by which a request is verified: an optional field that the provider shows, or `hook_secret`. Beckon generates the latter,
   * and the provider sends it in each request.
   */
  verifiedBy: string;
  /** The URL to enter at the provider, given that of the relay. It contains the generated secret where the provider needs it there. */
  url(hookUrl: string, settings: RelaySettings): string;
  /** The names of the events to choose at the provider, as its own interface spells them. */
  events: readonly string[];
  /** Never throws. Only a `valid` body is parsed. */
  verify(request: HookRequest, context: RelayContext): Promise<HookVerdict>;
  /** Returns the outcomes in a valid request. Never throws; unknown events are left out. */
  parse(request: HookRequest): RelayEvent[];
  /** Answers a valid request for confirmation. Absent where the provider asks for none. */
  confirm?(request: HookRequest, context: RelayContext): Promise<'confirmed' | 'none' | 'failed'>;
  /** Creates the webhook at the provider, or updates the one with the same URL. Absent where its API cannot. */
  register?(hookUrl: string, context: RelayContext): Promise<RegisterResult>;
};

/** `settings`: values that the provider returned, such as the key that signs. They are stored with the settings of the relay. */
export type RegisterResult = { ok: true; settings: RelaySettings } | { ok: false; message: string };

export type PullResult =
  | {
      ok: true;
      events: RelayEvent[];
      /** Stored in the same transaction as the events. */
      cursor: string;
      hasMore: boolean;
      /** Called after that transaction, for providers that hand out an event until it is acknowledged. */
      acknowledge?: () => Promise<void>;
    }
  | { ok: false; message: string; retryAfterMs: number | null };

/** An address to which the provider sends nothing. */
export type ProviderSuppression = { address: string; reason: 'hard_bounce' | 'complained' | 'unsubscribed' };

/** `cursor`: null after the last page. */
export type SuppressionPage =
  | { ok: true; suppressions: ProviderSuppression[]; cursor: string | null }
  | { ok: false; message: string };

export type CheckResult = { ok: true; detail: string } | { ok: false; message: string; field: string | null };

export type DnsRecord = {
  type: 'CNAME' | 'TXT' | 'MX';
  name: string;
  value: string;
  purpose: 'dkim' | 'return_path' | 'tracking' | 'verification';
};

export type DomainRecords = {
  records: DnsRecord[];
  /** The page of the provider with the records that its API does not return. */
  guideUrl: string;
  /** False if there are more records than these, because the API did not return them. */
  isComplete: boolean;
};

export type RelayAdapter = {
  kind: HttpRelayKind;
  /** The name of the provider. */
  title: string;
  fields: readonly RelayField[];
  /** Checks values together, beyond presence and `values`. Most kinds need nothing more. */
  checkSettings?(settings: RelaySettings): FieldError[];
  /** Matches the host of an `SMTP_URL` of this provider. */
  smtpHost: RegExp | null;
  /** What SPF must allow. Null if the provider sends with a return path whose SPF record is its own or among `records`. */
  spf(settings: RelaySettings): SpfNeed | null;
  /** How an email that is sent by SMTP has the token. Null if no host of its SMTP servers is known. */
  smtp: {
    /** Header fields without a line end. The provider returns the token with each event. */
    headers(token: string, settings: RelaySettings): string[];
    /** The settings that follow from the address of the SMTP server. */
    settingsOf(address: SmtpAddress): RelaySettings;
  } | null;
  /** It also sends bounces by email to the return path that Beckon chose. Absent: it keeps them for its events. */
  forwardsBounces?: true;
  /** How many requests one process sends at a time. */
  slots: number;
  /** How long the provider recognizes a repeated idempotency key, as documented. Null if it documents none. */
  idempotencyWindowMs: number | null;
  /** Submits an email. Never throws. */
  send(email: RelayEmail, context: RelayContext): Promise<RelayResult>;
  webhook: RelayWebhook | null;
  /** Returns events after the cursor, oldest first; null begins at the present. Null if the provider cannot list them. */
  pull: ((cursor: string | null, context: RelayContext) => Promise<PullResult>) | null;
  /** Returns a page of the provider's own suppression list; null is the first one. Null if it does not list them. */
  suppressions: ((cursor: string | null, context: RelayContext) => Promise<SuppressionPage>) | null;
  /** The records that the provider wants for a domain. */
  records(domain: string, context: RelayContext): Promise<DomainRecords>;
  /** Addresses for which the provider simulates an outcome. Null if it has none. */
  simulator: { bounce: string; complaint: string | null } | null;
  /** One cheap authenticated request. */
  check(context: RelayContext): Promise<CheckResult>;
};
