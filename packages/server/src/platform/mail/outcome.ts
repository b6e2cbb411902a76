import type { SmtpStage } from './smtp-reply.ts';
import type { HandOver } from './submit.ts';

/** The facts at the end of the SMTP session about one email. */
export type Ending = {
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
export function outcome(ending: Ending): HandOver {
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
