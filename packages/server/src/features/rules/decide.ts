import { sha256 } from '../../base/hash.ts';
import { matchesWhere } from '../../base/predicate/index.ts';
import { type Newest, subjectOf } from './about.ts';
import { entersOnce, type EntryRow, type EntryWish, entryWish, refusesEntry } from './entry.ts';
import { daysAfter, isOfEach, isTimed, type Moment, momentOf } from './moment.ts';
import type { Anchor, Definition, Reason, Rule, Trigger } from './rule.ts';

/** A rule whose trigger was hit for a person. Digest, timer, explainer and backtest all ask `decide`. */
export type Considered = {
  rule: Pick<Rule, 'id' | 'enabledAt'> & { definition: Definition };
  trigger: Trigger;
  anchor: Anchor;
  /**
   * `due`: the moment of a timed trigger has come. `bulk`: users of the bulk lane, who start nothing at once. `enrollment`: the
   * user is in the audience already, and a member of the team enrolls those who are.
   */
  by: 'record' | 'due' | 'bulk' | 'enrollment';
  /** Given only by an enrollment. */
  enrollment?: EnrollmentFacts;
};

/** Facts that only an enrollment checks. Times are milliseconds. */
export type EnrollmentFacts = {
  /** When the user joined the audience. */
  since: number;
  /** When the user last started a run of this rule, including ended ones. */
  lastRunAt: number | null;
  /** Why no email can reach the user now. */
  unreachable: Extract<Reason, 'no_address' | 'address_suppressed' | 'topic_refused'> | null;
};

export type PersonFacts = {
  projectId: number;
  userId: string;
  isSuppressed: boolean;
  /** The last suppression in the order of acceptance. */
  suppressedSeq: number | null;
  /** The first normal event behind it, which lifted it. */
  liveSeq: number | null;
  newest: Newest;
  /** The moment that a trait tells now. */
  date: (trait: string) => number | null;
  onlyIf: () => boolean;
  /** Whether the exit condition or the goal of the rule already holds. */
  isOut: () => boolean;
  entry: (key: string) => EntryRow | undefined;
  isInRun: () => boolean;
  /** In how many runs the person is, of any rule. */
  openRuns: () => number;
};

export type Decided = {
  reason: Reason;
  wish: EntryWish;
  /** After which no letter of it leaves. */
  endsAt: number | null;
  /** When a timer is to be set. */
  armAt: number | null;
  detail: Record<string, unknown>;
};

/**
 * Whether the rule fires for this person, or the first gate that refuses. It changes nothing; whoever asked writes the entry
 * and begins the run.
 */
export function decide(considered: Considered, person: PersonFacts, now: number): Decided {
  const { rule, anchor, trigger, by } = considered;
  const subject = subjectOf(rule.definition, person.newest);
  // By a record when it was accepted, however late it is digested.
  const at = by === 'due' ? now : anchor.acceptedAt;
  const wish = entryWish(rule.definition, { anchor, subjectId: subject?.id ?? null, at });
  const moment = isTimed(trigger) ? momentOf(trigger, anchor) : null;
  const asked: Asked = { ...considered, person, now, wish, moment, subjectId: subject?.id ?? null };
  for (const gate of GATES) {
    const refusal = gate(asked);
    if (refusal) return decided(asked, refusal);
  }
  return decided(asked, { reason: isHeldOut(rule, person) ? 'holdout' : 'fired' });
}

type Asked = Considered & {
  person: PersonFacts;
  now: number;
  wish: EntryWish;
  moment: Moment | null;
  subjectId: string | null;
};
type Refusal = { reason: Reason; detail?: Record<string, unknown> };
type Gate = (asked: Asked) => Refusal | null;

const GATES: Gate[] = [
  isOff,
  failsFilter,
  isNoMove,
  isSuppressed,
  isBeforeEnable,
  isSuperseded,
  isOver,
  isAhead,
  isNoDate,
  isTooOld,
  isPresent,
  failsOnlyIf,
  isOut,
  hasEntered,
  hasEnteredSinceJoin,
  isUnreachable,
  isCrowded,
];

