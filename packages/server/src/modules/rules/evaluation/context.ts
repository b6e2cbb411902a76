import type { NewId } from '../../../platform/ids.ts';
import { evaluate } from '../../../platform/predicate/evaluate.ts';
import type { Facts, Predicate } from '../../../platform/predicate/predicate.ts';
import type { Decision } from '../decisions/decision.ts';
import { isSuppressed, type Person } from '../../users/index.ts';
import { type ActiveRule, type Hook, timerKey } from '../definitions/model.ts';
import { type Anchor, type Definition, GOAL_WITHIN_MS, type Newest } from '../definitions/rule.ts';
import {
  burnsEntry,
  type TriggerMatch,
  type EnrollmentDecision,
  decide,
  type DecisionFacts,
} from '../definitions/decide.ts';
import { dateIn, type Timer, type TimerKey } from '../definitions/timers.ts';
import type { EntryRow, EntryWish } from '../definitions/entries.ts';
import { advance, endRun, lostAfter, moveRunTo } from '../runs/advance-run.ts';
import type { EndReason, Run } from '../runs/run.ts';
import type { ProgramEmail } from '../runs/program.ts';
import type { Model } from '../project-model.ts';
import { zoneOfPerson } from './recipient.ts';

/** The knowledge about one user before any decision. */
export type PersonSnapshot = {
  facts: Facts;
  newest: Newest;
  entry: (ruleId: string, key: string) => EntryRow | undefined;
  runs: Run[];
};

/** Everything to be written about one user after the decisions. */
export type EvaluationResult = {
  decisions: Decision[];
  entries: { ruleId: string; entry: Definition['entry']; wish: EntryWish }[];
  burnt: { ruleId: string; wish: EntryWish }[];
  timers: (Timer & { keepFirst: boolean })[];
  /** Timers of dates that changed or were removed. They are deleted before new timers are set. */
  removedTimers: TimerKey[];
  begun: Run[];
  changed: Run[];
  /** An email is drafted for each of these runs. */
  emails: { run: Run; email: ProgramEmail }[];
  /** Runs whose open drafts are canceled. */
  ended: Run[];
};

/**
 * Decides for one user in the order in which things happened. Entries and runs that start here count at once for later items. Does not
 * write anything.
 */
export type EvaluationContext = {
  person: Person;
  model: Model;
  snapshot: PersonSnapshot;
  now: number;
  newId: NewId;
  zone: string;
  /** Open runs in the order of their ids, then the runs that started here. */
  runs: Run[];
  entered: Map<string, EntryRow>;
  outcome: EvaluationResult;
};

export type EvaluationDeps = { now: number; newId: NewId };

export function createEvaluationContext(
  of: { person: Person; model: Model },
  snapshot: PersonSnapshot,
  deps: EvaluationDeps,
): EvaluationContext {
  const { person, model } = of;
  return {
    person,
    model,
    snapshot,
    ...deps,
    zone: zoneOfPerson(person, model),
    runs: [...snapshot.runs],
    entered: new Map(),
    outcome: {
      decisions: [],
      entries: [],
      burnt: [],
      timers: [],
      removedTimers: [],
      begun: [],
      changed: [],
      emails: [],
      ended: [],
    },
  };
}

/** Evaluates a rule whose trigger matched, and starts what it decides. */
export function evaluateRule(
  context: EvaluationContext,
  hook: Hook,
  started: Omit<TriggerMatch, 'rule' | 'trigger'>,
): void {
  const { rule, trigger } = hook;
  const { anchor, by } = started;
  const decision = decide({ rule, trigger, ...started }, factsOf(context, rule), context.now);
  const { reason, wish } = decision;
  note(context, rule, decision);
  if (reason === 'starts_later') addTimer(context, hook, { anchor, decision });
  // An enrollment that excludes an imported user leaves them free to enter later.
  const burns = by !== 'enrollment' && burnsEntry(rule.definition, reason);
  if (burns && !entryOf(context, rule.id, wish.key)) {
    context.outcome.burnt.push({ ruleId: rule.id, wish });
    enter(context, rule.id, wish);
  }
  if (reason !== 'fired' && reason !== 'holdout') return;
  context.outcome.entries.push({ ruleId: rule.id, entry: rule.definition.entry, wish });
  enter(context, rule.id, wish);
  begin(context, rule, { anchor, decision });
}

/** Returns the facts that the rule may need about the user, including what started here. */
export function factsOf(context: EvaluationContext, { id, definition }: ActiveRule): DecisionFacts {
  const { person, snapshot, runs, now } = context;
  const { onlyIf, exits, goal } = definition;
  return {
    projectId: person.projectId,
    userId: person.userId,
    isSuppressed: isSuppressed(person),
    suppressedSeq: person.suppressedSeq,
    liveSeq: person.liveSeq,
    newest: snapshot.newest,
    date: (trait) => dateIn(person.traits.get(trait)),
    onlyIf: () => onlyIf === null || matchesPredicate(context, onlyIf),
    isOut: () => [exits.when, goal].some((out) => out !== null && matchesPredicate(context, out)),
    entry: (key) => entryOf(context, id, key),
    isInRun: () => runs.some((run) => run.ruleId === id && isInProgress(run, now)),
    openRuns: () => runs.filter(({ state }) => state !== 'ended').length,
  };
}

