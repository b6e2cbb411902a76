import { enhancedStatus, type ReplyClass, replyText } from '../../../platform/mail/smtp-reply.ts';

/** The answered stage: a command before the recipient, the recipient, or the email itself. */
export type Stage = 'before' | 'rcpt' | 'email';

/** A refusal, reported by the server itself or by a bounce report. */
export type DeliveryRefusal = {
  /** The texts, the most trusted first. */
  texts: string[];
  /** The enhanced status, such as `5.1.1`. */
  status: string | null;
  /** The SMTP code, such as 550. */
  replyCode: number | null;
  /** Null if unknown. */
  stage: Stage | null;
  /** The class that the reporting server gives in a word of its own. */
  category?: ReplyClass | null;
};

const TEXT_CHARS_MAX = 300;

const LINK = /https?:\/\/[^\s<>"')]+/g;
const OF_BLOCKLIST =
  /\b(?:bl|rbl|dnsbl|sbl|xbl|pbl|cbl)\b|spamhaus|spamcop|\bsorbs\b|uceprotect|senderscore|(?:block|black|deny)[-_]?list|delist|unblock/;

const LOOKUP_PAGE = /\/(?:query|lookup|check|search|removal)\b/;

/** A page about the listing of an IP address. Some servers refuse with nothing but such a link. */
function isOfBlocklist(link: string): boolean {
  return OF_BLOCKLIST.test(link) || (LOOKUP_PAGE.test(link) && /[?&;]ip=/.test(link));
}

/** In this order: an address contains a host. */
const VARIABLE: [RegExp, string][] = [
  [/<[^<>\s]*>/g, 'address'],
  [/[^\s<>"'(),:;：（），、；。「」【】《》]+@(?:\[[\w.:]*\]|[\w.-]+)/g, 'address'],
  [/\[?\b\d{1,3}(?:\.\d{1,3}){3}\b\]?/g, 'host'],
  [/\[?\b(?:[\da-f]{0,4}:){3,7}[\da-f]{0,4}\b\]?/g, 'host'],
  [/\b(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+[a-z][a-z\d-]+\b/g, 'host'],
  [/\b(?:mon|tue|wed|thu|fri|sat|sun),? \d{1,2} [a-z]{3} \d{4}\b/g, 'time'],
  [/\b\d{4}-\d\d-\d\d\b/g, 'time'],
  [/\b\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?\b/g, 'time'],
  // Ids of queues, sessions and emails: a run of characters with a digit in it, longer than any word for an error.
  [/(?<![\w.-])(?=[\w-]*\d)[\w-]{8,}(?:\.[\w-]+)*/g, 'id'],
  // A number that is not part of a status.
  [/(?<![\w.])\d{3,}(?![\w.])/g, 'number'],
];

/**
 * Reduces a refusal to the words and the status that all refusals of its kind share, without recipient, host and time. It shows the sender
 * that a relay refuses all emails for one reason.
 */
export function normaliseReply(reply: string, charsMax = TEXT_CHARS_MAX): string {
  let text = replyText(reply)
    .toLowerCase()
    .replace(LINK, (link) => (isOfBlocklist(link) ? 'blocklist link' : 'link'));
  for (const [pattern, word] of VARIABLE) text = text.replace(pattern, word);
  return text.replace(/ +/g, ' ').slice(0, charsMax).trim();
}

/** The remote server's own answer, without the words that the local server adds to it. */
export type RemoteReply = { text: string; status: string | null; replyCode: number };

const QUOTES_SERVER =
  /- (?:unknown address error|other mail system problem) \d{3}-|(?:error|response|message) (?:that the other server returned|from the (?:remote|other) (?:server|host)) ?was: ?|\bthe response was: ?|(?:remote (?:host|server)|\bhost [^\s:]{1,200}(?: \[[^\]\s]{1,80}\])?) said: ?|\bdid not like our [a-z ]{4,12}: ?|\brefused to talk to me: ?|\bsmtp error from remote (?:email )?server after .{0,300}?\bhost \S{1,200} \[[^\]\s]{1,80}\]: ?/i;

/** `RESOLVER.ADR.RecipNotFound` is not a host name. */
const EXCHANGE_NAME = /\b[A-Z]{4,}(?:\.[A-Za-z]{2,}){1,4}\b/g;
const IN_REPLY_TO = / ?\(in reply to [^()]{1,60}\)/g;

/** Returns a server's answer without the frame in which another server reports it. The words of that frame accompany every refusal. */
export function essence(text: string): string {
  const found = QUOTES_SERVER.exec(text);
  const rest = found ? text.slice(found.index + found[0].length) : '';
  return (rest.trim() === '' ? text : rest)
    .replace(IN_REPLY_TO, '')
    .replace(EXCHANGE_NAME, (name) => name.replaceAll('.', ' '));
}

/** A reply after a mark that occurs only in copied answers of a remote server, as in a transcript. */
const MARKED = /^\s{0,8}(?:<<< ?|smtp ?; ?)(?=[45]\d\d[ -])|\(reason: (?=[45]\d\d[ -])/i;
const REPLY = /^([45]\d\d)[ -]/;
/** Sendmail copies its own line, "550 5.1.1 <zoe@example.net>... User unknown", below the answer that it explains. */
const LINE_OF_SENDMAIL = /\s[45]\d\d [45]\.\d{1,3}\.\d{1,3} <?[^\s<>]{0,300}>?\.\.\. /;

/** Returns the first marked answer, or else the first text if it is a reply, because the texts begin with the most trusted one. */
export function remoteReply(texts: string[]): RemoteReply | null {
  const marked = texts.map(markedReply).find((reply) => reply !== null) ?? texts[0] ?? '';
  const [, code] = REPLY.exec(marked) ?? [];
  if (code === undefined) return null;
  const end = LINE_OF_SENDMAIL.exec(marked)?.index ?? marked.length;
  const text = marked.slice(0, end);
  return { text, status: enhancedStatus(text), replyCode: Number(code) };
}

function markedReply(text: string): string | null {
  const found = MARKED.exec(text);
  if (found) return text.slice(found.index + found[0].length);
  const quoted = QUOTES_SERVER.exec(text);
  return quoted && REPLY.test(text.slice(quoted.index + quoted[0].length)) ? essence(text) : null;
}

/** The placeholders of `normaliseReply` for names and numbers. */
const PLACEHOLDERS = /\b(?:address|host|link|id|number|time)\b/g;

/** Returns whether an answer consists of more than a code, a status, addresses and numbers. */
export function hasWords({ text }: RemoteReply): boolean {
  return /\p{L}{2}/u.test(normaliseReply(text).replace(PLACEHOLDERS, ''));
}
