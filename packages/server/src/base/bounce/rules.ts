import * as abroad from './abroad.ts';
import * as broken from './broken.ts';
import * as gone from './gone.ts';
import * as mailbox from './mailbox.ts';
import type { ReplyClass, Stage } from './refusal.ts';
import * as unwanted from './unwanted.ts';

/**
 * What words mean, in the order in which they are asked about; the first that is said decides. What is specific stands
 * before what is general: "message size exceeds the quota" is about neither a full mailbox nor a spam filter.
 */
export type Rule = {
  class: ReplyClass;
  phrase: RegExp;
  about?: 'host';
  /** Where else the words mean nothing. */
  at?: Stage;
};

const ANYTHING = /^/;

export const STRONG_RULES: readonly Rule[] = [
  { class: 'soft', phrase: mailbox.SAYS_MAILBOX_LIMIT },
  { class: 'policy', phrase: unwanted.SAYS_TOO_LARGE },
  { class: 'infrastructure', phrase: broken.SAYS_CROWDED },
  { class: 'policy', phrase: unwanted.SAYS_TOO_FAST },
  { class: 'soft', phrase: mailbox.SAYS_FULL },
  { class: 'soft', phrase: abroad.FULL_ABROAD },
  { class: 'policy', phrase: unwanted.SAYS_NOT_OF_THE_LIST },
  { class: 'policy', phrase: abroad.GROUP_ABROAD },
  { class: 'policy', phrase: unwanted.SAYS_NO_RELAYING },
  { class: 'soft', phrase: mailbox.SAYS_UNWANTED_BY_RECIPIENT },
  { class: 'infrastructure', phrase: broken.SAYS_LOCAL_DELIVERY_FAILED },
  { class: 'policy', phrase: unwanted.SAYS_TO_YOURSELF },
  { class: 'policy', phrase: unwanted.SAYS_SENDER_REFUSED },
  { class: 'policy', phrase: unwanted.SAYS_WHO_ARE_YOU },
  { class: 'infrastructure', phrase: gone.SAYS_NO_ANSWER_OF_DNS },
  { class: 'hard', phrase: gone.SAYS_NO_HOST, about: 'host' },
  { class: 'hard', phrase: gone.SAYS_ABANDONED },
  { class: 'soft', phrase: mailbox.SAYS_SUSPENDED },
  { class: 'hard', phrase: gone.SAYS_NOBODY },
  { class: 'infrastructure', phrase: broken.SAYS_OUT_OF_ORDER },
  { class: 'soft', phrase: abroad.FILTERED_ABROAD },
  { class: 'soft', phrase: abroad.SUSPENDED_ABROAD },
  { class: 'policy', phrase: unwanted.SAYS_UNWANTED },
  { class: 'policy', phrase: abroad.UNWANTED_ABROAD },
  { class: 'hard', phrase: gone.SAYS_MOVED },
  { class: 'hard', phrase: gone.SAYS_UNKNOWN },
  { class: 'hard', phrase: abroad.UNKNOWN_ABROAD },
  { class: 'hard', phrase: mailbox.SAYS_DENIED, at: 'rcpt' },
];

/** Words that say less than a definite status, and more than a vague one. */
export const WEAK_RULES: readonly Rule[] = [
  { class: 'infrastructure', phrase: broken.SAYS_NOT_REACHED },
  // Nobody was named yet: it is about whoever came, by the address it comes from, or by its name.
  { class: 'policy', phrase: ANYTHING, at: 'before' },
  { class: 'policy', phrase: unwanted.SAYS_LINK_ALONE },
  { class: 'hard', phrase: mailbox.SAYS_UNAVAILABLE },
  { class: 'soft', phrase: mailbox.SAYS_FILTERED },
  { class: 'policy', phrase: unwanted.SAYS_UNWANTED_TOO },
  { class: 'infrastructure', phrase: broken.SAYS_BROKEN },
];
