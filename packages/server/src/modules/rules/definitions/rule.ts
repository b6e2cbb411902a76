import type { Predicate, PropertyTest } from '../../../platform/predicate/predicate.ts';

/**
 * Decides when an email is drafted. A stored definition is immutable: a change creates a new version. The state, mode and deadline belong
 * to the rule itself.
 */
export type Rule = {
  id: string;
  name: string;
  version: number;
  /** `draft`: every email waits for approval by a member. */
  mode: 'draft' | 'autopilot';
  /** How long after its creation an untouched draft is sent automatically. Null: the project's deadline applies. */
  deadlineMs: number | null;
  /** In milliseconds. Null while the rule is disabled. */
  enabledAt: number | null;
  /** When and why the rule last lost autopilot because of outcomes of its emails. Null: it never did. */
  demotedAt: number | null;
  demotedReason: string | null;
};

export type RuleVersion = { version: number; definition: Definition };

export type Definition = {
  /** The rule is evaluated when any of these triggers matches. */
  when: Trigger[];
  /**
   * The subject of a rule that is about one thing at a time, such as the current trial. It is the user's newest `event` that no `until`
   * event followed. A newer one replaces it and ends its run.
   */
  about: { event: string; until: string[] } | null;
  onlyIf: Predicate | null;
  entry: EnrollmentLimit;
  exits: { events: string[]; when: Predicate | null; onReply: boolean };
  /** An exit that counts as a success for some time after the entry; see GOAL_WITHIN_MS. */
  goal: Predicate | null;
  maxEventAgeMs: number;
  /** If a cap leaves one slot for two emails, the higher priority gets it. */
  priority: number;
  /** The percentage of users who get no email, for comparison. */
  holdoutPercent: number;
  /** Its emails count towards the frequency caps. */
  counts: boolean;
  /** The topic of its emails, from which users can unsubscribe. Null: no topic. */
  topic: string | null;
  /** Opens and clicks of its emails are tracked, if the project tracks them. */
  tracking: boolean;
  /** How long after its first deadline a draft is still worth sending. */
  expiresAfterMs: number;
  steps: Step[];
};

export type Trigger =
  /** `endsInDays` names a property with the number of days until the occasion ends. No email of it is sent after that. */
  | { kind: 'event'; event: string; where: PropertyTest[]; endsInDays: string | null }
  | { kind: 'audience'; audienceId: string; move: 'joined' | 'left' }
  /**
   * At a distance from an event. With `plusDays`, the distance is from the time that many days later, as that property of the event says.
   * If less time is left before such a time, the rule fires immediately, but never after it.
   */
  | {
      kind: 'relative';
      event: string;
      where: PropertyTest[];
      plusDays: string | null;
      side: 'before' | 'after';
      ms: number;
    }
  /** At a distance from the time in a trait. */
  | { kind: 'date'; trait: string; side: 'before' | 'after'; ms: number }
  /** This long after `since`, if none of these events came after it. */
  | { kind: 'absence'; since: string; where: PropertyTest[]; of: string[]; ms: number };

export type EnrollmentLimit =
  | { kind: 'once' }
  /** Once per set of values of these event properties. A missing property counts as a value. */
  | { kind: 'once_per'; properties: string[] }
  /** Once per subject of the rule. Without a subject, not within this time of the last such entry. */
  | { kind: 'once_per_about'; otherwiseMs: number }
  | { kind: 'one_at_a_time' }
  /** Not within this time of the last entry. A user who first passes `again` may enter once more within it. */
  | { kind: 'cooldown'; ms: number; properties: string[]; again: PropertyTest | null };

export type Step =
  | { kind: 'draft'; email: StepEmail }
  | { kind: 'wait'; ms: number }
  /** In the user's time zone. Monday is 1, and `at` has the form `09:00`. */
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

/** An email with its own name, or one that belongs to this step only. */
export type StepEmail = { name: string } | StepEmailText;
export type StepEmailText = { subject: string; preheader: string; body: string };

/** The fact that started the evaluation: an event, a join or leave of an audience, or the date in a trait. */
export type Anchor = {
  kind: 'event' | 'audience' | 'date';
  /** The id of the event or the audience, or the name of the trait. */
  id: string;
  /** The name of the event, the audience or the trait. */
  name: string;
  /** The properties of the event; empty for the other kinds. */
  properties: Record<string, unknown>;
  /** In milliseconds. */
  occurredAt: number;
  acceptedAt: number;
  /** Its position in the order of acceptance, or null if it has none. */
  seq: number | null;
};

/** Why an evaluated rule fired for a user, or the first check that refused. */
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

/**
 * Returns the time after which an untouched draft is sent automatically; null if only a member sends it. The project's setting takes
 * precedence over the rule's.
 */
export function autopilotPeriod(
  { mode, deadlineMs }: Pick<Rule, 'mode' | 'deadlineMs'>,
  ofProject: number | null,
): number | null {
  return ofProject === null || mode !== 'autopilot' ? null : (deadlineMs ?? ofProject);
}

/** An event of a user, with the fields that subjects of rules depend on. Times are in milliseconds. */
type Occurrence = {
  id: string;
  occurredAt: number;
  acceptedAt: number;
  seq: number;
  properties: Record<string, unknown>;
};

/** Returns the newest occurrence of an event of one user, by the time when it occurred. */
export type Newest = (event: string) => Occurrence | undefined;

/** Returns the current subject of the rule for this user. Null: there is no subject, or an `until` event ended it. */
export function subjectOf({ about }: Pick<Definition, 'about'>, newest: Newest): Occurrence | null {
  if (!about) return null;
  const subject = newest(about.event);
  if (!subject) return null;
  const isOver = about.until.some((event) => (newest(event)?.occurredAt ?? -Infinity) >= subject.occurredAt);
  return isOver ? null : subject;
}

/** Returns the events that have to be looked up before a rule can be decided. */
export function eventsLookedUp({ about, when }: Pick<Definition, 'about' | 'when'>): Set<string> {
  const names = new Set<string>();
  if (about) for (const name of [about.event, ...about.until]) names.add(name);
  for (const trigger of when) if (trigger.kind === 'absence') for (const name of trigger.of) names.add(name);
  return names;
}
