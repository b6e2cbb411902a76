import type { SuppressionReason } from '../../packages/server/src/modules/sending/suppressions/suppression.ts';
import { type Reason, REASONS } from '../../packages/server/src/modules/rules/definitions/rule.ts';
import type { GateReason } from '../../packages/server/src/modules/delivery/gate/gate.ts';
import { DRAFT_WORDS, GATE_WORDS } from '../../packages/server/src/modules/explain/reason-sentences.ts';
import { tableOf } from './table.ts';

/** Every reason of the product with its meaning and the action to take. A reason without an action does not compile. */
export function ruleReasons(): string {
  return reasonTable(REASONS, RULE_ADVICE);
}

export function gateReasons(): string {
  return reasonTable(GATE_WORDS, GATE_ADVICE);
}

export function draftReasons(): string {
  return reasonTable(DRAFT_WORDS, DRAFT_ADVICE);
}

export function suppressionReasons(): string {
  const rows = Object.entries(SUPPRESSION_ADVICE).map(([reason, [cause, lifted]]) => [
    `\`${reason}\``,
    cause,
    lifted,
  ]);
  return tableOf(['Reason', 'Cause', 'Ends when'], rows);
}

function reasonTable<R extends string>(words: Record<R, string>, advice: Record<R, string>): string {
  const reasons = Object.keys(words) as R[];
  return tableOf(
    ['Reason', 'Meaning', 'Action'],
    reasons.map((reason) => [`\`${reason}\``, words[reason], advice[reason]]),
  );
}

const NOTHING = 'No action needed.';

const RULE_ADVICE: Record<Reason, string> = {
  fired: 'Look at the draft. The tables below list what can hold it.',
  starts_later: 'Wait. `beckon explain` shows the time.',
  bulk_request: 'Send these users one by one if rules have to fire.',
  definition_change: 'No action needed. A changed definition is not an action of the user.',
  rule_off: '`beckon rules enable`. Events that arrived while the rule was disabled start nothing later.',
  filter:
    'Compare the property that `beckon explain` shows with the rule’s `where`. Types matter: `"80"` is not `80`.',
  suppressed:
    'It was part of an import (`suppressTriggers`). The next normal event of this user ends that for later records.',
  before_enable:
    'No action needed. A rule does not apply to the past. `beckon rules backtest` shows who would have been enrolled.',
  too_old: 'Send events as they happen, or raise the rule’s `max_event_age`.',
  superseded: NOTHING,
  date_passed: 'Send the event earlier, or start the rule longer before the date.',
  not_absent: 'No action needed. The user did what the email would have asked for.',
  only_if: 'See `would pass if` in `beckon explain`. It shows the condition part by part.',
  exit_condition: 'See `beckon explain` for the exit condition or goal that holds.',
  already_entered: 'No action needed, or change the rule’s `enrollment`, for example to a cooldown.',
  in_cooldown: 'Wait, or shorten the cooldown in the rule’s `enrollment`.',
  in_progress: 'No action needed. The user gets the emails of the current run.',
  left_audience: 'No action needed. If the user enters the audience again, the rule starts by entering.',
  no_address: 'Send the address of this user, and start another enrollment.',
  address_suppressed: 'No action needed, or lift the suppression and start another enrollment.',
  topic_unsubscribed: 'No action needed. This user does not want emails about the topic of the rule.',
  run_limit:
    'See the user’s active runs in `beckon users show`. One of their rules may lack an exit condition.',
  holdout: 'No action needed. `beckon insights` compares this group with the users who got emails.',
};

const GATE_ADVICE: Record<GateReason, string> = {
  restore_unconfirmed:
    '`beckon-server restore status`, then `beckon-server confirm-restore`. See [backup and restore](backup.md).',
  paused: '`beckon resume`. It first shows what would be sent.',
  rule_off: '`beckon rules enable`.',
  suppressed: 'See the last table for the source of the suppression and who can lift it.',
  topic_unsubscribed:
    'No action needed. It is the user’s choice, and they can change it on their email preferences page.',
  no_address: 'Send the user with an `email`. The draft then continues automatically.',
  domain_not_ready: '`beckon domains check`, then publish the records that it names.',
  no_sender: '`beckon settings set from_address=…`, and add the domain of that address.',
  public_url: 'Set `PUBLIC_URL` to an address that recipients can open, and restart the server.',
  quiet_hours:
    'Wait. `beckon explain` shows until when. `beckon settings set quiet_hours=…` changes them for all users. Without a relay, the default quiet hours hold no email.',
  frequency_cap: 'Wait, or raise the caps. `beckon policy simulate` previews the effect.',
  frequency_cap_yielded: 'Wait. The other email has the higher priority or the earlier deadline.',
  throttle: 'Wait, or raise `throttle`.',
  domain_throttle: 'Wait, or `beckon domains set --throttle …`.',
  provider_throttle: 'Wait. The rate rises again as the provider accepts emails.',
  warmup:
    'Wait until tomorrow, or `beckon domains set --skip-warmup` if the domain has sent such amounts before.',
};

