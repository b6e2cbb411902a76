/**
 * Bounces without a standard report, about half of all: qmail, old Sendmail, Exim, gateways and web mailers each write their own text.
 * Three kinds of signs distinguish them from human emails: the sender, the subject and the text. Two are required.
 */

import { isTranslatedBounceTitle, RETRIED_ABROAD, UNDELIVERED_ABROAD } from './bounce-phrases.ts';
import { addressesIn, allOf, type Fields, firstOf, type InboundMail, linesOf } from './mail.ts';
import type { Returned } from './returned.ts';
import type { InboundEnvelope } from './classification.ts';

export type FreeReport = {
  delayed: boolean;
  /** The reason, if a sign that is the same in every language shows it. */
  category: string | null;
  recipients: { address: string | null; texts: string[] }[];
};

const DAEMON =
  /^(?:mailer[-_.]?daemon|mail[-_.]?daemon|postmaster|mmdf|mail[-_.]?deliver\w*|mdaemon|bounces?|mailerdaemon|mail-?system|mailsystem|mrdaemon|uucp|root|smtp|daemon|mailgateway|mail[-_.]?admin\w*|no-?reply|notification\w*|system|exchange|nondelivery|undeliver\w*)(?:[+-][^@]*)?@/;
const NOTABLY_DAEMON =
  /^(?:mailer[-_.]?daemon|mail[-_.]?daemon|post[-_]?master|mdaemon|mmdf|microsoftexchange[\da-f]{32})(?:[+-][^@]*)?@/;
const SUBJECT =
  /^\W{0,5}(?:(?:auto|warning|error|notice|attention|\[?spam\]?) ?[:-] ?)?\W{0,3}(?:(?:mail |message |e-?mail |your |a )?(?:delivery|deliver) (?:status|failure|failed|failed|problem|error|has failed|unsuccessful|report|notification|delay\w*|subsystem|not)|mail delivery|undeliver\w*|undelivered|non[- ]?deliver\w*|not delivered|returned (?:mail|message|e-?mail|to sender)|return(?:ed)? (?:mail|email|message)|failure notice|failure (?:delivery|notification|report)|failed (?:mail|delivery|message)|delivery (?:status|failure|notification)|(?:mail|message|email) (?:system )?(?:error|failure|could not be|not delivered|undeliver\w*|bounced|returned|rejected|delayed|status|delivery)|user unknown|unknown (?:user|recipient|address)|unable to deliver|could not (?:be )?(?:send|sent|deliver\w*)|couldn'?t be delivered|can(?:no|')t (?:be )?(?:send|sent|deliver)|bounce(?:d)? (?:mail|message)|dsn\b|ndn\b|ndr\b|nondeliverable|problem (?:delivering|with) (?:your )?(?:mail|message)|host unknown|rejected\b|mail could not|message you sent|your message (?:to|could|was|has)|there was an error sending|unzustellbar|zustellung|nicht zustellbar|unzustellbare|mail konnte nicht|message non (?:distribu|remis)|non remis|échec|notification d'échec|onbestelbaar|niet bestel|no se (?:puede|pudo|ha)|no entregado|mensaje no|error de entrega|devuelto|impossibile|mancato recapito|mancata consegna|não entregue|falha na entrega|devolvid|niedostarcz|nie dostarcz|недостав|не доставлено|невозможно|ошибка|宛先不明|配信(?:不能|エラー|失敗)|送信(?:エラー|できません)|退信|系统退信|배달|반송)/i;
