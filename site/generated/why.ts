import type { SuppressionReason } from '../../packages/server/src/features/suppressions/index.ts';
import { type Reason, REASONS } from '../../packages/server/src/features/rules/index.ts';
import type { GateReason } from '../../packages/server/src/features/sending/index.ts';
import { DRAFT_WORDS, GATE_WORDS } from '../../packages/server/src/flows/explain/words.ts';
import { tableOf } from './table.ts';

/** Every reason that the program can give, with its own words for it, and what to do. A reason without an advice does not compile. */
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
  const rows = Object.entries(SUPPRESSION_ADVICE).map(([reason, [who, lifted]]) => [
    `\`${reason}\``,
    who,
    lifted,
  ]);
  return tableOf(['reason', 'what happened', 'how it ends'], rows);
}

function reasonTable<R extends string>(words: Record<R, string>, advice: Record<R, string>): string {
  const reasons = Object.keys(words) as R[];
  return tableOf(
    ['reason', 'what it says', 'what to do'],
    reasons.map((reason) => [`\`${reason}\``, words[reason], advice[reason]]),
  );
}

const NOTHING = 'Nothing: it is as it should be.';

const RULE_ADVICE: Record<Reason, string> = {
  fired: 'Look at the draft: the tables below say what may hold it.',
  armed: 'Wait: `explain` names the moment.',
  bulk: 'Nothing: users who come by the bulk endpoint start no letters. Send them one by one to have rules fire.',
  definition_change: 'Nothing: a changed definition is no act of the person.',
  rule_off: '`rule enable`. What came while it was off starts nothing later.',
  filter:
    'Compare the property that `explain` names with the rule’s `where`; the type counts too: `"80"` is not `80`.',
  suppressed:
    'It was part of an import (`suppressTriggers`). The next normal event of this person lifts that, for what comes after it.',
  before_enable: 'Nothing: a rule does not look back. `rule backtest` shows whom it would have reached.',
  too_old: 'Send events as they happen, or raise the rule’s `max_event_age`.',
  superseded: NOTHING,
  over: 'Send the event earlier, or have the rule begin further ahead of the end.',
  not_absent: 'Nothing: they did what the letter would have asked for.',
  only_if: 'See `would pass if` in `explain`: the condition on the person, part by part.',
  exit: 'See `explain`: which exit or goal holds already.',
  already_entered: 'Nothing, or give the rule another `entry`, such as a cooldown.',
  in_cooldown: 'Wait, or shorten the cooldown of the rule’s `entry`.',
  in_progress: 'Nothing: they get the letters of the run that they are in.',
  crowded: 'See which rules have this person under way (`user show`); an exit may be missing in one of them.',
  holdout: 'Nothing: `insights` compares them with those who got letters.',
};

const GATE_ADVICE: Record<GateReason, string> = {
  restore_unconfirmed: '`restore status`, then `restore confirm`: see [Backups](backup.md).',
  paused: '`resume`, which first shows what would leave.',
  rule_off: '`rule enable`.',
  suppressed: 'See the table below: who said so, and who can lift it.',
  topic: 'Nothing: they chose so. The link in each letter lets them choose anew.',
  no_address: 'Send the user with an `email`; the letter then goes on by itself.',
  domain: '`domain check`, and publish what it names.',
  no_sender: '`settings set from_address=…`, and add the domain of that address.',
  public_url: 'Set `PUBLIC_URL` to an address that readers can open, and start the server again.',
  quiet_hours: 'Wait: `explain` says until when. `settings set quiet_hours=…` changes them for all.',
  cap: 'Wait, or raise the caps; `policy simulate` shows beforehand what that would do.',
  cap_yielded: 'Wait: the other letter has the higher priority or the earlier deadline.',
  throttle: 'Wait, or raise `throttle`.',
  domain_throttle: 'Wait, or `domain set --throttle …`.',
  provider_throttle: 'Wait: it lifts by itself as letters are taken again.',
  ramp: 'Wait for tomorrow, or `domain set --warm` where the domain has sent in such amounts before.',
};

const DRAFT_ADVICE: Record<keyof typeof DRAFT_WORDS, string> = {
  claimed: NOTHING,
  letter_suppressed: 'As `suppressed` above.',
  letter_rule_off: 'As `rule_off` above.',
  expired:
    'Look at what held it until then (`draft show`); `expires_after` of the rule says how long a letter is worth sending.',
  rule_no_longer_holds: 'Nothing: it was true when it was written, and is not any more.',
  exit_condition: NOTHING,
  needs_review: 'Look at it in Review: approve it as it is, or skip it.',
  facts_changed: 'Look at it again: it was written anew, by the facts of now.',
  missing_variable: 'Fill the gap in Review, send the trait, or give the letter a `default`.',
  render_failed:
    'Edit the draft, or publish a template with simpler loops, comparisons or nested blocks. See [rendering limits](../reference/emails.md#rendering-limits).',
  replied: 'Read the answer; an edited or approved letter waits for your word, others are cancelled.',
  snoozed: 'Wait for the moment that was chosen, or approve it.',
  skipped: NOTHING,
  deferred: 'Wait: it is tried again for a day, the same letter each time.',
  bounced: 'Ask the person for another address; this one is suppressed where it is no good.',
  refused: 'Read the words of the refusal in `draft show`; they mostly say what to change.',
  relay_away: 'Look at the relay and `SMTP_URL`; `doctor` tries both. Letters wait meanwhile.',
  relay_refused:
    "Read its words in `draft show`: mostly the password, the sender, a limit of your account, or that it takes nothing from this server's address.",
  relay_trouble: 'Ask whoever runs the relay; nobody was suppressed for it.',
  address_changed: 'Nothing: what comes next goes to the new address.',
  not_composed:
    'Look at the letter with `template preview --user …`; `draft show` says what stood in the way.',
  restored: 'Look whether it arrived, then approve it, or skip it.',
  may_have_left: 'As `lost`.',
  lost: 'It is `unknown`: look whether it arrived, then `draft send-again`, or leave it. It is never sent again by itself.',
  editing: 'Close the editor; after ten silent minutes it goes on by itself.',
  erased: NOTHING,
  scheduled: 'Wait for its deadline, or approve it.',
  approved: NOTHING,
};

const SUPPRESSION_ADVICE: Record<SuppressionReason, [happened: string, ends: string]> = {
  unsubscribed: [
    'They unsubscribed, by a link, one click or mail.',
    'They subscribe again on that page. A person of your team can, too, and should be asked to.',
  ],
  complained: ['They called a letter spam.', 'As `unsubscribed`.'],
  manual: ['Somebody of the team said so.', '`suppression remove`.'],
  hard_bounce: [
    'The address does not exist.',
    'A new address; an open, click or answer lifts it, or `suppression remove`.',
  ],
  soft_bounces: [
    'Five letters in a row came back, over three days or more.',
    'By itself after 30 days, or as `hard_bounce`.',
  ],
  snoozed: ['They asked for a break.', 'At the end of the break, or when they end it.'],
};
