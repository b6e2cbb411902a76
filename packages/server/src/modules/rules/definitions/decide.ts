import { iso } from '../../../platform/time/clock.ts';
import { sha256 } from '../../../platform/crypto/hash.ts';
import { matchesWhere } from '../../../platform/predicate/compare.ts';
import {
  type Anchor,
  type Definition,
  type Newest,
  type Reason,
  type Rule,
  subjectOf,
  type Trigger,
} from './rule.ts';
import { entersOnce, type EntryRow, type EntryWish, entryWish, refusesEntry } from './entries.ts';
import { daysAfter, isOfEach, isTimed, type Moment, momentOf } from './timers.ts';

/** A trigger of a rule that matched for a user. Processing, timers, explain, backtest and enrollments all call `decide`. */
export type TriggerMatch = {
  rule: Pick<Rule, 'id' | 'enabledAt'> & { definition: Definition };
  trigger: Trigger;
  anchor: Anchor;
  /**
   * `due`: the time of a timed trigger has come. `bulk`: a bulk user request, which starts no runs immediately. `enrollment`: the user is
   * in the audience already, and a member enrolls such users.
   */
  by: 'record' | 'due' | 'bulk' | 'enrollment';
  /** Set only by an enrollment. */
  enrollment?: EnrollmentFacts;
};

/** Facts that only an enrollment checks. Times are milliseconds. */
export type EnrollmentFacts = {
  /** When the user joined the audience. */
  since: number;
  /** When the user last started a run of this rule, including ended ones. */
  lastRunAt: number | null;
  /** Why no email can reach the user now. */
  unreachable: Extract<Reason, 'no_address' | 'address_suppressed' | 'topic_unsubscribed'> | null;
};

export type DecisionFacts = {
  projectId: number;
  userId: string;
  isSuppressed: boolean;
  /** The last suppression in order of acceptance. */
  suppressedSeq: number | null;
  /** The first normal event after the suppression, which lifted it. */
  liveSeq: number | null;
  newest: Newest;
  /** Returns the current date in a trait. */
  date: (trait: string) => number | null;
  onlyIf: () => boolean;
  /** Returns whether the exit condition or the goal of the rule already holds. */
  isOut: () => boolean;
  entry: (key: string) => EntryRow | undefined;
  isInRun: () => boolean;
  /** Returns the number of active runs of the user, across all rules. */
  openRuns: () => number;
};

export type EnrollmentDecision = {
  reason: Reason;
  wish: EntryWish;
  /** No email of the run is sent after this. */
  endsAt: number | null;
  /** The time for which a timer has to be set. */
  timerAt: number | null;
  detail: Record<string, unknown>;
};

/**
 * Decides whether the rule fires for this user, or names the first check that refuses. It changes nothing: the caller writes the entry and
 * starts the run.
 */
export function decide(match: TriggerMatch, person: DecisionFacts, now: number): EnrollmentDecision {
  const { rule, anchor, trigger, by } = match;
  const subject = subjectOf(rule.definition, person.newest);
  // A record counts at the time when it was accepted, however late it is processed.
  const at = by === 'due' ? now : anchor.acceptedAt;
  const wish = entryWish(rule.definition, { anchor, subjectId: subject?.id ?? null, at });
  const moment = isTimed(trigger) ? momentOf(trigger, anchor) : null;
  const evaluation: Evaluation = { ...match, person, now, wish, moment, subjectId: subject?.id ?? null };
  for (const gate of GATES) {
    const refusal = gate(evaluation);
    if (refusal) return decisionOf(evaluation, refusal);
  }
  return decisionOf(evaluation, { reason: isHeldOut(rule, person) ? 'holdout' : 'fired' });
}

type Evaluation = TriggerMatch & {
  person: DecisionFacts;
  now: number;
  wish: EntryWish;
  moment: Moment | null;
  subjectId: string | null;
};
type Refusal = { reason: Reason; detail?: Record<string, unknown> };
type Gate = (evaluation: Evaluation) => Refusal | null;

const GATES: Gate[] = [
  isOff,
  failsFilter,
  isBulkMove,
  isSuppressed,
  isBeforeEnable,
  isSuperseded,
  isOver,
  isAhead,
  isBulkStart,
  isTooOld,
  isPresent,
  failsOnlyIf,
  isOut,
  hasEntered,
  hasEnteredSinceJoin,
  isUnreachable,
  hasTooManyRuns,
];

