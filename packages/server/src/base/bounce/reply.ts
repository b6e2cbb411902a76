/** Refusals: what a mail server said, and what it means for the recipient, for the letter and for the relay. */

/** How far the conversation with a mail server had come. `body` is the answer to the letter itself. */
export type SmtpStage = 'connect' | 'greeting' | 'ehlo' | 'tls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'body';

export type SmtpReply = { stage: SmtpStage; code: number; reply: string };

const REPLY_CHARS_MAX = 2_000;

/** One line, bounded, without the code that stands in front of each line of the reply. */
export function replyText(reply: string): string {
  return reply
    .slice(0, REPLY_CHARS_MAX)
    .replace(/(^|[\r\n]\s*|\s)[245]\d\d[- ](?=\S)/g, '$1')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/** The enhanced status, at the front or wherever it stands; an IP address is none. */
export function enhancedStatus(reply: string): string | null {
  const found = /(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?!\.?\d)/.exec(replyText(reply));
  return found ? `${found[1]}.${Number(found[2])}.${Number(found[3])}` : null;
}
