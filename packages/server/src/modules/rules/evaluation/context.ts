import type { NewId } from '../../../platform/ids.ts';
import { evaluate } from '../../../platform/predicate/evaluate.ts';
import type { Facts, Predicate } from '../../../platform/predicate/predicate.ts';
import type { Decision } from '../decisions/decision.ts';
import { isSuppressed, type Person } from '../../users/index.ts';
import { type ActiveRule, type Hook, timerPlace } from '../definitions/model.ts';
import { type Anchor, type Definition, GOAL_WITHIN_MS, type Newest } from '../definitions/rule.ts';
import {
  burnsEntry,
  type Considered,
  type EnrollmentDecision,
  decide,
  type DecisionFacts,
} from '../definitions/decide.ts';
import { dateIn, type Timer, type TimerKey } from '../definitions/timers.ts';
import type { EntryRow, EntryWish } from '../definitions/entries.ts';
import { advance, endRun, lostAfter, standAt } from '../runs/advance-run.ts';
import type { EndReason, Run } from '../runs/run.ts';
import type { ProgramEmail } from '../runs/program.ts';
import type { Model } from '../project-model.ts';
import { zoneOfPerson } from './recipient.ts';

/** The knowledge about one user before any decision. */
export type EvaluationFacts = {
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
  disarmed: TimerKey[];
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
export type Desk = {
  person: Person;
  model: Model;
  known: EvaluationFacts;
  now: number;
  newId: NewId;
  zone: string;
  /** Open runs in the order of their ids, then the runs that started here. */
  runs: Run[];
  entered: Map<string, EntryRow>;
  outcome: EvaluationResult;
};

export type DeskDeps = { now: number; newId: NewId };

export function openDesk(of: { person: Person; model: Model }, known: EvaluationFacts, deps: DeskDeps): Desk {
  const { person, model } = of;
  return {
    person,
    model,
    known,
    ...deps,
    zone: zoneOfPerson(person, model),
    runs: [...known.runs],
    entered: new Map(),
    outcome: {
      decisions: [],
      entries: [],
      burnt: [],
      timers: [],
      disarmed: [],
      begun: [],
      changed: [],
      emails: [],
      ended: [],
    },
  };
}

/** Evaluates a rule whose trigger matched, and starts what it decides. */
export function consider(desk: Desk, hook: Hook, started: Omit<Considered, 'rule' | 'trigger'>): void {
  const { rule, trigger } = hook;
  const { anchor, by } = started;
  const decided = decide({ rule, trigger, ...started }, factsOf(desk, rule), desk.now);
  const { reason, wish } = decided;
  note(desk, rule, decided);
  if (reason === 'starts_later') arm(desk, hook, { anchor, decided });
  // An enrollment that excludes an imported user leaves them free to enter later.
  const burns = by !== 'enrollment' && burnsEntry(rule.definition, reason);
  if (burns && !entryOf(desk, rule.id, wish.key)) {
    desk.outcome.burnt.push({ ruleId: rule.id, wish });
    enter(desk, rule.id, wish);
  }
  if (reason !== 'fired' && reason !== 'holdout') return;
  desk.outcome.entries.push({ ruleId: rule.id, entry: rule.definition.entry, wish });
  enter(desk, rule.id, wish);
  begin(desk, rule, { anchor, decided });
}

/** Returns the facts that the rule may need about the user, including what started here. */
export function factsOf(desk: Desk, { id, definition }: ActiveRule): DecisionFacts {
  const { person, known, runs, now } = desk;
  const { onlyIf, exits, goal } = definition;
  return {
    projectId: person.projectId,
    userId: person.userId,
    isSuppressed: isSuppressed(person),
    suppressedSeq: person.suppressedSeq,
    liveSeq: person.liveSeq,
    newest: known.newest,
    date: (trait) => dateIn(person.traits.get(trait)),
    onlyIf: () => onlyIf === null || holds(desk, onlyIf),
    isOut: () => [exits.when, goal].some((out) => out !== null && holds(desk, out)),
    entry: (key) => entryOf(desk, id, key),
    isInRun: () => runs.some((run) => run.ruleId === id && isInProgress(run, now)),
    openRuns: () => runs.filter(({ state }) => state !== 'ended').length,
  };
}

/** A user in the holdout has no run, but counts as being in one while their goal is awaited. */
function isInProgress({ state, arm, goalUntil, convertedAt }: Run, now: number): boolean {
  if (state !== 'ended') return true;
  return arm === 'holdout' && goalUntil !== null && goalUntil > now && convertedAt === null;
}

export function holds({ known }: Desk, predicate: Predicate): boolean {
  return evaluate(predicate, known.facts).holds;
}

function entryOf({ entered, known }: Desk, ruleId: string, key: string): EntryRow | undefined {
  return entered.get(`${ruleId} ${key}`) ?? known.entry(ruleId, key);
}

function enter({ entered }: Desk, ruleId: string, { key, at, level }: EntryWish): void {
  entered.set(`${ruleId} ${key}`, { enrolledAt: at, level });
}

function note(
  { person, outcome, now }: Desk,
  { id }: ActiveRule,
  { reason, wish, detail }: EnrollmentDecision,
): void {
  const { projectId, userId } = person;
  outcome.decisions.push({ projectId, userId, ruleId: id, key: wish.key, reason, detail, at: now });
}

/** Removes the timers of a date that its trait no longer contains. */
export function disarm({ person, outcome }: Desk, hook: Hook): void {
  const { key } = timerPlace(hook, { anchor: { id: '', occurredAt: 0 }, entryKey: '' });
  const { projectId, userId } = person;
  outcome.disarmed.push({ projectId, userId, ruleId: hook.rule.id, key });
  outcome.timers = outcome.timers.filter((timer) => timer.ruleId !== hook.rule.id || timer.key !== key);
}

type Began = { anchor: Anchor; decided: EnrollmentDecision };

function arm({ person, outcome }: Desk, hook: Hook, { anchor, decided }: Began): void {
  if (decided.armAt === null) return;
  const { key, keepFirst } = timerPlace(hook, { anchor, entryKey: decided.wish.key });
  outcome.timers.push({
    projectId: person.projectId,
    userId: person.userId,
    ruleId: hook.rule.id,
    key,
    at: decided.armAt,
    version: hook.rule.version,
    place: hook.place,
    anchor,
    keepFirst,
  });
}

function begin(desk: Desk, rule: ActiveRule, { anchor, decided }: Began): void {
  const { person, now, newId, outcome, runs } = desk;
  const isHeldOut = decided.reason === 'holdout';
  // Without a goal there is nothing to compare, so only the entry is kept.
  if (isHeldOut && !rule.definition.goal) return;
  const run: Run = {
    projectId: person.projectId,
    id: newId(),
    ruleId: rule.id,
    version: rule.version,
    userId: person.userId,
    key: decided.wish.key,
    state: 'active',
    arm: isHeldOut ? 'holdout' : 'treatment',
    single: rule.definition.entry.kind === 'one_at_a_time',
    step: 0,
    waitsFor: 'time',
    nextAt: now,
    anchor,
    endsAt: decided.endsAt,
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
  else walk(desk, run, 0);
}

export function walk(desk: Desk, run: Run, step: number): void {
  const { now, zone } = desk;
  const branch = (predicate: Predicate): boolean => holds(desk, predicate);
  const program = programOf(desk, run);
  const stand = advance(program, { step, now, zone, branch });
  replace(desk, run, { ...standAt(run, stand, now), lostMs: lostAfter(program, stand, run.lostMs) });
  if (stand.stop.kind === 'draft') desk.outcome.emails.push({ run, email: stand.stop.email });
}

export function end(desk: Desk, run: Run, reason: EndReason): void {
  if (run.state === 'ended') return;
  replace(desk, run, endRun(run, reason, desk.now));
  desk.outcome.ended.push(run);
}

/** Changes the run in place, so that every holder of the object sees its new state. */
export function replace({ outcome }: Desk, run: Run, next: Run): void {
  Object.assign(run, next);
  if (!outcome.begun.includes(run) && !outcome.changed.includes(run)) outcome.changed.push(run);
}

export function definitionOf({ model }: Desk, run: Run): Definition | undefined {
  return model.rules.version(run.ruleId, run.version)?.definition;
}

export function programOf({ model }: Desk, run: Run): NonNullable<ReturnType<Model['programOf']>> {
  const program = model.programOf(run.ruleId, run.version);
  if (!program) throw new Error(`version ${run.version} of rule ${run.ruleId} is not known`);
  return program;
}