function isOff({ rule }: Asked): Refusal | null {
  return rule.enabledAt === null ? { reason: 'rule_off' } : null;
}

function failsFilter({ trigger, anchor, moment, by }: Asked): Refusal | null {
  if (isTimed(trigger) && moment === null) return { reason: 'filter', detail: { moment: null } };
  if (by === 'due' || !('where' in trigger) || matchesWhere(trigger.where, anchor.properties)) return null;
  const failing = trigger.where.find((test) => !matchesWhere([test], anchor.properties));
  if (!failing) return { reason: 'filter' };
  const { property } = failing;
  const value = Object.hasOwn(anchor.properties, property) ? anchor.properties[property] : null;
  return { reason: 'filter', detail: { property, value: brief(value) } };
}

/** A date is one that a timer may wait for, see `isAhead`. */
function isNoMove({ by, anchor }: Asked): Refusal | null {
  return by === 'bulk' && anchor.kind !== 'date' ? { reason: 'bulk' } : null;
}

function isNoDate({ by }: Asked): Refusal | null {
  return by === 'bulk' ? { reason: 'bulk' } : null;
}

/** What started it must not have been accepted before the event that lifted the suppression, and none may stand now. */
function isSuppressed({
  person: { isSuppressed: stands, suppressedSeq, liveSeq },
  anchor,
}: Asked): Refusal | null {
  const isBefore = suppressedSeq !== null && anchor.seq !== null && anchor.seq < (liveSeq ?? Infinity);
  return stands || isBefore ? { reason: 'suppressed' } : null;
}

function isBeforeEnable({ rule, anchor }: Asked): Refusal | null {
  return anchor.acceptedAt < (rule.enabledAt ?? 0) ? { reason: 'before_enable' } : null;
}

/** A trigger that hangs on what the rule is about needs that to be still the present one, and a date to be told still. */
function isSuperseded({ rule, trigger, anchor, subjectId, person }: Asked): Refusal | null {
  if (anchor.kind === 'date')
    return person.date(anchor.id) === anchor.occurredAt ? null : { reason: 'superseded' };
  const { about } = rule.definition;
  const hangsOn =
    about !== null && anchor.kind === 'event' && anchor.name === about.event && isTimed(trigger);
  return hangsOn && anchor.id !== subjectId ? { reason: 'superseded' } : null;
}

function isOver({ moment, now }: Asked): Refusal | null {
  return moment?.endsAt != null && now >= moment.endsAt
    ? { reason: 'over', detail: { ended_at: isoOf(moment.endsAt) } }
    : null;
}

/** Where every event would set a timer, none is set for whoever has entered for good. */
function isAhead(asked: Asked): Refusal | null {
  const { rule, trigger, moment, now } = asked;
  if (moment === null || moment.at <= now) return null;
  const isForGood = isOfEach(rule.definition, trigger) && entersOnce(rule.definition);
  const refusal = isForGood ? hasEntered(asked) : null;
  return refusal ?? { reason: 'armed', detail: { at: isoOf(moment.at) } };
}

/** Of events that start something by themselves; a timer that was set in time is not too old when it rings. */
function isTooOld({ rule, anchor, by, moment }: Asked): Refusal | null {
  if (by === 'due') return null;
  if (anchor.kind === 'date') return isLongPast(rule.definition, anchor, moment);
  if (anchor.kind !== 'event') return null;
  return anchor.occurredAt < anchor.acceptedAt - rule.definition.maxEventAgeMs
    ? { reason: 'too_old', detail: { occurred_at: isoOf(anchor.occurredAt) } }
    : null;
}

/** A date that was long ago when it was first told has nothing to remind of; one that lies ahead has, however little is left. */
function isLongPast({ maxEventAgeMs }: Definition, anchor: Anchor, moment: Moment | null): Refusal | null {
  return moment?.endsAt === null && moment.at < anchor.acceptedAt - maxEventAgeMs
    ? { reason: 'too_old', detail: { at: isoOf(moment.at) } }
    : null;
}

