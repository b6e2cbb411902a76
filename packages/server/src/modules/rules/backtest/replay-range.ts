import type { Tx } from '../../../platform/db/statements.ts';
import { type BacktestEvidence, loadEvidence } from './evidence.ts';
import { simulateRun } from './emails.ts';
import type { ReplayRange, ReplayOutcome, StepReach } from './replay-rule.ts';
import { type SimulatedTimer, type Occasion, OCCASIONS_MAX, occasionsOf, seedsOf } from './occasions.ts';
import { decide } from '../definitions/decide.ts';
import type { EntryRow } from '../definitions/entries.ts';
import type { Timer } from '../definitions/timers.ts';
import { timerKey } from '../definitions/model.ts';
import type { Run } from '../runs/run.ts';
import {
  evaluateRule,
  type EvaluationContext,
  factsOf,
  createEvaluationContext,
} from '../evaluation/context.ts';

const SAMPLES = 10;

export async function replayRange(tx: Tx, range: ReplayRange): Promise<ReplayOutcome> {
  const state = createReplayState(range, await seedsOf(tx, range));
  const { outcome } = state;
  for await (const page of occasionsOf(tx, range)) {
    await replayPage(tx, state, page);
    outcome.occasions += page.occasions.filter(({ at }) => at >= range.from).length;
    state.evaluated += page.occasions.length;
    range.watch({ evaluated: state.evaluated, at: page.upTo });
    if (state.evaluated < OCCASIONS_MAX || page.upTo > range.until) continue;
    outcome.cutAt = page.upTo;
    break;
  }
  outcome.waiting = new Set([...state.timers.values()].map(({ userId }) => userId)).size;
  return outcome;
}

type ReplayState = ReplayRange & {
  entries: Map<string, Map<string, EntryRow>>;
  timers: Map<string, SimulatedTimer>;
  /** The last run of each user, and when it would have ended. */
  runs: Map<string, { run: Run; until: number }>;
  /** The positions that each user reached in any run, as bits: a set for each user would take ten times the memory. */
  visits: Map<string, bigint>;
  evaluated: number;
  nextId: number;
  outcome: ReplayOutcome;
};

function createReplayState(
  range: ReplayRange,
  { timers, isCut }: { timers: SimulatedTimer[]; isCut: boolean },
): ReplayState {
  return {
    ...range,
    entries: new Map(),
    timers: new Map(timers.map((timer) => [timerId(timer), timer])),
    runs: new Map(),
    evaluated: 0,
    nextId: 1,
    outcome: {
      occasions: timers.length,
      isCut,
      cutAt: null,
      enrollments: [],
      excluded: new Map(),
      waiting: 0,
      emails: [],
      samples: [],
      reached: new Map(),
    },
    visits: new Map(),
  };
}

function timerId({ userId, key }: Pick<Timer, 'userId' | 'key'>): string {
  return JSON.stringify([userId, key]);
}

type SimulationStep = Occasion & { evidence: BacktestEvidence; order: number };

/** Processes one stretch of time in order: the events, and the timers that fire within it. */
async function replayPage(
  tx: Tx,
  state: ReplayState,
  page: { occasions: Occasion[]; upTo: number },
): Promise<void> {
  const isDue = ({ at }: { at: number }): boolean => at < page.upTo;
  const eventSteps = await withEvidence(tx, state, page.occasions);
  const setTimers = eventSteps.flatMap((step) => timersOf(state, step)).filter(isDue);
  const dueTimers = [...state.timers.values()].filter(isDue).map(occasionOf);
  const timerSteps = await withEvidence(tx, state, [...dueTimers, ...setTimers]);
  const steps = [...eventSteps, ...timerSteps].toSorted(
    (a, b) => a.at - b.at || Number(a.key !== null) - Number(b.key !== null) || a.order - b.order,
  );
  for (const step of steps) if (isCurrent(state, step)) replayStep(state, step);
}

async function withEvidence(tx: Tx, state: ReplayState, occasions: Occasion[]): Promise<SimulationStep[]> {
  const { projectId, rule, model, until } = state;
  const found = await loadEvidence(tx, occasions, { projectId, rule, model, until });
  return occasions.flatMap((occasion, order) => {
    const evidence = found[order];
    return evidence ? [{ ...occasion, evidence, order }] : [];
  });
}

function occasionOf({ userId, at, anchor, hook, key }: SimulatedTimer): Occasion {
  return { userId, at, anchor, hook, by: 'due', key };
}

/**
 * Returns the timer that an occasion sets. The timer depends on nothing that happens later in this stretch, so its evidence is loaded
 * together with the rest.
 */
