import { UNWANTED_ABROAD } from './foreign-phrases.ts';
import { any } from './phrase.ts';
import type { ReplyClass } from './refusal.ts';
import { SAYS_UNWANTED } from './refusal-phrases.ts';

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
export function otherCause(text: string, phrase: RegExp): ReplyClass | null {
  const found = phrase.exec(text);
  if (!found) return null;
  const end = found.index + found[0].length + NEAR_CHARS;
  const near = text.slice(Math.max(0, found.index - NEAR_CHARS), end).replace(NO_CAUSE, ' ');
  const rest = text.slice(found.index, end).replace(NO_CAUSE, ' ');
  const isUnwanted = [SAYS_UNWANTED, UNWANTED_ABROAD].some((cause) => cause.test(near));
  if (isUnwanted || POLICY.test(rest) || SENDER.test(rest)) return 'policy';
  return TEMPORARY.test(rest) ? 'soft' : null;
}