function isPresent({ trigger, anchor, person }: Asked): Refusal | null {
  if (trigger.kind !== 'absence') return null;
  for (const event of trigger.of) {
    const newest = person.newest(event);
    if (newest && newest.occurredAt >= anchor.occurredAt && newest.id !== anchor.id)
      return { reason: 'not_absent', detail: { event, occurred_at: isoOf(newest.occurredAt) } };
  }
  return null;
}

function failsOnlyIf({ person }: Asked): Refusal | null {
  return person.onlyIf() ? null : { reason: 'only_if' };
}

function isOut({ person }: Asked): Refusal | null {
  return person.isOut() ? { reason: 'exit' } : null;
}

function hasEntered({ rule, person, wish }: Asked): Refusal | null {
  const known = person.entry(wish.key);
  const reason = refusesEntry(rule.definition, known, wish);
  if (reason) return { reason, detail: { entered_at: isoOf(known?.enteredAt ?? 0) } };
  if (rule.definition.entry.kind !== 'one_at_a_time') return null;
  return person.isInRun() ? { reason: 'in_progress' } : null;
}

/**
 * A user who entered the rule after joining the audience is not enrolled again. This matters for rules that a user may enter
 * several times: a second enrollment would otherwise enroll the same members again as soon as their runs have ended.
 */
function hasEnteredSinceJoin({ enrollment, person, wish }: Asked): Refusal | null {
  if (!enrollment) return null;
  const enteredAt = person.entry(wish.key)?.enteredAt ?? -Infinity;
  const last = Math.max(enrollment.lastRunAt ?? -Infinity, enteredAt);
  return last >= enrollment.since ? { reason: 'already_entered', detail: { entered_at: isoOf(last) } } : null;
}

/** After a join, an email without a recipient is drafted and then held or cancelled. An enrollment would create thousands of these. */
function isUnreachable({ enrollment }: Asked): Refusal | null {
  return enrollment?.unreachable ? { reason: enrollment.unreachable } : null;
}

/** One person's events could otherwise begin runs without end, each with a draft that waits. */
const OPEN_RUNS_MAX = 100;

function isCrowded({ person }: Asked): Refusal | null {
  const open = person.openRuns();
  return open < OPEN_RUNS_MAX ? null : { reason: 'crowded', detail: { runs: open } };
}

function decided(asked: Asked, { reason, detail = {} }: Refusal): Decided {
  const { anchor, trigger, wish, moment } = asked;
  return {
    reason,
    wish,
    endsAt: moment ? moment.endsAt : endsInDays(trigger, anchor),
    armAt: reason === 'armed' && moment ? moment.at : null,
    detail: { ...startedBy(anchor), ...(asked.by === 'enrollment' ? { by: 'enrollment' } : {}), ...detail },
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

/** The same people for a rule for ever, and others for each rule. */
function isHeldOut(
  { id, definition }: Considered['rule'],
  { projectId, userId }: Pick<PersonFacts, 'projectId' | 'userId'>,
): boolean {
  if (definition.holdoutPercent === 0) return false;
  const drawn = Number.parseInt(sha256(JSON.stringify([projectId, id, userId])).slice(0, 8), 16);
  return drawn / 0x1_0000_0000 < definition.holdoutPercent / 100;
}

/** A suppressed match spends the entry of a rule that lets people in once ever: an imported sign-up spends the welcome. */
export function burnsEntry({ entry }: Pick<Definition, 'entry'>, reason: Reason): boolean {
  return reason === 'suppressed' && entry.kind === 'once';
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

const VALUE_SHOWN_CHARS = 200;

function brief(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'object') return value;
  const text = JSON.stringify(value);
  // A cut may go through a character, and half of one is no text that can be stored.
  return text.length <= VALUE_SHOWN_CHARS ? value : `${text.slice(0, VALUE_SHOWN_CHARS).toWellFormed()}…`;
}
