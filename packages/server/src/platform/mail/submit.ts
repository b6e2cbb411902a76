import type { Log } from '../log.ts';
import type { SmtpStage } from './smtp-reply.ts';

/**
 * The result of submitting an email to a relay. `not_sent` is certain: the relay received nothing of the email, so it may be retried.
 * `refused` is certain too: a reply said so. `unknown` is not: the email was sent and no reply arrived, so it may have been accepted, and
 * is never resent automatically.
 */
export type SubmissionResult =
  | { result: 'accepted'; reply: string; relayId: string | null }
  | { result: 'refused'; stage: SmtpStage; code: number; reply: string }
  | { result: 'not_sent'; stage: SmtpStage; reason: string }
  | { result: 'unknown'; reason: string };

/** Exactly one recipient, so that an email has one result. */
export type MailEnvelope = { from: string; to: string; envid: string | null };

/** Opens the relay for emails outside drafts, such as test copies, when the first of them is sent. */
export type OpenRelay = () => Promise<Pick<Relay, 'submit'>>;

export type Relay = {
  slots: number;
  submit: (envelope: MailEnvelope, mime: Uint8Array) => Promise<SubmissionResult>;
  /** Waits for emails in flight, then aborts them. Callers that still wait for a slot get `not_sent` immediately. */
  close: (limitMs?: number) => Promise<void>;
};

export type RelayOptions = {
  /**
   * `smtp://user:pass@host:port`, or `smtps://`; `?tls=optional` allows a relay without STARTTLS, `&connections=20` sets the number of
   * connections.
   */
  url: string;
  /** Our own name in EHLO. */
  name?: string;
  /** The number of concurrent emails. */
  slots?: number;
  /** A trusted certificate besides those of Node.js, and its name if that differs from the host. */
  tls?: { ca: string; servername?: string };
  timeouts?: Partial<RelayTimeouts>;
  /** Called when the end of an email was sent, and no reply has arrived yet. */
  dotSent?: (() => void) | undefined;
  log: Log;
};

export type RelayTimeouts = {
  /** From the DNS lookup to the end of STARTTLS. */
  connectMs: number;
  /** Silence of the relay during a session. */
  silenceMs: number;
  /** For a whole email, without the wait for a slot. */
  emailMs: number;
  /** The time for which a connection is kept for the next email. */
  idleMs: number;
};

/** The facts at the end of the SMTP session about one email. */
export type SmtpEnd = {
  /** The final reply; null if there was none. */
  code: number | null;
  reply: string;
  /** The error, if there was no reply. */
  reason: string;
  /** The reply that was awaited, or the last one. */
  stage: SmtpStage;
  /** True if any byte of the email was read for writing. */
  bodyRead: boolean;
  /** True if all of it was read, and the final dot written. */
  bodyEnded: boolean;
};

const REPLY_CHARS_MAX = 2_000;

/**
 * The rule that prevents sending an email twice. Before the first byte of the email was read, the relay cannot have accepted it. A reply
 * that refuses is certain as well. An email that was read, but got no definite reply, is unknown.
 */
export function submissionResult(ending: SmtpEnd): SubmissionResult {
  const reply = tidy(ending.reply);
  const { code, stage, bodyRead } = ending;
  if (code !== null && code >= 400 && code <= 599) return { result: 'refused', stage, code, reply };
  if (code !== null && code >= 200 && code <= 299 && ending.bodyEnded) {
    return { result: 'accepted', reply, relayId: relayId(reply) };
  }
  const reason = tidy(reply === '' ? ending.reason : `${ending.reason} (${reply})`);
  return bodyRead ? { result: 'unknown', reason } : { result: 'not_sent', stage, reason };
}

function tidy(text: string): string {
  return text
    .slice(0, REPLY_CHARS_MAX)
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
}

/**
 * Returns the relay's own id of an email from the reply that accepted it, which its logs and later reports use. Each pattern is for one
 * family of servers; the first match counts.
 */
const PATTERNS = [
  // Postfix, Mailpit, SendGrid, Halon, Haraka behind Postfix
  /\bqueued as ([\w./+-]{3,128})/i,
  // Haraka
  /\bmessage queued \(?([\w./+-]{8,128})/i,
  // Exim
  /\bid=([\w-]{10,64})/,
  // Exchange Online
  /\bInternalId=(\d{3,64})/i,
  // Sendmail, OpenSMTPD
  /^250 2\.\d\.\d ([\w.-]{6,64}) Message accepted/i,
  // Gmail: "OK", the time, the id
  /^250 2\.0\.0 OK +\d{6,} ([\w.-]{8,128}) - g?smtp/i,
  // Amazon SES
  /^250 (?:2\.\d\.\d )?Ok ([0-9a-f][0-9a-f-]{15,127})$/i,
];

export function relayId(reply: string): string | null {
  const line = reply.trim();
  for (const pattern of PATTERNS) {
    const [, id] = pattern.exec(line) ?? [];
    if (id !== undefined) return id.replace(/(?<![.])[.]+$/, '');
  }
  return null;
}
