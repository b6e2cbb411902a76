import { REFUSED_ABROAD, UNWANTED_ABROAD } from './foreign-phrases.ts';
import { any, SAYS_LOCAL_DELIVERY_FAILED, SAYS_REFUSED, SAYS_UNAVAILABLE, SAYS_UNWANTED } from './phrases.ts';
import {
  essence,
  hasWords,
  normaliseReply,
  type DeliveryRefusal,
  remoteReply,
  type RemoteReply,
  type Stage,
} from './refusal.ts';
import type { ReplyClass } from '../../../platform/mail/smtp-reply.ts';
import { type BounceRule, STRONG_RULES, WEAK_RULES } from './rules.ts';

const TEXT_CHARS_MAX = 1_500;

const REFUSALS = [SAYS_REFUSED, SAYS_UNAVAILABLE, REFUSED_ABROAD];

type Found = Pick<BounceRule, 'class' | 'about'>;

/**
 * Classifies by words first, then by status. A false `hard` suppresses an address for good, so words for an unknown address
 * count only where no other sign contradicts them.
 */
export function classifyText(refusal: DeliveryRefusal): ReplyClass {
  const { texts: rawTexts, status, replyCode, stage, category } = refusal;
  const texts = rawTexts.map((text) => normaliseReply(essence(text), TEXT_CHARS_MAX));
  const found =
    firstMatch(STRONG_RULES, texts, stage) ??
    (category ? { class: category } : null) ??
    definite(status, replyCode) ??
    firstMatch(WEAK_RULES, texts, stage) ??
    vague(status, replyCode, stage);
  if (found.class !== 'hard') return found.class;
  return overruling(refusal, texts) ?? tempered(found, refusal);
}

/**
 * Returns the class that outranks `hard`, or null. It comes from a failed local delivery, another cause beside the words for a refused
 * recipient, or the remote server's own answer.
 */
function overruling(refusal: DeliveryRefusal, texts: string[]): ReplyClass | null {
  if (texts.some((text) => SAYS_LOCAL_DELIVERY_FAILED.test(text))) return 'infrastructure';
  const cause = texts.map(causeOfRefusal).find((found) => found !== undefined);
  if (cause) return cause;
  const reply = remoteReply(refusal.texts);
  return reply && classOfReply(reply, refusal);
}

function causeOfRefusal(text: string): ReplyClass | undefined {
  return REFUSALS.map((phrase) => otherCause(text, phrase)).find((cause) => cause !== null);
}

/**
 * Judges the remote server's answer alone, and returns null if it leaves the decision to the rest. Sendmail adds "5.1.1 User unknown" to
 * every 550 after RCPT. So neither the local server's words nor its status decide about an answer with words of its own. A cause without a
 * rule does not mean that the address is unknown.
 */
function classOfReply(reply: RemoteReply, { stage, category }: DeliveryRefusal): ReplyClass | null {
  const texts = [normaliseReply(essence(reply.text), TEXT_CHARS_MAX)];
  const cause =
    firstMatch(STRONG_RULES, texts, stage) ??
    definite(reply.status, reply.replyCode) ??
    firstMatch(WEAK_RULES, texts, stage);
  if (cause) return cause.class === 'hard' ? null : cause.class;
  if (category || !hasWords(reply) || isUnknownAddress(reply.status)) return null;
  return stage === 'email' ? 'policy' : 'soft';
}

function firstMatch(rules: readonly BounceRule[], texts: string[], stage: Stage | null): Found | undefined {
  for (const text of texts) {
    const rule = rules.find(({ phrase, at }) => (at === undefined || at === stage) && phrase.test(text));
    if (!rule) continue;
    const cause = rule.yields ? otherCause(text, rule.phrase) : null;
    return cause === null ? rule : { class: cause };
  }
  return undefined;
}

/** Statuses with a single meaning. */
function definite(status: string | null, replyCode: number | null): Found | null {
  const code = status ?? '';
  // Symantec's gateway uses it for an unknown recipient.
  if (/^5\.(?:1\.(?:1|2|3|6|10)|4\.4)$/.test(code) || replyCode === 542) return { class: 'hard' };
  if (/^[45]\.2\.2$/.test(code)) return { class: 'soft' };
  return /^[45]\.(?:2\.3|3\.4|1\.[78]|6\.\d+|7\.\d+)$/.test(code) ? { class: 'policy' } : null;
}

/** Statuses that servers give mostly, though not only, for an unknown address. */
function isUnknownAddress(status: string | null): boolean {
  return /^5\.1\.[09]$/.test(status ?? '');
}

/** Every other status says only that delivery failed, and where. */
function vague(status: string | null, replyCode: number | null, stage: Stage | null): Found {
  const code = status ?? '';
  if (isUnknownAddress(code)) return { class: 'hard' };
  if (/^[45]\.2\.|^4\.1\./.test(code)) return { class: 'soft' };
  // Before the content was seen a refusal can only be about the address. After it, that is unlikely.
  if (replyCode !== null && replyCode >= 500 && stage === 'rcpt') return { class: 'soft' };
  if (replyCode !== null && replyCode >= 500 && stage === 'email') return { class: 'policy' };
  return { class: 'infrastructure' };
}

