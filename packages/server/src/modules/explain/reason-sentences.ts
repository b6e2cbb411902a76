import { type Reason, REASONS } from '../rules/index.ts';
import type { GateReason } from '../delivery/index.ts';

/** The sentence for each send check that holds a draft. */
export const GATE_WORDS: Record<GateReason, string> = {
  restore_unconfirmed:
    'the database was restored, and it is not confirmed which emails may already have been sent',
  paused: 'the project is paused',
  rule_off: 'the rule is disabled',
  suppressed: 'the user or the address is suppressed',
  topic_unsubscribed: 'the user unsubscribed from this topic',
  no_address: 'the user has no email address',
  domain_not_ready: 'the sending domain is not ready',
  no_sender: 'no sender address is set',
  public_url: 'links would point to localhost',
  quiet_hours: "quiet hours in the user's time zone",
  frequency_cap: 'the user has reached the frequency cap',
  frequency_cap_yielded: 'another email to the same address takes the last slot of the frequency cap',
  throttle: "the project's throttle is reached",
  domain_throttle: "the sending domain's throttle is reached",
  provider_throttle: 'the mailbox provider asked for a slower rate',
  warmup: "the sending domain's warm-up limit for today is reached",
};

/** Sentences for the other reasons of a draft. */
export const DRAFT_WORDS = {
  claimed: 'the email was claimed for sending',
  email_suppressed: GATE_WORDS.suppressed,
  email_rule_off: GATE_WORDS.rule_off,
  expired: 'the email expired before it could be sent',
  rule_no_longer_holds: "the rule's condition no longer held at the deadline",
  exit_condition: 'an exit condition of the rule holds, so the run ended',
  needs_review: "the rule's condition no longer holds, and a member edited the draft, so a member decides",
  facts_changed: 'facts about the user changed, so the draft waits again',
  missing_variable: 'a variable has no value, so a member has to fill it in',
  render_failed: 'rendering the email exceeded its limits, so a member has to simplify it',
  replied: 'the user replied',
  postponed: 'a member postponed the draft',
  skipped: 'a member skipped the draft',
  deferred: "the recipient's server deferred the email",
  bounced: 'the email bounced: the address does not exist or accepts no email',
  rejected: "the recipient's server rejected the email",
  relay_unreachable: 'the relay was unreachable',
  relay_rejected: 'the relay rejected the email',
  relay_failing: 'the relay rejected many emails with the same reply, so the cause is not the recipient',
  address_changed: "the user's address changed after the email was handed to the relay",
  not_composed: 'the email could not be composed',
  restored: 'the email may have been sent before the database was restored, so a member decides',
  possibly_sent:
    'the email may have been sent between the restored moment and the end of the previous server',
  lost: 'the worker stopped while sending, and delivery is unknown',
  window_closed: 'the relay no longer recognizes the request',
  database_restored: 'the database was restored since the email was submitted',
  relay_deleted: 'the relay was deleted',
  relay_changed: 'the settings of the relay were changed, so it may be another account',
  suspended: 'the project is suspended',
  sent_again: 'a member sent the email again as a new draft',
  bytes_deleted: 'the raw email is no longer stored',
  already_received: 'the relay received the first request, and does not say whether it sent the email',
  repeat_refused: 'the relay refused the repeated request, which says nothing about the first one',
  editing: 'a member is editing the draft',
  erased: 'the user was erased',
  scheduled: 'the draft waits for its deadline',
  approved: 'the draft is approved',
} as const satisfies Record<string, string>;

const FROM_ERASED_WORDS = 'suppressed: address or id of an erased user';

/**
 * Returns a reason in words. If a rule and a send check share the name of a reason, `by` decides. `detail` is the detail of the send check
 * or of the decision.
 */
export function reasonWords(
  reason: string,
  by: 'rule' | 'draft',
  detail: Readonly<Record<string, unknown>> = {},
): string {
  if (detail['from_erased_user'] === true) return FROM_ERASED_WORDS;
  const ofRule: Record<string, string> = REASONS;
  const ofDraft: Record<string, string> = { ...DRAFT_WORDS, ...GATE_WORDS };
  const [first, second] = by === 'rule' ? [ofRule, ofDraft] : [ofDraft, ofRule];
  return first[reason] ?? second[reason] ?? reason.replaceAll('_', ' ');
}

/** The reason of a decision about a user, or that no trigger has arrived yet. */
export type RuleReason = Reason | typeof NOT_CONSIDERED;
export const NOT_CONSIDERED = 'not_considered';
export const NOT_CONSIDERED_WORDS = 'no trigger arrived since the rule was enabled';
