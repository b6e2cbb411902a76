import { replyText } from '../../../platform/mail/smtp-reply.ts';

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
