import type { ReplyClass, ReplyClassification, SmtpReply, SmtpStage } from './smtp-reply.ts';

/**
 * The result of sending one email. It goes unchanged from the reply of the relay to the row of the email.
 *
 * - `sent`: the relay accepted it.
 * - `failed`: it was certainly not accepted, and is not tried again.
 * - `deferred`: it was certainly not accepted, and is tried again. `slowDown`: the server asks for a lower rate. `isRelayFault`: only the
 *   relay was the cause, so it is tried until the draft expires.
 * - `unknown`: it was submitted and no reply arrived, so it may have been accepted. Only a relay that recognizes repeated requests is asked
 *   again. `isRepeated`: the relay received the same request before, and does not say what became of it.
 * - `returned`: it was not submitted, because sending was interrupted.
 * - `withheld`: it could not be rendered, and waits until its draft is changed.
 */
export type SendResult =
  | { result: 'sent'; reply?: string; relayId?: string | null }
  | ({ result: 'failed' } & SendFailure)
  | ({ result: 'deferred'; slowDown?: boolean; isRelayFault?: boolean } & SendFailure)
  | { result: 'unknown'; reason: string; isRepeated?: true }
  | { result: 'returned' }
  | { result: 'withheld'; reason: string };

/** `reply`: the text of a server, or what kept it from replying. `code` and `bounce`: only of a refusal. `status`: such as `5.1.1`. */
type SendFailure = {
  reason: string;
  reply?: string;
  stage?: SmtpStage;
  code?: number;
  bounce?: { class: ReplyClass; status: string | null };
};

/** Returns the state of an email that is not tried again. */
export function finalState({ result }: SendResult): 'sent' | 'failed' | 'unknown' {
  return result === 'sent' || result === 'unknown' ? result : 'failed';
}

/** Returns why an email was not sent: the words of the server, if there are any. */
export function failureText(result: SendResult): string {
  const reply = 'reply' in result ? result.reply : undefined;
  return reply ?? ('reason' in result ? result.reason : result.result);
}

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
export function resultOfSession(
  ending: SmtpEnd,
  classify: (reply: SmtpReply) => ReplyClassification,
): SendResult {
  const reply = tidy(ending.reply);
  const { code, stage, bodyRead } = ending;
  if (code !== null && code >= 400 && code <= 599) return refusal({ stage, code, reply }, classify);
  if (code !== null && code >= 200 && code <= 299 && ending.bodyEnded)
    return { result: 'sent', reply, relayId: relayId(reply) };
  const reason = tidy(reply === '' ? ending.reason : `${ending.reason} (${reply})`);
  return bodyRead ? { result: 'unknown', reason } : unreachable(stage, reason);
}

/** The relay got nothing of the email. */
export function unreachable(stage: SmtpStage, reason: string): SendResult {
  const reply = `${stage}: ${reason}`;
  return { result: 'deferred', reason: 'relay_unreachable', reply, stage, isRelayFault: true };
}

/** A server refused the email. */
export function refusal(refused: SmtpReply, classify: (reply: SmtpReply) => ReplyClassification): SendResult {
  const { class: bounceClass, status, isRelayFault, retry, slowDown } = classify(refused);
  const failure = { ...refused, bounce: { class: bounceClass, status } };
  if (!retry)
    return { result: 'failed', reason: bounceClass === 'policy' ? 'rejected' : 'bounced', ...failure };
  const reason = isRelayFault ? 'relay_rejected' : 'deferred';
  return { result: 'deferred', reason, isRelayFault, slowDown: slowDown && !isRelayFault, ...failure };
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