function isOff({ rule }: Evaluation): Refusal | null {
  return rule.enabledAt === null ? { reason: 'rule_off' } : null;
}

function failsFilter({ trigger, anchor, moment, by }: Evaluation): Refusal | null {
  if (isTimed(trigger) && moment === null) return { reason: 'filter', detail: { moment: null } };
  if (by === 'due' || !('where' in trigger) || matchesWhere(trigger.where, anchor.properties)) return null;
  const failing = trigger.where.find((test) => !matchesWhere([test], anchor.properties));
  if (!failing) return { reason: 'filter' };
  const { property } = failing;
  const value = Object.hasOwn(anchor.properties, property) ? anchor.properties[property] : null;
  return { reason: 'filter', detail: { property, value: brief(value) } };
}

/** Refuses joins and leaves by bulk users. A date passes, because a timer may wait for it; see `isAhead`. */
function isBulkMove({ by, anchor }: Evaluation): Refusal | null {
  return by === 'bulk' && anchor.kind !== 'date' ? { reason: 'bulk_request' } : null;
}

/** Refuses bulk users whose time is not ahead: they start no runs at once. */
function isBulkStart({ by }: Evaluation): Refusal | null {
  return by === 'bulk' ? { reason: 'bulk_request' } : null;
}

/** Refuses while triggers are suppressed for the user, and a record from before the event that lifted the suppression. */
function isSuppressed({
  person: { isSuppressed: isSuppressedNow, suppressedSeq, liveSeq },
  anchor,
}: Evaluation): Refusal | null {
  const isBefore = suppressedSeq !== null && anchor.seq !== null && anchor.seq < (liveSeq ?? Infinity);
  return isSuppressedNow || isBefore ? { reason: 'suppressed' } : null;
}

function isBeforeEnable({ rule, anchor }: Evaluation): Refusal | null {
  return anchor.acceptedAt < (rule.enabledAt ?? 0) ? { reason: 'before_enable' } : null;
}

/** Refuses a trigger whose subject was replaced, and a date that the trait no longer has. */
function isSuperseded({ rule, trigger, anchor, subjectId, person }: Evaluation): Refusal | null {
  if (anchor.kind === 'date')
    return person.date(anchor.id) === anchor.occurredAt ? null : { reason: 'superseded' };
  const { about } = rule.definition;
  const dependsOnSubject =
    about !== null && anchor.kind === 'event' && anchor.name === about.event && isTimed(trigger);
  return dependsOnSubject && anchor.id !== subjectId ? { reason: 'superseded' } : null;
}

function isOver({ moment, now }: Evaluation): Refusal | null {
  return moment?.endsAt != null && now >= moment.endsAt
    ? { reason: 'date_passed', detail: { ended_at: iso(moment.endsAt) } }
    : null;
}

/** Waits for a later time. No timer is set for a user who can never enter the rule again, because each event would set one. */
function isAhead(evaluation: Evaluation): Refusal | null {
  const { rule, trigger, moment, now } = evaluation;
  if (moment === null || moment.at <= now) return null;
  const isForGood = isOfEach(rule.definition, trigger) && entersOnce(rule.definition);
  const refusal = isForGood ? hasEntered(evaluation) : null;
  return refusal ?? { reason: 'starts_later', detail: { at: iso(moment.at) } };
}

/** Refuses old events that would start a run immediately. A timer that was set in time is not too old when it is due. */
function isTooOld({ rule, anchor, by, moment }: Evaluation): Refusal | null {
  if (by === 'due') return null;
  if (anchor.kind === 'date') return isLongPast(rule.definition, anchor, moment);
  if (anchor.kind !== 'event') return null;
  return anchor.occurredAt < anchor.acceptedAt - rule.definition.maxEventAgeMs
    ? { reason: 'too_old', detail: { occurred_at: iso(anchor.occurredAt) } }
    : null;
}

/** Refuses a date that was long past when it was first sent. A date in the future passes, however little time is left. */
function isLongPast({ maxEventAgeMs }: Definition, anchor: Anchor, moment: Moment | null): Refusal | null {
  return moment?.endsAt === null && moment.at < anchor.acceptedAt - maxEventAgeMs
    ? { reason: 'too_old', detail: { at: iso(moment.at) } }
    : null;
}

