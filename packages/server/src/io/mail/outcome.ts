import type { SmtpStage } from '../../base/bounce/index.ts';
import type { HandOver } from './hand-over.ts';
import { relayId } from './relay-id.ts';

/** What is known once the conversation about one letter is over. */
export type Ending = {
  /** The reply that ended it; null where none came. */
  code: number | null;
  reply: string;
  /** What went wrong otherwise. */
  reason: string;
  /** Which answer was being waited for, or was the last. */
  stage: SmtpStage;
  /** Whether anything of the letter itself was taken up for writing. */
  bodyRead: boolean;
  /** Whether all of it was, and the dot behind it. */
  bodyEnded: boolean;
};

const REPLY_CHARS_MAX = 2_000;

/**
 * The rule that keeps a letter from leaving twice. Before the first byte of the letter was read nothing can have been
 * accepted, whatever happened. A reply that refuses is certain as well. What is left, a letter that was read and about
 * which nobody said anything definite, is unknown.
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