const SAYS_SO =
  /\b(?:(?:could|can|was|has|were|did|will|is|are)(?: ?n[o']t|not) (?:yet )?(?:be |been |able to |being )?(?:deliver\w*|sent|reach\w*|send|complete\w*|accept\w*|relay\w*)|undeliver\w*|unable to (?:deliver|send|reach|relay|complete)|(?:error|problem) deliver\w*|deliver\w* (?:\w+ ){0,4}(?:fail\w*|error|problem|unsuccessful|impossible|incomplete|delay\w*)|fail(?:ed|ure|ing) (?:\w+ ){0,4}(?:deliver\w*|recipient\w*|address\w*|permanently|to)|return\w* (?:\w+ ){0,5}(?:sender|undelivered|message|mail|unopened)|fatal error|bounce[ds]?|permanent(?:ly)? (?:error|fail\w*|fatal)|user unknown|unknown (?:user|recipient)|no such user|mailbox (?:is )?full|over ?quota|not delivered|rejected|said:|rcpt to|remote (?:host|server)|smtp error|following (?:recipient|address|error)\w*|giv(?:en|ing) up)\b|\b[45]\d\d[ -][45]\.\d\.\d/i;
const SAYS_SO_ABROAD = new RegExp(UNDELIVERED_ABROAD.join('|'), 'iu');
/** Phrases that count only beside other signs, because humans use them about anything. */
const VAGUE =
  /\b(?:nicht (?:zugestellt|gesendet)|konnte nicht|non (?:distribu|remis|è stato)|no (?:se )?(?:puede|pudo|ha sido)|não (?:pôde|foi))\b|宛先|配信|送信でき|退信|недостав|не (?:может|удалось)/iu;

export function isBounceTitle(subject: string): boolean {
  return SUBJECT.test(subject) || isTranslatedBounceTitle(subject);
}

export function isDaemonAddress(address: string): boolean {
  return NOTABLY_DAEMON.test(address);
}

export function saysUndelivered(text: string): boolean {
  const head = text.slice(0, SAYS_CHARS_MAX);
  return SAYS_SO.test(head) || SAYS_SO_ABROAD.test(head);
}

const SAYS_CHARS_MAX = 64 * 1024;

export function isFreeBounce(mail: InboundMail, returned: Returned, envelope?: InboundEnvelope): boolean {
  if (firstOf(mail.headers, 'x-failed-recipients') !== null || isFromList(mail, returned)) return true;
  const from = mail.from ?? '';
  const isNullSender = hasNullSender(mail, envelope);
  const encloses = returned.fields.length > 0;
  const title = isBounceTitle(mail.subject);
  const says = (): boolean => saysUndelivered(returned.notice) || VAGUE.test(returned.notice);
  if (NOTABLY_DAEMON.test(from)) return title || says();
  return (title ? isNullSender || encloses || DAEMON.test(from) : isNullSender && encloses) && says();
}

/** A list manager that refuses an email answers in its own name. */
function isFromList({ headers, subject }: InboundMail, { notice }: Returned): boolean {
  const isManager = firstOf(headers, 'x-mlserver', 'x-mailman-version') !== null;
  return isManager && REFUSED_BY_LIST.test(`${subject}\n${notice.slice(0, NOTICE_CHARS_MAX)}`);
}

const REFUSED_BY_LIST =
  /\b(?:(?:you|address) (?:\S+ )?(?:are|is) not (?:a )?member|not allowed to post|has been (?:automatically )?rejected|post(?:ing)? (?:was )?rejected)\b/i;

function hasNullSender(mail: InboundMail, envelope?: InboundEnvelope): boolean {
  return envelope?.from === '' || firstOf(mail.headers, 'return-path') === '<>' || mail.from === null;
}

const RECIPIENTS_MAX = 100;

export function readFreeReport(mail: InboundMail, returned: Returned): FreeReport {
  const lines = linesOf(returned.notice);
  const found = findRecipients(mail, returned.fields, lines);
  const coded = lines
    .filter((line) => CODED.test(line))
    .slice(0, CODED_LINES_MAX)
    .join(' ');
  // In a copied SMTP session, the server's own words are more reliable than the text about them.
  const transcript = [
    lines
      .filter((line) => ANSWER.test(line))
      .slice(0, CODED_LINES_MAX)
      .join(' '),
  ];
  const whole = returned.notice.slice(0, NOTICE_CHARS_MAX);
  const recipients = found.map(({ address, line }, i) => {
    const end = found.slice(i + 1).find((next) => next.line > line)?.line ?? lines.length;
    const section = line < 0 ? [] : [segment(lines.slice(line, end), address)];
    const texts = [...(found.length === 1 ? transcript : []), ...section, coded === '' ? whole : coded];
    return { address, texts: texts.filter((text) => text.trim() !== '') };
  });
  const category = OF_GOOGLE_GROUPS.test(returned.notice) ? 'policy-related' : null;
  return { delayed: isDelay(mail, returned), category, recipients };
}

/** A group that accepts no emails from this sender. The message exists in about forty languages. */
const OF_GOOGLE_GROUPS = /\bhttps?:\/\/groups\.google\.com\/support\b/i;
const NOTICE_CHARS_MAX = 4_000;
const SEGMENT_LINES_MAX = 12;
const CODED_LINES_MAX = 10;
const ANSWER = /^\s{0,8}<<< ?[45]\d\d[ -]/;
const CODED =
  /(?:^|[^\d.])[45]\d\d[ -]|^\s{0,8}(?:error|reason) ?:|(?<![\d.])[45]\.\d{1,3}\.\d{1,3}(?![\d.])/i;

/** Returns the text about one recipient, up to the next recipient. */
function segment(lines: string[], address: string | null): string {
  const text = lines.slice(0, SEGMENT_LINES_MAX).join(' ');
  return address === null ? text : text.replaceAll(address, '').trim();
}

const WARNING_ONLY =
  /\bwarning (?:message )?only\b|\bdo(?:n't| not) need to resend\b|\bno action is required on your part\b/i;
const FINAL =
  /\b(?:giv(?:en|ing) up|will not (?:be )?(?:retr|tr)|permanent(?:ly)? (?:error|fail)|fatal error|failed permanently|could not be delivered to)/i;
const WILL_RETRY =
  /\b(?:will (?:be )?(?:retr\w+|continue|keep|tr(?:y|ied) again)|still (?:being |be )?(?:tr\w+|queued)|could not send message for past|not yet been delivered|delivery attempts will continue|delivery (?:has been |is )?delayed)\b/i;

const RETRIED_ABROAD_TEXT = new RegExp(RETRIED_ABROAD.join('|'), 'iu');

/** Returns whether it is a warning: the sender is still trying. */
function isDelay(mail: InboundMail, { notice }: Returned): boolean {
  const text = `${mail.subject}\n${notice}`;
  const retries = WILL_RETRY.test(text) || RETRIED_ABROAD_TEXT.test(text);
  return WARNING_ONLY.test(text) || (retries && !FINAL.test(text));
}

type Located = { address: string | null; line: number };

function findRecipients(mail: InboundMail, original: Fields, lines: string[]): Located[] {
  const ours = new Set([
    ...mail.to,
    ...addressesIn(
      `${mail.from} ${['from', 'sender', 'return-path', 'reply-to'].map((name) => firstOf(original, name)).join(' ')}`,
      RECIPIENTS_MAX,
    ),
  ]);
  const named = addressesIn(allOf(mail.headers, 'x-failed-recipients').join(' '), RECIPIENTS_MAX);
  if (named.length > 0) return named.map((address) => ({ address, line: lineOf(lines, address) }));
  const meant = addressesIn(
    ['to', 'x-original-to', 'delivered-to', 'cc'].map((name) => firstOf(original, name)).join(' '),
    RECIPIENTS_MAX,
  );
  const others = (address: string): boolean => !ours.has(address) && !NOTABLY_DAEMON.test(address);
  for (const pattern of [PLACED, NAMED]) {
    const placed = locate(lines, pattern).filter(({ address }) => others(address));
    if (placed.length > 0) return placed;
  }
  const mentioned = locate(lines, ANYWHERE).filter(({ address }) => others(address));
  const best = mentioned.filter(({ address }) => meant.includes(address));
  if (best.length > 0) return best;
  if (mentioned.length > 0) return mentioned.slice(0, 1);
  if (meant.length > 0) return meant.map((address) => ({ address, line: -1 }));
  return [{ address: locate(lines, PLACED)[0]?.address ?? null, line: -1 }];
}

/** An address alone on its line, or in front of the text about it. */
const PLACED =
  /^[\s>*"'-]{0,12}(?:<[^<>\s@]+@[^<>\s]+>|[^\s<>:,;()"'@]+@[\w.-]+\w)(?=$|[\s:,;("']|\.(?:\s|$))/;
/** An address after a word for it. */
const NAMED =
  /(?:\b(?:recipients?|to|rcpt to|user|address(?:es)?|addressee|mailbox|account|for|receiver|destinat\w+|empfänger|宛先|envelope-to|failed)\b ?\w{0,12} ?[:=]|\brcpt to:|\b(?:to|for|user|address|recipient|mailbox|account) )[\s"'`([]{0,4}<?[^\s<>:,;()@]{1,128}@[\w.-]+\w/i;
const ANYWHERE = /@/;
/** "For help, write to …" does not name a recipient of the email. */
const OF_HELPERS =
  /\b(?:contact|assistance|help|support|questions?|further information|forward|please (?:send|write|e-?mail))\b/i;

function locate(lines: string[], pattern: RegExp): { address: string; line: number }[] {
  const found = new Map<string, number>();
  for (const [i, line] of lines.entries()) {
    const [match] = pattern.exec(line) ?? [];
    if (match === undefined || OF_HELPERS.test(line)) continue;
    for (const address of addressesIn(match === '@' ? line : match, RECIPIENTS_MAX)) {
      if (!found.has(address) && found.size < RECIPIENTS_MAX) found.set(address, i);
    }
  }
  return [...found].map(([address, line]) => ({ address, line }));
}

function lineOf(lines: string[], address: string): number {
  return lines.findIndex((line) => line.toLowerCase().includes(address));
}
