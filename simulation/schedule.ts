import { type Random, randomOf } from '../packages/server/src/flows/demo/random.ts';

/**
 * One thread, in which everything happens one step after the other, in an order that a seed decides. A task is a generator:
 * between two of its steps everybody else may run, time may pass, and whoever it belongs to may die, knowing nothing
 * afterwards. The same seed gives the same history, on every machine.
 */
export type Task = Generator<Step, void, void>;
/** What was just done; where `until` is given nothing of the task happens before. */
export type Step = { did: string; until?: number };

export type Owner = {
  name: string;
  /** What it does from its start on, and whenever it starts anew. */
  begin: () => Task;
  isMortal: boolean;
  /** How far its clock is from the real time, at most. */
  skewMs: number;
};

export type Schedule = {
  random: Random;
  /** The real time, which nobody in the simulation knows exactly. */
  now(): number;
  clockOf(owner: Owner): number;
  /** Something else that the same owner does at the same time; it dies with it. */
  also(owner: Owner, task: Task): void;
  note(text: string): void;
};

type Running = { owner: Owner; task: Task; until: number };
type State = {
  seed: number;
  random: Random;
  now: number;
  running: Running[];
  clocks: Map<Owner, number>;
  trace: string[];
  /** Nobody dies any more. */
  isCalm: boolean;
};

export type Scenario = {
  startsAt: number;
  /** So much time, and so many steps at most. */
  lastsMs: number;
  steps: number;
  owners: (schedule: Schedule) => Owner[];
  /** Behind every step: what must hold always. */
  check: (schedule: Schedule) => void;
  /** From then on nothing goes wrong any more, and whatever is under way comes to its end. */
  calm: () => void;
  /** Whether there is nothing left to do. */
  isOver: () => boolean;
  /** What must hold at the end. */
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

const TRACE_SHOWN = 40;
const CALM_STEPS = 3_000;

/** Plays one history; throws a `Violation` that carries its last steps. How many steps there were. */
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
    also: (owner, task) => {
      state.running.push({ owner, task, until: state.now });
    },
    note(text) {
      state.trace.push(`${new Date(state.now).toISOString()} ${text}`);
      if (state.trace.length > TRACE_SHOWN) state.trace.shift();
    },
  };
}

function runAll(state: State, schedule: Schedule, scenario: Scenario): number {
  const until = state.now + scenario.lastsMs;
  let steps = 0;
  for (; steps < scenario.steps && state.now < until; steps += 1) {
    disturb(state, schedule);
    if (!stepOne(state, schedule)) break;
    scenario.check(schedule);
  }
  scenario.calm();
  state.isCalm = true;
  for (let calm = 0; !scenario.isOver(); calm += 1, steps += 1) {
    if (calm === CALM_STEPS) throw new Error('it never comes to an end');
    if (!stepOne(state, schedule)) throw new Error('nobody does anything any more, and something is left');
    scenario.check(schedule);
  }
  scenario.end(schedule);
  return steps;
}

/** Somebody dies, a clock jumps, or time passes while everybody stands still. */
function disturb(state: State, schedule: Schedule): void {
  const { random } = state;
  if (random.chance(0.02)) {
    const mortal = [...new Set(state.running.map(({ owner }) => owner))].filter(({ isMortal }) => isMortal);
    if (mortal.length > 0) kill(state, schedule, random.pick(mortal));
  }
  if (random.chance(0.02)) jump(state, random.pick(state.running).owner);
  // As long as a lease now and then, so that whoever stood still is a stranger to the world afterwards.
  if (random.chance(0.05))
    state.now += random.chance(0.2) ? random.whole(1, 40 * 60_000) : random.whole(1, 3_000);
}

function kill(state: State, schedule: Schedule, owner: Owner): void {
  schedule.note(`${owner.name} dies`);
  state.running = state.running.filter((one) => one.owner !== owner);
  start(state, owner);
}

function start(state: State, owner: Owner): void {
  jump(state, owner);
  state.running.push({ owner, task: owner.begin(), until: state.now });
}

function jump(state: State, owner: Owner): void {
  state.clocks.set(owner, state.random.whole(-owner.skewMs, owner.skewMs));
}

/** Whoever may go on, one of them; where all wait, time passes to the first of them. */
function stepOne(state: State, schedule: Schedule): boolean {
  const first = Math.min(...state.running.map(({ until }) => until));
  if (first === Infinity) return false;
  state.now = Math.max(state.now, first);
  const ready = state.running.filter(({ until }) => until <= state.now);
  const chosen = state.random.pick(ready);
  const { done, value } = chosen.task.next();
  if (done) state.running = state.running.filter((one) => one !== chosen);
  else {
    schedule.note(`${chosen.owner.name}: ${value.did}`);
    chosen.until = value.until ?? state.now;
  }
  return true;
}
