import type { Predicate, PropertyTest } from '../../base/predicate/index.ts';

/**
 * When a letter should be written. A definition is immutable once stored (a change makes a new version); whether the rule
 * is on, its mode and its deadline belong to the rule itself.
 */
export type Rule = {
  id: string;
  name: string;
  version: number;
  /** `draft`: every letter waits for a person. */
  mode: 'draft' | 'autopilot';
  /** How long after its making an untouched draft leaves by itself; null: as the project has it. */
  deadlineMs: number | null;
  /** Null while the rule is off. Milliseconds. */
  enabledAt: number | null;
  /** When it last lost its autopilot by what its letters caused, and why; null: it never did. */
  demotedAt: number | null;
  demotedWhy: string | null;
};

export type RuleVersion = { version: number; definition: Definition };

export type Definition = {
  /** Any of them has the rule considered. */
  when: Trigger[];
  /**
   * What the rule is about, if that is one thing at a time: the newest `event` of a person that none of `until` followed,
   * such as the trial that they are in. A newer one takes the place of the old one, whose run ends.
   */
  about: { event: string; until: string[] } | null;
  onlyIf: Predicate | null;
  entry: Entry;
  exits: { events: string[]; when: Predicate | null; onReply: boolean };
  /** An exit that counts as a success for so long after the entry: see GOAL_WITHIN_MS. */
  goal: Predicate | null;
  maxEventAgeMs: number;
  /** The higher one gets the slot where a cap leaves one for two. */
  priority: number;
  /** Of a hundred people, so many get no letter, to compare with. */
  holdoutPercent: number;
  /** Whether its letters count for the frequency caps. */
  counts: boolean;
  /** What its letters are about, so that who wants none of that gets none; null: of no topic. */
  topic: string | null;
  /** Whether it is heard that its letters are opened and clicked, where the project tracks that. */
  tracking: boolean;
  /** How long after its first deadline a draft is still worth sending. */
  expiresAfterMs: number;
  steps: Step[];
};

export type Trigger =
  /** `endsInDays`: a property that says in how many days the occasion is over; no letter of it leaves after that. */
  | { kind: 'event'; event: string; where: PropertyTest[]; endsInDays: string | null }
  | { kind: 'audience'; audienceId: string; move: 'joined' | 'left' }
  /**
   * At a distance from an event or, with `plusDays`, from the moment so many days later as that property of it says. What
   * comes before such a moment comes at once if less is left, and never after it.
   */
  | {
      kind: 'relative';
      event: string;
      where: PropertyTest[];
      plusDays: string | null;
      side: 'before' | 'after';
      ms: number;
    }
  /** At a distance from the moment that a trait tells. */
  | { kind: 'date'; trait: string; side: 'before' | 'after'; ms: number }
  /** So long after `since`, if none of these came after it. */
  | { kind: 'absence'; since: string; where: PropertyTest[]; of: string[]; ms: number };

export type Entry =
  | { kind: 'once' }
  /** Once for each set of values of these properties of the event; one that is missing is a value too. */
  | { kind: 'once_per'; properties: string[] }
  /** Once for each thing that the rule is about; where there is none, not within this time of such another. */
  | { kind: 'once_per_about'; otherwiseMs: number }
  | { kind: 'one_at_a_time' }
  /** Not within this time of the last; once more within it for whoever first passes `again`. */
  | { kind: 'cooldown'; ms: number; properties: string[]; again: PropertyTest | null };

export type Step =
  | { kind: 'draft'; letter: Letter }
  | { kind: 'wait'; ms: number }
  /** In the person's zone. Monday is 1; `at` is `09:00`. */
  | { kind: 'wait_until'; weekdays: number[]; at: string }
  | {
      kind: 'wait_for';
      event: string;
      where: PropertyTest[];
      timeoutMs: number;
      then: Step[];
      otherwise: Step[];
    }
  | { kind: 'branch'; if: Predicate; then: Step[]; otherwise: Step[] }
  | { kind: 'end' };

/** A letter that has a name of its own, or one that belongs to this step alone. */
export type Letter = { name: string } | LetterText;
export type LetterText = { subject: string; preheader: string; body: string };

/** What started the consideration: an event, a join or a leave, or the date in a trait. */
export type Anchor = {
  kind: 'event' | 'audience' | 'date';
  /** Of the event, of the audience; the trait's name. */
  id: string;
  /** Of the event; of the audience; the trait's name. */
  name: string;
  /** Of the event; empty for the others. */
  properties: Record<string, unknown>;
  /** Milliseconds. */
  occurredAt: number;
  acceptedAt: number;
  /** Its place in the order of acceptance; null where it has none. */
  seq: number | null;
};

/** Why a rule that was considered for a person fired, or the first gate that said no. */
export const REASONS = {
  fired: 'a run started',
  starts_later: 'the run starts at a later time',
  bulk_request: 'the audience or the date changed in a bulk request, which starts no runs',
  definition_change: 'the audience changed because its definition was edited, which starts no runs',
  rule_off: 'the rule was disabled',
  filter: 'the event does not match the property filter',
  suppressed: 'triggers were suppressed for this user when the record was accepted',
  before_enable: 'the record was accepted before the rule was enabled',
  too_old: 'the event is older than the rule allows',
  superseded: 'its trial, card or other item was replaced or has ended',
  date_passed: 'the run had to start before a date that has passed',
  not_absent: 'the event that must be absent occurred',
  only_if: 'the condition does not hold',
  exit_condition: 'an exit condition or the goal already holds',
  already_entered: 'the user was already enrolled with the same key',
  in_cooldown: 'the user was enrolled within the cooldown',
  in_progress: 'the user is still in a run of this rule',
  left_audience: 'the user left the audience before the enrollment reached them',
  no_address: 'an enrollment found no email address for this user',
  address_suppressed: 'an enrollment found this user or their address on the suppression list',
  topic_unsubscribed: 'an enrollment found that this user unsubscribed from the topic of the rule',
  run_limit: 'the user already has the maximum number of active runs',
  holdout: 'the user is in the holdout group',
} as const;
export type Reason = keyof typeof REASONS;

export const GOAL_WITHIN_MS = 14 * 86_400_000;