function timersOf(state: ReplayState, step: SimulationStep): Occasion[] {
  const { hook, anchor, by, at, userId } = step;
  const { rule, trigger } = hook;
  const { timerAt, wish } = decide({ rule, trigger, anchor, by }, factsOf(contextOf(state, step), rule), at);
  if (timerAt === null) return [];
  const { key } = timerKey(hook, { anchor, entryKey: wish.key });
  return [{ userId, at: timerAt, anchor, hook, by: 'due', key }];
}

/** Returns true if a timer has not fired yet and was not replaced by another. */
function isCurrent({ timers }: ReplayState, { key, userId, at, anchor }: SimulationStep): boolean {
  if (key === null) return true;
  const id = timerId({ userId, key });
  const timer = timers.get(id);
  return timer?.at === at && timer.anchor.id === anchor.id && timers.delete(id);
}

function replayStep(state: ReplayState, step: SimulationStep): void {
  const { hook, anchor, by, at, userId } = step;
  const context = contextOf(state, step);
  evaluateRule(context, hook, { anchor, by });
  const { decisions, timers, entries, burnt, begun } = context.outcome;
  for (const timer of timers) setTimer(state, { ...timer, hook }, timer.keepFirst);
  // Decisions before the time range are unknown, so only timers are kept.
  if (at < state.from) return;
  for (const { wish } of [...entries, ...burnt]) {
    const userEntries = state.entries.get(userId) ?? new Map<string, EntryRow>();
    state.entries.set(userId, userEntries.set(wish.key, { enrolledAt: wish.at, level: wish.level }));
  }
  for (const { reason } of decisions) count(state.outcome.excluded, reason);
  for (const run of begun) enter(state, run, { context, evidence: step.evidence });
}

const NO_REFUSAL: ReadonlySet<string> = new Set(['fired', 'holdout', 'starts_later']);

function count(excluded: Map<string, number>, reason: string): void {
  if (!NO_REFUSAL.has(reason)) excluded.set(reason, (excluded.get(reason) ?? 0) + 1);
}

function contextOf(state: ReplayState, { evidence, at, userId }: SimulationStep): EvaluationContext {
  const { person, facts, newest } = evidence;
  const last = state.runs.get(userId);
  const snapshot = {
    facts,
    newest,
    entry: (_ruleId: string, key: string) => state.entries.get(userId)?.get(key),
    runs: last && last.until > at ? [last.run] : [],
  };
  const newId = (): string => String((state.nextId += 1));
  return createEvaluationContext({ person, model: state.model }, snapshot, { now: at, newId });
}

/** Keeps or replaces a timer by the same rule as the SQL statement that stores timers. */
function setTimer(state: ReplayState, timer: SimulatedTimer, keepFirst: boolean): void {
  const id = timerId(timer);
  const existing = state.timers.get(id);
  const isEarlier = existing !== undefined && timer.anchor.occurredAt < existing.anchor.occurredAt;
  if (existing === undefined || isEarlier === keepFirst) state.timers.set(id, timer);
}

function enter(
  state: ReplayState,
  run: Run,
  { context, evidence }: { context: EvaluationContext; evidence: BacktestEvidence },
): void {
  const { outcome, model, periodMs, until } = state;
  const { userId, key, enrolledAt: at, anchor, endsAt } = run;
  const isHeldOut = run.variant === 'holdout';
  outcome.enrollments.push({ userId, at, key, by: anchor.kind, name: anchor.name, isHeldOut });
  const program = model.programOf(run.ruleId, run.version);
  if (isHeldOut || !program) return;
  const simulated = simulateRun(run, { program, zone: context.zone, evidence, periodMs, until });
  state.runs.set(userId, { run: { ...run, state: 'active' }, until: simulated.until });
  countVisits(state, userId, simulated.visited);
  for (const { source, step, ...email } of simulated.emails) {
    outcome.emails.push(email);
    reachOf(outcome, step).emails += 1;
    if (outcome.samples.length >= SAMPLES) continue;
    outcome.samples.push({ person: evidence.person, run: { anchor, endsAt }, source, at: email.at });
  }
}

function countVisits({ visits, outcome }: ReplayState, userId: string, visited: Set<number>): void {
  let bits = visits.get(userId) ?? 0n;
  for (const step of visited) {
    const bit = 1n << BigInt(step);
    if ((bits & bit) !== 0n) continue;
    bits |= bit;
    reachOf(outcome, step).users += 1;
  }
  visits.set(userId, bits);
}

function reachOf({ reached }: ReplayOutcome, step: number): StepReach {
  const existing = reached.get(step);
  if (existing) return existing;
  const reach = { users: 0, emails: 0 };
  reached.set(step, reach);
  return reach;
}
