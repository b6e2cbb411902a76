import { normaliseReply } from './normalise-reply.ts';
import { SAYS_FULL, SAYS_NO_RELAYING, SAYS_TOO_FAST, SAYS_UNKNOWN, SAYS_UNWANTED } from './phrases.ts';
import { enhancedStatus, type SmtpReply, type SmtpStage } from './reply.ts';

/**
 * `hard`: the address leads nowhere. `soft`: it cannot take the letter now. `policy`: the letter or its sender was not
 * wanted, which says nothing about the address. `infrastructure`: the relay itself, or our way to it.
 */
export type ReplyClass = 'hard' | 'soft' | 'policy' | 'infrastructure';

export type ReplyVerdict = {
  class: ReplyClass;
  /** The enhanced status, such as `5.1.1`. */
  status: string | null;
  /** Whether the same letter may be tried again. */
  retry: boolean;
  /** Whether the relay asks for fewer letters. */
  slowDown: boolean;
};

export function classifyReply(reply: SmtpReply): ReplyVerdict {
  const status = enhancedStatus(reply.reply);
  const text = normaliseReply(reply.reply);
  const temporary = reply.code < 500;
  const found = classOf(reply, status, text);
  return {
    class: found,
    status,
    retry: temporary || found === 'infrastructure',
    slowDown:
      reply.code === 421 || status?.startsWith('4.7.') === true || (temporary && SAYS_TOO_FAST.test(text)),
  };
}

/** `mail` is about the sender and the relay; only afterwards has anybody heard of a recipient. */
const BEFORE_RECIPIENT: SmtpStage[] = ['connect', 'greeting', 'ehlo', 'tls', 'auth', 'mail'];

function classOf({ stage, code }: SmtpReply, status: string | null, text: string): ReplyClass {
  if (BEFORE_RECIPIENT.includes(stage)) {
    // The one refusal at MAIL that is the letter's own: it is too large, today and tomorrow.
    return stage === 'mail' && (code === 552 || status === '5.3.4') ? 'policy' : 'infrastructure';
  }
  if (code < 400 || code === 530 || code === 535 || SAYS_NO_RELAYING.test(text)) return 'infrastructure';
  if (code < 500) return isUnwanted(status, text) && !SAYS_FULL.test(text) ? 'policy' : 'soft';
  return permanentClass(stage, status, text);
}

/** Subjects of RFC 3463 that are about the letter (6), security and policy (7), or the size that a system allows. */
function isUnwanted(status: string | null, text: string): boolean {
  return (status !== null && /^[45]\.(?:[67]\.\d+|3\.4|2\.3)$/.test(status)) || SAYS_UNWANTED.test(text);
}

/** Unknown, invalid, moved away, a domain that takes no mail; or disabled, if nothing else is said of it. */
const HARD_STATUS = /^5\.(?:1\.(?:1|2|3|6|10)|2\.1)$/;
/** Full, or failed for a time. */
const SOFT_STATUS = /^(?:5\.2\.2|4\..*)$/;
/** Servers that hide whom they know say so with other words. */
const RFC_WORDS = /\bmailbox unavailable\b|\brecipient address rejected\b|\brecipient (?:rejected|refused)\b/;

function permanentClass(stage: SmtpStage, status: string | null, text: string): ReplyClass {
  const code = status ?? '';
  if (code.startsWith('5.7.')) return 'policy';
  if (SOFT_STATUS.test(code) || SAYS_FULL.test(text)) return 'soft';
  if (isUnwanted(status, text)) return 'policy';
  if (HARD_STATUS.test(code) || SAYS_UNKNOWN.test(text)) return 'hard';
  // Before the letter was seen these words can only be about the address; after it they say nothing.
  if (stage === 'rcpt') return RFC_WORDS.test(text) ? 'hard' : 'soft';
  return 'policy';
}
