import { iso, isoOrNull } from '../../platform/time/clock.ts';
import { explain, type Explained } from '../../platform/predicate/evaluate.ts';
import { matchesWhere } from '../../platform/predicate/compare.ts';
import type { Predicate } from '../../platform/predicate/predicate.ts';
import {
  type ActiveRule,
  type Anchor,
  type Trigger,
  type TriggerMatch,
  decide,
  type DecisionFacts,
  dateIn,
  type Newest,
  type Timer,
  triggerSentence,
  type EvaluationContext,
  factsOf,
} from '../rules/index.ts';
import { type EarlierOccurrences, withNextEvent } from './one-fewer-event.ts';
import { NOT_CONSIDERED, NOT_CONSIDERED_WORDS, reasonWords, type RuleReason } from './reason-sentences.ts';

/** The decision of a rule about a user if its trigger arrived now. It comes from the engine's own `decide`. */
export type RuleNow = {
  on: boolean;
  /** True if one of its triggers would start a run. */
  would_fire: boolean;
  triggers: TriggerNow[];
  /** The condition on the user, evaluated before any trigger arrives; null for a rule without one. */
  only_if: Explained | null;
};

export type TriggerNow = {
  waits_for: string;
  /** The time of the user's last such event, the time at which they joined the audience, or the date in the trait. */
  last_seen_at: string | null;
  would_fire: boolean;
  reason: RuleReason;
  sentence: string;
  /** When the rule is evaluated; null: as soon as the trigger arrives. */
  at: string | null;
  /** True if a timer is set for that time, so that nothing else has to happen. */
  is_set: boolean;
  note: string | null;
  detail: Record<string, unknown>;
  /**
   * The condition that refuses, with the result of each part when the trigger arrives. Otherwise the exit conditions and the goal that hold
   * already.
   */
  would_pass_if: Explained[];
};

export type RuleContext = {
  context: EvaluationContext;
  /** The newest event of each name, including events that no rule looks up. */
  lastSeen: Newest;
  timers: Timer[];
  /** When the user joined each audience, by audience id. */
  memberSince: Map<string, string>;
  fewer: EarlierOccurrences;
};

export function ruleNow(rule: ActiveRule, ruleContext: RuleContext): RuleNow {
  const { onlyIf, when } = rule.definition;
  const timers = ruleContext.timers.filter(({ ruleId }) => ruleId === rule.id);
  const present = new Set(
    timers.flatMap(({ version, position }) => (version === rule.version ? position : [])),
  );
  const triggers = [
    ...timers.flatMap((timer) => timerNow(rule, timer, ruleContext)),
    ...when.flatMap((trigger, position) =>
      present.has(position) ? [] : supposedNow({ rule, trigger }, ruleContext),
    ),
  ];
  return {
    on: rule.enabledAt !== null,
    would_fire: triggers.some((trigger) => trigger.would_fire),
    triggers,
    only_if: onlyIf && explainPredicate(onlyIf, ruleContext.context),
  };
}

function explainPredicate(predicate: Predicate, context: EvaluationContext): Explained {
  return explain(predicate, context.snapshot.facts, audienceNames(context));
}

function audienceNames({ model }: EvaluationContext): (id: string) => string | undefined {
  return (id) => model.audiences.versionFor(id)?.name;
}

type RuleTrigger = { rule: ActiveRule; trigger: Trigger };

/** Evaluates a timer that is already set, by the rule version that set it. */
function timerNow(rule: ActiveRule, timer: Timer, { context }: RuleContext): TriggerNow[] {
  const of = context.model.rules.byVersion(rule.id, timer.version);
  const trigger = of?.definition.when[timer.position];
  if (!of || !trigger) return [];
  const { anchor, at, version } = timer;
  const hooked = { rule: of, trigger, anchor };
  const decision = decideThrough(hooked, {
    facts: factsOf(context, of),
    now: Math.max(context.now, at),
    by: 'due',
  });
  return [
    {
      waits_for: triggerSentence(trigger, audienceNames(context)),
      last_seen_at: iso(anchor.occurredAt),
      ...decisionFields(of, decision, context),
      at: iso(decision.at ?? at),
      is_set: true,
      note: version === rule.version ? null : `by version ${version}, which set the timer`,
    },
  ];
}

/** Evaluates a trigger as if it arrived now. */
function supposedNow(of: RuleTrigger, ruleContext: RuleContext): TriggerNow {
  const { rule, trigger } = of;
  const { anchor, at: seenAt, note } = lastOccurrenceOf(trigger, ruleContext);
  const fields = {
    waits_for: triggerSentence(trigger, audienceNames(ruleContext.context)),
    last_seen_at: isoOrNull(seenAt),
    note,
    is_set: false,
  };
  if (!anchor) {
    const unknown = { reason: NOT_CONSIDERED, sentence: NOT_CONSIDERED_WORDS, detail: {} } as const;
    return { ...fields, ...unknown, would_fire: false, at: null, would_pass_if: [] };
  }
  const nextContext = withAnchor(ruleContext, anchor);
  const facts = withSupposedEvent(factsOf(nextContext, rule), anchor);
  const by = anchor.kind === 'date' ? 'record' : 'due';
  const decision = decideThrough({ ...of, anchor }, { facts, now: nextContext.now, by });
  const { detail, ...otherFields } = decisionFields(rule, decision, nextContext);
  return {
    ...fields,
    ...otherFields,
    at: isoOrNull(decision.at),
    detail: withoutAnchor(detail),
  };
}

type DecisionNow = { reason: RuleReason; detail: Record<string, unknown>; at: number | null };
type DecisionFields = Pick<TriggerNow, 'would_fire' | 'reason' | 'sentence' | 'detail' | 'would_pass_if'>;

