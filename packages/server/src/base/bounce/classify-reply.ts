import { classifyText } from './classify-text.ts';
import { normaliseReply } from './normalise-reply.ts';
import type { ReplyClass, Stage } from './refusal.ts';
import { enhancedStatus, type SmtpReply, type SmtpStage } from './reply.ts';
import { SAYS_CROWDED } from './broken.ts';
import { SAYS_NO_CLIENT, SAYS_NO_RELAYING, SAYS_NOBODY_FROM_YOU, SAYS_TOO_FAST } from './unwanted.ts';

export type ReplyVerdict = {
  class: ReplyClass;
  /** The enhanced status, such as `5.1.1`. */
  status: string | null;
  /** Whether it is the relay itself that does not serve us, so that no letter would fare better. */
  isRelays: boolean;
  /** Whether the same letter may be tried again. */
  retry: boolean;
  /** Whether the relay asks for fewer letters. */
  slowDown: boolean;
};

/** Of our own conversation we know how far it had come; what the words mean is the same as in a report. */
export function classifyReply(given: SmtpReply): ReplyVerdict {
  const { code, reply } = given;
  const status = enhancedStatus(reply);
  const text = normaliseReply(reply);
  const isRelays = isOfRelay(given, status, text);
  const temporary = code < 500;
  return {
    class: classOf(given, status, isRelays),
    status,
    isRelays,
    retry: temporary || isRelays,
    slowDown:
      code === 421 ||
      status?.startsWith('4.7.') === true ||
      (temporary && (SAYS_TOO_FAST.test(text) || SAYS_CROWDED.test(text))),
  };
}

const STAGES: Record<SmtpStage, Stage> = {
  connect: 'before',
  greeting: 'before',
  ehlo: 'before',
  tls: 'before',
  auth: 'before',
  // About the sender and the relay; only afterwards has anybody heard of a recipient.
  mail: 'before',
  rcpt: 'rcpt',
  data: 'letter',
  body: 'letter',
};

/** A relay that wants another account, or none of ours, refuses every letter alike, whomever it is for. */
function isOfRelay({ stage, code }: SmtpReply, status: string | null, text: string): boolean {
  // The one refusal at MAIL that is the letter's own: it is too large, today and tomorrow.
  if (STAGES[stage] === 'before') return !(stage === 'mail' && (code === 552 || status === '5.3.4'));
  if (code < 400 || code === 530 || code === 535 || SAYS_NO_RELAYING.test(text)) return true;
  return stage === 'rcpt' && isNoClient(text);
}

/** It takes letters of others; a greylist says so too, of whom it will take them soon. */
function isNoClient(text: string): boolean {
  return SAYS_NOBODY_FROM_YOU.test(text) || (SAYS_NO_CLIENT.test(text) && !SAYS_TOO_FAST.test(text));
}

function classOf({ stage, code, reply }: SmtpReply, status: string | null, isRelays: boolean): ReplyClass {
  if (STAGES[stage] === 'before') return isRelays ? 'infrastructure' : 'policy';
  if (code < 400) return 'infrastructure';
  const said = classifyText({ texts: [reply], status, replyCode: code, stage: STAGES[stage] });
  // What a report tells in these words is about an address; said to us by our relay, it is about us.
  return isRelays && (said === 'hard' || said === 'soft') ? 'policy' : said;
}