const DRAFT_ADVICE: Record<keyof typeof DRAFT_WORDS, string> = {
  claimed: NOTHING,
  email_suppressed: 'As `suppressed` above.',
  email_rule_off: 'As `rule_off` above.',
  expired:
    'See in `beckon drafts show` what held it until then. `expires_after` of the rule says how long an email is worth sending.',
  rule_no_longer_holds: 'No action needed. The condition held when the draft was created, and not later.',
  exit_condition: NOTHING,
  needs_review: 'Open it in Review. Approve it as it is, or skip it.',
  facts_changed: 'Review it again. It was rendered again with the current facts.',
  missing_variable: 'Fill in the value in Review, send the trait, or give the template a `default`.',
  render_failed:
    'Edit the draft, or publish a template with simpler loops, comparisons or nested blocks. See [rendering limits](../reference/emails.md#rendering-limits).',
  replied: 'Read the reply. An edited or approved draft waits for you, and all others are canceled.',
  postponed: 'Wait until the chosen time, or approve it.',
  skipped: NOTHING,
  deferred: 'Wait. Beckon retries the same email for a day.',
  bounced: 'Ask the user for another address. Beckon suppresses this one if it does not exist.',
  rejected: 'Read the server’s reply in `beckon drafts show`. It usually says what to change.',
  relay_unreachable:
    'Check the relay: `beckon-server doctor` tests that of `SMTP_URL`, and `beckon relays test` any other. Emails wait until then.',
  relay_rejected:
    'Read its reply in `beckon drafts show`. The usual causes are the password, the sender, an account limit, or a blocked IP address of this server.',
  relay_failing: 'Ask the operator of the relay. No user was suppressed.',
  address_changed: 'No action needed. The next email goes to the new address.',
  not_composed:
    'Check the template with `beckon templates preview --user …`. `beckon drafts show` names the problem.',
  restored: 'Check whether it arrived. Then approve it, or skip it.',
  possibly_sent: 'As `lost`.',
  lost: 'Its state is `unknown`. Check whether it arrived, then `beckon drafts send-again` or leave it. It is never resent automatically. Resend and Brevo are [asked](../reference/relay-providers.md#the-same-request-again) first.',
  window_closed: 'As `lost`.',
  database_restored: 'As `lost`.',
  relay_deleted: 'As `lost`.',
  relay_changed: 'As `lost`.',
  suspended: 'As `lost`.',
  sent_again: NOTHING,
  bytes_deleted: 'As `lost`.',
  already_received: 'Wait until Brevo reports the delivery. The webhook of the relay must be set up.',
  repeat_refused: 'As `lost`.',
  editing: 'Close the editor. After ten minutes without input, the draft continues automatically.',
  erased: NOTHING,
  scheduled: 'Wait for its deadline, or approve it.',
  approved: NOTHING,
};

const SUPPRESSION_ADVICE: Record<SuppressionReason, [happened: string, ends: string]> = {
  unsubscribed: [
    'The user unsubscribed by link, one click or email.',
    'The user subscribes again on the email preferences page. A member can do it too, with the user’s consent.',
  ],
  complained: ['The user reported an email as spam.', 'As `unsubscribed`.'],
  manual: ['A member added it.', '`beckon suppressions remove`.'],
  hard_bounce: [
    'The address does not exist.',
    'The user gets a new address. An open, click or reply lifts it, and so does `beckon suppressions remove`.',
  ],
  soft_bounces: [
    'Five emails in a row bounced, over at least three days.',
    'Automatically after 30 days, or as `hard_bounce`.',
  ],
  snoozed: ['The user takes a break.', 'At the end of the break, or when the user ends it.'],
};
