import { replyText } from './reply.ts';

const TEXT_CHARS_MAX = 300;

/** In this order: an address holds a host, a link holds an id. */
const VARIABLE: [RegExp, string][] = [
  [/https?:\/\/[^\s<>"')]+/g, 'link'],
  [/<[^<>\s]*>/g, 'address'],
  [/[^\s<>"'(),:;：（），、；。「」【】《》]+@(?:\[[\w.:]*\]|[\w.-]+)/g, 'address'],
  [/\[?\b\d{1,3}(?:\.\d{1,3}){3}\b\]?/g, 'host'],
  [/\[?\b(?:[\da-f]{0,4}:){3,7}[\da-f]{0,4}\b\]?/g, 'host'],
  [/\b(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+[a-z][a-z\d-]+\b/g, 'host'],
  [/\b(?:mon|tue|wed|thu|fri|sat|sun),? \d{1,2} [a-z]{3} \d{4}\b/g, 'time'],
  [/\b\d{4}-\d\d-\d\d\b/g, 'time'],
  [/\b\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?\b/g, 'time'],
  // Ids of queues, sessions and letters: a run with a digit in it, longer than any word for an error.
  [/(?<![\w.-])(?=[\w-]*\d)[\w-]{8,}(?:\.[\w-]+)*/g, 'id'],
  // A number alone, but not one of a status.
  [/(?<![\w.])\d{3,}(?![\w.])/g, 'number'],
];

/**
 * What two refusals of the same kind have in common: the words and the status, without whom, where and when they were
 * about. By it the sender sees that a relay refuses everybody for one reason.
 */
export function normaliseReply(reply: string, charsMax = TEXT_CHARS_MAX): string {
  let text = replyText(reply).toLowerCase();
  for (const [pattern, word] of VARIABLE) text = text.replace(pattern, word);
  return text.replace(/ +/g, ' ').slice(0, charsMax).trim();
}
