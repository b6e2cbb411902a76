/**
 * A single-threaded simulation in which one step follows the other, in an order that a seed determines. A task is a generator. Between two
 * of its steps all others may run, time may pass, and its owner may die and lose its state. The same seed gives the same history on every
 * machine.
 */

import { type Random, randomOf } from '../../packages/server/src/modules/operations/demo/random.ts';

export type Task = Generator<Step, void, void>;
/** The action just done. With `until`, the task does not continue before that time. */
export type Step = { action: string; until?: number };

export type Owner = {
  name: string;
  /** Creates its task at every start and restart. */
  begin: () => Task;
  isMortal: boolean;
  /** The maximum difference of its clock from the real time. */
  skewMs: number;
};

export type Schedule = {
  random: Random;
  /** Returns the real time. No owner sees it exactly. */
  now(): number;
  clockOf(owner: Owner): number;
  /** Runs another task of the same owner concurrently. It dies with its owner. */
  spawn(owner: Owner, task: Task): void;
  note(text: string): void;
};

type RunningTask = { owner: Owner; task: Task; until: number };
type State = {
  seed: number;
  random: Random;
  now: number;
  running: RunningTask[];
  clocks: Map<Owner, number>;
  trace: string[];
  /** No owner dies any more. */
  isCalm: boolean;
};

export type Scenario = {
  startsAt: number;
  /** The maximum duration. `steps` is the maximum number of steps. */
  durationMs: number;
  steps: number;
  owners: (schedule: Schedule) => Owner[];
  /** Checks the invariants after every step. */
  check: (schedule: Schedule) => void;
  /** Ends all disturbances, so that all work under way can finish. */
  endDisturbances: () => void;
  /** Returns whether no work is left. */
  isOver: () => boolean;
  /** Checks the final state. */
  end: (schedule: Schedule) => void;
};

export class Violation extends Error {
  readonly seed: number;
  readonly trace: string[];
  constructor(seed: number, trace: string[], cause: unknown) {
    super(`seed ${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.seed = seed;
    this.trace = trace;
  }
}

const TRACE_LENGTH = 40;
const CALM_STEPS = 3_000;

/** Plays one history and returns its number of steps. Throws a `Violation` with its last steps. */
export function play(seed: number, scenarioOf: (schedule: Schedule) => Scenario): number {
  const state: State = {
    seed,
    random: randomOf(seed),
    now: 0,
    running: [],
    clocks: new Map(),
    trace: [],
    isCalm: false,
  };
  const schedule = scheduleOf(state);
  try {
    const scenario = scenarioOf(schedule);
    state.now = scenario.startsAt;
    for (const owner of scenario.owners(schedule)) start(state, owner);
    return runAll(state, schedule, scenario);
  } catch (error) {
    throw new Violation(seed, state.trace, error);
  }
}

function scheduleOf(state: State): Schedule {
  return {
    random: state.random,
    now: () => state.now,
    clockOf: (owner) => state.now + (state.clocks.get(owner) ?? 0),
    spawn: (owner, task) => {
      state.running.push({ owner, task, until: state.now });
    },
    note(text) {
      state.trace.push(`${new Date(state.now).toISOString()} ${text}`);
      if (state.trace.length > TRACE_LENGTH) state.trace.shift();
    },
  };
}

function runAll(state: State, schedule: Schedule, scenario: Scenario): number {
  const until = state.now + scenario.durationMs;
  let steps = 0;
  for (; steps < scenario.steps && state.now < until; steps += 1) {
    disturb(state, schedule);
    if (!stepOne(state, schedule)) break;
    scenario.check(schedule);
  }
  scenario.endDisturbances();
  state.isCalm = true;
  for (let calmSteps = 0; !scenario.isOver(); calmSteps += 1, steps += 1) {
    if (calmSteps === CALM_STEPS) throw new Error('the history never ends');
    if (!stepOne(state, schedule)) throw new Error('no process can take a step, but work is left');
    scenario.check(schedule);
  }
  scenario.end(schedule);
  return steps;
}

/** Kills an owner, changes a clock, or lets time pass while all owners stall. */
function disturb(state: State, schedule: Schedule): void {
  const { random } = state;
  if (random.chance(0.02)) {
    const mortal = [...new Set(state.running.map(({ owner }) => owner))].filter(({ isMortal }) => isMortal);
    if (mortal.length > 0) kill(state, schedule, random.pick(mortal));
  }
  if (random.chance(0.02)) jump(state, random.pick(state.running).owner);
  // Sometimes longer than a lease, so that a stalled owner has lost all its leases afterwards.
  if (random.chance(0.05))
    state.now += random.chance(0.2) ? random.whole(1, 40 * 60_000) : random.whole(1, 3_000);
}

function kill(state: State, schedule: Schedule, owner: Owner): void {
  schedule.note(`${owner.name} dies`);
  state.running = state.running.filter((other) => other.owner !== owner);
  start(state, owner);
}

function start(state: State, owner: Owner): void {
  jump(state, owner);
  state.running.push({ owner, task: owner.begin(), until: state.now });
}

function jump(state: State, owner: Owner): void {
  state.clocks.set(owner, state.random.whole(-owner.skewMs, owner.skewMs));
}

/** Runs a random task that may continue. If all wait, time moves to the first of them. */
function stepOne(state: State, schedule: Schedule): boolean {
  const first = Math.min(...state.running.map(({ until }) => until));
  if (first === Infinity) return false;
  state.now = Math.max(state.now, first);
  const ready = state.running.filter(({ until }) => until <= state.now);
  const next = state.random.pick(ready);
  const { done, value } = next.task.next();
  if (done) state.running = state.running.filter((other) => other !== next);
  else {
    schedule.note(`${next.owner.name}: ${value.action}`);
    next.until = value.until ?? state.now;
  }
  return true;
}
