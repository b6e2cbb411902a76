/** Refusals: the reply of a mail server, and its meaning for the recipient, the email and the relay. */

/** The stage that an SMTP session reached. `body` is the answer to the email itself. */
export type SmtpStage = 'connect' | 'greeting' | 'ehlo' | 'tls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'body';

export type SmtpReply = { stage: SmtpStage; code: number; reply: string };

/**
 * - `hard`: the address does not exist.
 * - `soft`: the address cannot accept the email now.
 * - `policy`: the email or its sender was not wanted, which says nothing about the address.
 * - `infrastructure`: a failure of the route or of a server on it.
 */
export type ReplyClass = 'hard' | 'soft' | 'policy' | 'infrastructure';

export type ReplyClassification = {
  class: ReplyClass;
  /** The enhanced status, such as `5.1.1`. */
  status: string | null;
  /** True if the relay itself refuses us, so that every other email would fail too. */
  isRelayFault: boolean;
  /** True if the same email may be tried again. */
  retry: boolean;
  /** True if the relay asks for a lower rate. */
  slowDown: boolean;
};

const REPLY_CHARS_MAX = 2_000;

/** Returns the reply as one bounded line, without the code in front of each of its lines. */
export function replyText(reply: string): string {
  return reply
    .slice(0, REPLY_CHARS_MAX)
    .replace(/(^|[\r\n]\s*|\s)[245]\d\d[- ](?=\S)/g, '$1')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/** Returns the enhanced status at any position in the reply. An IP address does not match. */
export function enhancedStatus(reply: string): string | null {
  const found = /(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?!\.?\d)/.exec(replyText(reply));
  return found ? `${found[1]}.${Number(found[2])}.${Number(found[3])}` : null;
}