function decisionFields(
  rule: ActiveRule,
  { reason, detail }: DecisionNow,
  context: EvaluationContext,
): DecisionFields {
  return {
    would_fire: reason === 'fired',
    reason,
    sentence: reasonWords(reason, 'rule'),
    detail,
    would_pass_if: refusingOf(rule, reason).map((predicate) => explainPredicate(predicate, context)),
  };
}

function refusingOf({ definition: { onlyIf, exits, goal } }: ActiveRule, reason: RuleReason): Predicate[] {
  const refusing = reason === 'only_if' ? [onlyIf] : reason === 'exit_condition' ? [exits.when, goal] : [];
  return refusing.filter((predicate) => predicate !== null);
}

/** Adds the supposed event to the facts that the conditions read. */
function withAnchor({ context, fewer }: RuleContext, anchor: Anchor): EvaluationContext {
  if (anchor.kind !== 'event') return context;
  const { snapshot } = context;
  return { ...context, snapshot: { ...snapshot, facts: withNextEvent(snapshot.facts, anchor, fewer) } };
}

/**
 * Decides as of the time at which the rule is evaluated, assuming that nothing else happens until then. With `due`, the property filter
 * counts as passed: see `noteOf`.
 */
function decideThrough(
  { rule, trigger, anchor }: RuleTrigger & { anchor: Anchor },
  { facts, now, by }: { facts: DecisionFacts; now: number; by: TriggerMatch['by'] },
): DecisionNow {
  const match: TriggerMatch = { rule, trigger, anchor, by };
  const { reason, detail, timerAt } = decide(match, facts, now);
  if (reason !== 'starts_later' || timerAt === null) return { reason, detail, at: null };
  const then = decide({ ...match, by: 'due' }, facts, timerAt);
  return { reason: then.reason, detail: then.detail, at: timerAt };
}

/** The id of an event that has not arrived. Its properties are taken from the last event of that name. */
const SUPPOSED_ID = 'supposed';

/** Applies a supposed event: it lifts a suppression and is the newest of its name. */
function withSupposedEvent(facts: DecisionFacts, anchor: Anchor): DecisionFacts {
  if (anchor.kind !== 'event') return facts;
  const { id, occurredAt, acceptedAt, properties } = anchor;
  const supposed = { id, occurredAt, acceptedAt, properties, seq: Number.MAX_SAFE_INTEGER };
  return {
    ...facts,
    isSuppressed: false,
    newest: (event) => (event === anchor.name ? supposed : facts.newest(event)),
  };
}

/** Removes the event id, because no event with the supposed id exists. */
function withoutAnchor(detail: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(detail).filter(([name]) => name !== 'event_id'));
}

type LastOccurrence = { at: number | null; anchor: Anchor | null; note: string | null };

function lastOccurrenceOf(trigger: Trigger, ruleContext: RuleContext): LastOccurrence {
  switch (trigger.kind) {
    case 'event':
    case 'relative':
      return seenEvent(trigger.event, trigger, ruleContext);
    case 'absence':
      return seenEvent(trigger.since, trigger, ruleContext);
    case 'audience':
      return seenAudience(trigger, ruleContext);
    case 'date':
      return seenDate(trigger.trait, ruleContext);
    default:
      return trigger satisfies never;
  }
}

function seenEvent(
  name: string,
  trigger: Extract<Trigger, { kind: 'event' | 'relative' | 'absence' }>,
  { context, lastSeen }: RuleContext,
): LastOccurrence {
  const last = lastSeen(name);
  const properties = last?.properties ?? {};
  const at = last?.occurredAt ?? null;
  const { now } = context;
  // The event itself determines its time (`plusDays`), and there is no earlier event to take it from.
  if (!last && trigger.kind === 'relative' && trigger.plusDays !== null)
    return { at, anchor: null, note: null };
  const moments = { occurredAt: now, acceptedAt: now, seq: null };
  return {
    at,
    anchor: { kind: 'event', id: SUPPOSED_ID, name, properties, ...moments },
    note: noteOf(trigger, last && properties),
  };
}

/** Notes that the next event is assumed to pass the filter, if there is no earlier event or the last one does not pass. */
function noteOf(
  { where }: { where: Parameters<typeof matchesWhere>[0] },
  last: Record<string, unknown> | undefined,
): string | null {
  if (where.length === 0 || (last && matchesWhere(where, last))) return null;
  return last
    ? 'if it passes the property filter, which the last one did not'
    : 'if it passes the property filter';
}

function seenAudience(
  { audienceId, move }: Extract<Trigger, { kind: 'audience' }>,
  { context, memberSince }: RuleContext,
): LastOccurrence {
  const since = memberSince.get(audienceId);
  const { now } = context;
  const ids = { id: audienceId, name: audienceId };
  const moments = { occurredAt: now, acceptedAt: now, seq: null };
  return {
    at: since === undefined ? null : Date.parse(since),
    anchor: { kind: 'audience', ...ids, properties: {}, ...moments },
    note: (since !== undefined) === (move === 'joined') ? AUDIENCE_NOTES[move] : null,
  };
}

const AUDIENCE_NOTES = {
  joined: 'the user is already in it and would have to leave it first',
  left: 'the user is not in it and would have to join it first',
} as const;

function seenDate(trait: string, { context }: RuleContext): LastOccurrence {
  const { person, now } = context;
  const at = dateIn(person.traits.get(trait));
  if (at === null) return { at, anchor: null, note: 'the user has no date in this trait' };
  const ids = { id: trait, name: trait };
  return {
    at,
    anchor: { kind: 'date', ...ids, properties: {}, occurredAt: at, acceptedAt: now, seq: null },
    note: 'if the trait were set to this date now',
  };
}