function isPresent({ trigger, anchor, person }: Evaluation): Refusal | null {
  if (trigger.kind !== 'absence') return null;
  for (const event of trigger.of) {
    const newest = person.newest(event);
    if (newest && newest.occurredAt >= anchor.occurredAt && newest.id !== anchor.id)
      return { reason: 'not_absent', detail: { event, occurred_at: iso(newest.occurredAt) } };
  }
  return null;
}

function failsOnlyIf({ person }: Evaluation): Refusal | null {
  return person.onlyIf() ? null : { reason: 'only_if' };
}

function isOut({ person }: Evaluation): Refusal | null {
  return person.isOut() ? { reason: 'exit_condition' } : null;
}

function hasEntered({ rule, person, wish }: Evaluation): Refusal | null {
  const existing = person.entry(wish.key);
  const reason = refusesEntry(rule.definition, existing, wish);
  if (reason) return { reason, detail: { enrolled_at: iso(existing?.enrolledAt ?? 0) } };
  if (rule.definition.entry.kind !== 'one_at_a_time') return null;
  return person.isInRun() ? { reason: 'in_progress' } : null;
}

/**
 * A user who entered the rule after joining the audience is not enrolled again. This matters for rules that a user may enter several times.
 * A second enrollment would otherwise enroll the same users again as soon as their runs have ended.
 */
function hasEnteredSinceJoin({ enrollment, person, wish }: Evaluation): Refusal | null {
  if (!enrollment) return null;
  const enrolledAt = person.entry(wish.key)?.enrolledAt ?? -Infinity;
  const last = Math.max(enrollment.lastRunAt ?? -Infinity, enrolledAt);
  return last >= enrollment.since ? { reason: 'already_entered', detail: { enrolled_at: iso(last) } } : null;
}

/** After a join, an email without a recipient is drafted and then held or canceled. An enrollment would create thousands of these. */
function isUnreachable({ enrollment }: Evaluation): Refusal | null {
  return enrollment?.unreachable ? { reason: enrollment.unreachable } : null;
}

/** Bounds the active runs of one user. Each event could otherwise start one more run with a waiting draft. */
const OPEN_RUNS_MAX = 100;

function hasTooManyRuns({ person }: Evaluation): Refusal | null {
  const open = person.openRuns();
  return open < OPEN_RUNS_MAX ? null : { reason: 'run_limit', detail: { runs: open } };
}

function decisionOf(evaluation: Evaluation, { reason, detail = {} }: Refusal): EnrollmentDecision {
  const { anchor, trigger, wish, moment } = evaluation;
  return {
    reason,
    wish,
    endsAt: moment ? moment.endsAt : endsInDays(trigger, anchor),
    timerAt: reason === 'starts_later' && moment ? moment.at : null,
    detail: {
      ...startedBy(anchor),
      ...(evaluation.by === 'enrollment' ? { by: 'enrollment' } : {}),
      ...detail,
    },
  };
}

function endsInDays(trigger: Trigger, anchor: Anchor): number | null {
  return trigger.kind === 'event' && trigger.endsInDays !== null
    ? daysAfter(anchor, trigger.endsInDays)
    : null;
}

function startedBy({ kind, id, name }: Anchor): Record<string, unknown> {
  if (kind === 'event') return { event: name, event_id: id };
  return kind === 'audience' ? { audience_id: id } : { trait: name };
}

/** Always selects the same users of a rule, and different users for each rule. */
function isHeldOut(
  { id, definition }: TriggerMatch['rule'],
  { projectId, userId }: Pick<DecisionFacts, 'projectId' | 'userId'>,
): boolean {
  if (definition.holdoutPercent === 0) return false;
  const drawn = Number.parseInt(sha256(JSON.stringify([projectId, id, userId])).slice(0, 8), 16);
  return drawn / 0x1_0000_0000 < definition.holdoutPercent / 100;
}

/** A suppressed match uses up the entry of a rule that enrolls each user once: an imported sign-up gets no welcome later. */
export function burnsEntry({ entry }: Pick<Definition, 'entry'>, reason: Reason): boolean {
  return reason === 'suppressed' && entry.kind === 'once';
}

const VALUE_SHOWN_CHARS = 200;

function brief(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'object') return value;
  const text = JSON.stringify(value);
  // The cut may split a surrogate pair, and PostgreSQL does not store half of one.
  return text.length <= VALUE_SHOWN_CHARS ? value : `${text.slice(0, VALUE_SHOWN_CHARS).toWellFormed()}…`;
}
