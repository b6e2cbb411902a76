/**
 * Maps words to their meaning. The first rule that matches decides, so specific rules precede general ones. For example, "message size
 * exceeds the quota" is about neither a full mailbox nor a spam filter. The rules about senders precede all that return `hard`.
 */

import * as phrases from './phrases.ts';
import * as abroad from './foreign-phrases.ts';
import type { Stage } from './refusal.ts';
import type { ReplyClass } from '../../../platform/mail/smtp-reply.ts';

export type BounceRule = {
  class: ReplyClass;
  phrase: RegExp;
  about?: 'host';
  /** The only stage at which the words have this meaning. */
  at?: Stage;
  /** Set if another cause near the words replaces the class. */
  yields?: true;
};

const ANYTHING = /^/;

export const STRONG_RULES: readonly BounceRule[] = [
  { class: 'soft', phrase: phrases.SAYS_MAILBOX_LIMIT },
  { class: 'policy', phrase: phrases.SAYS_TOO_LARGE },
  { class: 'infrastructure', phrase: phrases.SAYS_CROWDED },
  { class: 'policy', phrase: phrases.SAYS_TOO_FAST },
  { class: 'soft', phrase: phrases.SAYS_FULL },
  { class: 'soft', phrase: abroad.FULL_ABROAD },
  { class: 'policy', phrase: phrases.SAYS_NOT_OF_THE_LIST },
  { class: 'policy', phrase: abroad.GROUP_ABROAD },
  { class: 'policy', phrase: phrases.SAYS_NO_RELAYING },
  { class: 'soft', phrase: phrases.SAYS_UNWANTED_BY_RECIPIENT },
  { class: 'infrastructure', phrase: phrases.SAYS_LOCAL_DELIVERY_FAILED },
  { class: 'policy', phrase: phrases.SAYS_TO_YOURSELF },
  { class: 'policy', phrase: phrases.SAYS_SENDER_REFUSED },
  { class: 'policy', phrase: abroad.SENDER_ABROAD },
  { class: 'policy', phrase: phrases.SAYS_WHO_ARE_YOU },
  { class: 'infrastructure', phrase: phrases.SAYS_NO_ANSWER_OF_DNS },
  { class: 'hard', phrase: phrases.SAYS_NO_HOST, about: 'host' },
  { class: 'hard', phrase: phrases.SAYS_ABANDONED, yields: true },
  { class: 'hard', phrase: abroad.ABANDONED_ABROAD, yields: true },
  { class: 'soft', phrase: phrases.SAYS_SUSPENDED },
  { class: 'hard', phrase: phrases.SAYS_NO_SUCH_RECIPIENT, yields: true },
  { class: 'infrastructure', phrase: phrases.SAYS_OUT_OF_ORDER },
  { class: 'soft', phrase: abroad.FILTERED_ABROAD },
  { class: 'soft', phrase: abroad.SUSPENDED_ABROAD },
  { class: 'policy', phrase: phrases.SAYS_UNWANTED },
  { class: 'policy', phrase: abroad.UNWANTED_ABROAD },
  { class: 'hard', phrase: phrases.SAYS_MOVED },
  { class: 'hard', phrase: phrases.SAYS_UNKNOWN, yields: true },
  { class: 'hard', phrase: abroad.UNKNOWN_ABROAD, yields: true },
  { class: 'hard', phrase: phrases.SAYS_DENIED, at: 'rcpt' },
];

/** Words that are weaker than a definite status, and stronger than a vague one. */
export const WEAK_RULES: readonly BounceRule[] = [
  { class: 'infrastructure', phrase: phrases.SAYS_NOT_REACHED },
  // No recipient was named yet, so the refusal is about the client, its address or its name.
  { class: 'policy', phrase: ANYTHING, at: 'before' },
  { class: 'policy', phrase: phrases.SAYS_LINK_ALONE },
  { class: 'hard', phrase: phrases.SAYS_UNAVAILABLE },
  { class: 'hard', phrase: abroad.REJECTED_ABROAD },
  { class: 'soft', phrase: phrases.SAYS_FILTERED },
  { class: 'policy', phrase: phrases.SAYS_UNWANTED_TOO },
  { class: 'infrastructure', phrase: phrases.SAYS_BROKEN },
];