const QUOTES_REMOTE =
  /\bremote host said\b|\bhost \S+(?: \S+)? said\b|\bsmtp error from remote\b|\bin reply to\b/i;

function tempered(found: Found, { texts, status, replyCode, stage }: DeliveryRefusal): ReplyClass {
  const code = status ?? '';
  if (stage === 'before') return 'policy';
  if (/^4\.[34]\./.test(code)) return 'infrastructure';
  if (code.startsWith('4.') || isTemporary(replyCode)) return 'soft';
  // A server that was reached does not report its own domain as missing. It means ours.
  if (found.about === 'host')
    return texts.some((text) => QUOTES_REMOTE.test(text)) && !/^5\.(?:1|4)\./.test(code) && stage !== 'rcpt'
      ? 'policy'
      : 'hard';
  return isDoubtful(code, { replyCode, stage, texts }) ? 'soft' : 'hard';
}

function isTemporary(replyCode: number | null): boolean {
  return replyCode !== null && replyCode < 500;
}

/** Words that filters never use. Some servers use them only after the email was sent. */
const PLAIN =
  /\b(?:doesn't|does not|don't) have an? (?:\S+ ){0,3}account\b|\bdelivery error: dd\b|\baborted,? mail ?box not found\b/i;

/**
 * A filter that has seen the email also says that the user is unknown, sometimes with the status of an existing mailbox or of security. The
 * answer to RCPT can only be about the address. If the command is unknown, a status that a server gives to a refused recipient is enough.
 */
function isDoubtful(
  code: string,
  { replyCode, stage, texts }: Pick<DeliveryRefusal, 'replyCode' | 'stage' | 'texts'>,
): boolean {
  if (stage === 'rcpt' || replyCode === 542) return false;
  if (/^5\.[27]\./.test(code)) return true;
  if (/^5\.(?:1\.|4\.4)/.test(code) || texts.some((text) => PLAIN.test(text))) return false;
  return stage === 'email' || (replyCode !== null && !/^5\.[05]\.0$/.test(code));
}

/** How far from the words for an unknown recipient another cause is looked for, about one line. */
const NEAR_CHARS = 80;

/** A policy or a limit, in more words than `SAYS_UNWANTED` and `UNWANTED_ABROAD` have, which a refusal alone may not mean. */
const POLICY = any(
  String.raw`\b(?:limit(?:s|ed)?|unverified|gr[ea]y-?list\w*|content)\b`,
  String.raw`\bpolitiques?\b|\bpol[ií]tica|richtlinie|beleid\b|polityk|политик|ポリシー|策略|سياسة`,
  String.raw`s[ée]curit[ée]|\bseguridad\b|\bsegurança\b|\bsicurezza\b|\bbloqu[ée]|\bgeblokkeerd|\bblockiert|\bcontenu\b|\bcontenido\b|\bconteúdo\b|\bcontenuto\b|\binhalt`,
);

/** The sender, unless an email returns to it. */
const SENDER = any(
  String.raw`(?<!\bto (?:the )?)\bsender\b`,
  String.raw`(?<!\p{L}|[àa] l.|\b(?:an|an den|zum|al|ao|aan|aan de|retour) )(?:absender|afzender|exp[ée]diteur|[ée]metteur|envoyeur|remitente|remetente|mittente|nadawc|отправител|gönder(?:en|ici))`,
  String.raw`\badresse d.envoi\b|\b(?:ver|ab)?send(?:e|er)?-?adres|\bdirecci[oó]n de env[ií]o\b|\bendereço de envio\b|\bindirizzo di invio\b`,
  String.raw`(?:差出人|送信者|送信元|発信者|発信元)(?!に|へ)|(?<!إلى )(?:ال|لل)مرسل(?!\p{L}| إليه)`,
);

const TEMPORARY = any(
  String.raw`\btempor(?!is\b)|\btry\b.{0,20}\blater\b|vorübergehend|momentan|tijdelijk|временн|geçici|一時的|暂时|暫時|일시|مؤقت`,
);

/** A link to a listing explains no refusal by itself, and "they may be blacklisted" is only a possibility. */
const NO_CAUSE = /\bblocklist link\b|\b(?:may|might|could) (?:also )?(?:be|have been) \S+/g;

/**
 * Returns the class of another cause that a text names close to its words for an unknown recipient, or null. "User unknown:
 * your message looks like spam" says nothing about the address. The sender counts only within those words or after them:
 * "Sender rejected: user unknown" has a rule of its own, and "Returned to sender: user unknown" is about the recipient.
 */
function otherCause(text: string, phrase: RegExp): ReplyClass | null {
  const found = phrase.exec(text);
  if (!found) return null;
  const end = found.index + found[0].length + NEAR_CHARS;
  const near = text.slice(Math.max(0, found.index - NEAR_CHARS), end).replace(NO_CAUSE, ' ');
  const rest = text.slice(found.index, end).replace(NO_CAUSE, ' ');
  const isUnwanted = [SAYS_UNWANTED, UNWANTED_ABROAD].some((cause) => cause.test(near));
  if (isUnwanted || POLICY.test(rest) || SENDER.test(rest)) return 'policy';
  return TEMPORARY.test(rest) ? 'soft' : null;
}