/** A user in the holdout has no run, but counts as being in one while their goal is awaited. */
function isInProgress({ state, variant, goalUntil, convertedAt }: Run, now: number): boolean {
  if (state !== 'ended') return true;
  return variant === 'holdout' && goalUntil !== null && goalUntil > now && convertedAt === null;
}

export function matchesPredicate({ snapshot }: EvaluationContext, predicate: Predicate): boolean {
  return evaluate(predicate, snapshot.facts).matches;
}

function entryOf(
  { entered, snapshot }: EvaluationContext,
  ruleId: string,
  key: string,
): EntryRow | undefined {
  return entered.get(`${ruleId} ${key}`) ?? snapshot.entry(ruleId, key);
}

function enter({ entered }: EvaluationContext, ruleId: string, { key, at, level }: EntryWish): void {
  entered.set(`${ruleId} ${key}`, { enrolledAt: at, level });
}

function note(
  { person, outcome, now }: EvaluationContext,
  { id }: ActiveRule,
  { reason, wish, detail }: EnrollmentDecision,
): void {
  const { projectId, userId } = person;
  outcome.decisions.push({ projectId, userId, ruleId: id, key: wish.key, reason, detail, at: now });
}

/** Removes the timers of a date that its trait no longer contains. */
export function removeTimers({ person, outcome }: EvaluationContext, hook: Hook): void {
  const { key } = timerKey(hook, { anchor: { id: '', occurredAt: 0 }, entryKey: '' });
  const { projectId, userId } = person;
  outcome.removedTimers.push({ projectId, userId, ruleId: hook.rule.id, key });
  outcome.timers = outcome.timers.filter((timer) => timer.ruleId !== hook.rule.id || timer.key !== key);
}

type TriggerDecision = { anchor: Anchor; decision: EnrollmentDecision };

function addTimer(
  { person, outcome }: EvaluationContext,
  hook: Hook,
  { anchor, decision }: TriggerDecision,
): void {
  if (decision.timerAt === null) return;
  const { key, keepFirst } = timerKey(hook, { anchor, entryKey: decision.wish.key });
  outcome.timers.push({
    projectId: person.projectId,
    userId: person.userId,
    ruleId: hook.rule.id,
    key,
    at: decision.timerAt,
    version: hook.rule.version,
    position: hook.position,
    anchor,
    keepFirst,
  });
}

function begin(context: EvaluationContext, rule: ActiveRule, { anchor, decision }: TriggerDecision): void {
  const { person, now, newId, outcome, runs } = context;
  const isHeldOut = decision.reason === 'holdout';
  // Without a goal there is nothing to compare, so only the entry is kept.
  if (isHeldOut && !rule.definition.goal) return;
  const run: Run = {
    projectId: person.projectId,
    id: newId(),
    ruleId: rule.id,
    version: rule.version,
    userId: person.userId,
    key: decision.wish.key,
    state: 'active',
    variant: isHeldOut ? 'holdout' : 'treatment',
    single: rule.definition.entry.kind === 'one_at_a_time',
    step: 0,
    waitsFor: 'time',
    nextAt: now,
    anchor,
    endsAt: decision.endsAt,
    enrolledAt: now,
    goalUntil: rule.definition.goal ? now + GOAL_WITHIN_MS : null,
    convertedAt: null,
    endedAt: null,
    endReason: null,
    lostMs: null,
  };
  outcome.begun.push(run);
  runs.push(run);
  if (isHeldOut) Object.assign(run, endRun(run, 'holdout', now));
  else advanceRun(context, run, 0);
}

export function advanceRun(context: EvaluationContext, run: Run, step: number): void {
  const { now, zone } = context;
  const branch = (predicate: Predicate): boolean => matchesPredicate(context, predicate);
  const program = programOf(context, run);
  const stopPoint = advance(program, { step, now, zone, branch });
  replace(context, run, {
    ...moveRunTo(run, stopPoint, now),
    lostMs: lostAfter(program, stopPoint, run.lostMs),
  });
  if (stopPoint.stop.kind === 'draft') context.outcome.emails.push({ run, email: stopPoint.stop.email });
}

export function finishRun(context: EvaluationContext, run: Run, reason: EndReason): void {
  if (run.state === 'ended') return;
  replace(context, run, endRun(run, reason, context.now));
  context.outcome.ended.push(run);
}

/** Changes the run in place, so that every holder of the object sees its new state. */
export function replace({ outcome }: EvaluationContext, run: Run, next: Run): void {
  Object.assign(run, next);
  if (!outcome.begun.includes(run) && !outcome.changed.includes(run)) outcome.changed.push(run);
}

export function definitionOf({ model }: EvaluationContext, run: Run): Definition | undefined {
  return model.rules.version(run.ruleId, run.version)?.definition;
}

export function programOf(
  { model }: EvaluationContext,
  run: Run,
): NonNullable<ReturnType<Model['programOf']>> {
  const program = model.programOf(run.ruleId, run.version);
  if (!program) throw new Error(`version ${run.version} of rule ${run.ruleId} is not known`);
  return program;
}
