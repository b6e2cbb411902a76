import { type Reason, REASONS } from '../../features/rules/index.ts';
import type { GateReason } from '../../features/sending/index.ts';

/** What a gate says of a draft that it holds. */
export const GATE_WORDS: Record<GateReason, string> = {
  restore_unconfirmed:
    'the database was restored, and nobody has confirmed yet which letters may have left before',
  paused: 'the project is paused',
  rule_off: 'its rule is off',
  suppressed: 'nothing is sent to this person or this address',
  topic: 'the person wants no letters about its topic',
  no_address: 'the person has no address',
  domain: 'the sending domain is not ready',
  no_sender: 'there is no sender to send it as',
  public_url: 'links in it would lead to this machine alone',
  quiet_hours: 'it is quiet hours where the person is',
  cap: 'the person has had as many letters as the frequency cap lets through',
  cap_yielded: 'another letter to the same address has the better claim to the last slot of the cap',
  throttle: 'the throttle lets others go first',
  domain_throttle: 'the throttle of the sending domain lets others go first',
  provider_throttle: 'the mailbox provider asked for fewer letters at a time',
  ramp: 'the slots of the warm-up are taken for today',
};

/** What else becomes of a draft. */
export const DRAFT_WORDS = {
  claimed: 'the letter was claimed and handed over',
  letter_suppressed: GATE_WORDS.suppressed,
  letter_rule_off: GATE_WORDS.rule_off,
  expired: 'it was not worth sending any more',
  rule_no_longer_holds: 'the condition of the rule did not hold any more when it was to leave',
  exit_condition: 'the exit condition of the rule holds by now, so the run is over',
  needs_review:
    'the condition of the rule does not hold any more, and a person wrote the letter: they decide',
  facts_changed: 'what it says about the person changed, so it waits anew',
  missing_variable: 'the letter has a gap that a person has to fill',
  render_failed: 'rendering the email exceeded its limits, so a person has to simplify it',
  replied: 'the person has answered',
  snoozed: 'somebody put it off',
  skipped: 'somebody did not want it to be sent',
  deferred: "the recipient's server put it off",
  bounced: 'it came back: the address leads nowhere, or takes nothing',
  refused: "the recipient's server did not want it",
  relay_away: 'nobody took it at the relay',
  relay_refused: 'the relay did not take it from us',
  relay_trouble: 'the relay refused so many in the same words that it was about us',
  address_changed: 'the person has another address than the one it was handed over for',
  not_composed: 'no letter could be made of it',
  restored: 'it may have left before the database was restored, so a person decides',
  may_have_left: 'it may have left between the moment that was restored to and the end of the server before',
  lost: 'whoever handed it over is gone, and nobody knows whether it left',
  editing: 'somebody is editing it',
  erased: 'the person was erased',
  scheduled: 'it goes on waiting for its time',
  approved: 'it is approved',
} as const satisfies Record<string, string>;

const FROM_ERASED_WORDS = 'suppressed: address or id of an erased user';

/**
 * A reason in words. Where a rule and a send check share the name of a reason, `by` says whose it is. `detail` is the detail of
 * the send check or of the decision.
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

/** A reason that somebody was considered for, or that nothing happened yet. */
export type RuleReason = Reason | typeof NOT_CONSIDERED;
export const NOT_CONSIDERED = 'not_considered';
export const NOT_CONSIDERED_WORDS = 'nothing that starts it has come since it was switched on';
