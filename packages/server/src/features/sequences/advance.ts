import { matchesWhere, type Predicate } from '../../base/predicate/index.ts';
import { nextLocalMoment } from './local-time.ts';
import type { Instruction, Program, ProgramLetter } from './program.ts';
import type { EndReason, Run } from './run.ts';

/** Where a run stands now, and why it goes no further by itself. */
export type Stand = { step: number; stop: Stop };
export type Stop =
  | { kind: 'draft'; letter: ProgramLetter }
  | { kind: 'time'; nextAt: number }
  /** `nextAt`: when it goes on without the event. */
  | { kind: 'event'; nextAt: number }
  | { kind: 'end' };

export type AdvanceFrom = {
  step: number;
  now: number;
  /** The person's. */
  zone: string;
  /** Whether a condition holds for the person now. */
  branch: (predicate: Predicate) => boolean;
};

/** Walks on from a step, which has not been done yet, to the first that has to be waited for. */
export function advance(program: Program, from: AdvanceFrom): Stand {
  let step = from.step;
  for (;;) {
    const instruction = instructionAt(program, step);
    const next = pass(instruction, from, step);
    if (typeof next !== 'number') return { step, stop: next };
    // A program that led back would have a worker go round for ever.
    if (next <= step) throw new RangeError(`step ${step} leads back to ${next}`);
    step = next;
  }
}

/** The step that comes next, or what is to be waited for here. */
function pass(instruction: Instruction, { now, zone, branch }: AdvanceFrom, step: number): number | Stop {
  switch (instruction.kind) {
    case 'draft':
      return { kind: 'draft', letter: instruction.letter };
    case 'wait':
      return { kind: 'time', nextAt: now + instruction.ms };
    case 'wait_until': {
      const nextAt = nextLocalMoment(instruction, { now, zone });
      return nextAt === now ? step + 1 : { kind: 'time', nextAt };
    }
    case 'wait_for':
      return { kind: 'event', nextAt: now + instruction.timeoutMs };
    case 'branch':
      return branch(instruction.predicate) ? instruction.onTrue : instruction.onFalse;
    case 'jump':
      return instruction.to;
    case 'end':
      return { kind: 'end' };
    default:
      return instruction satisfies never;
  }
}

/** Where a run goes on whose draft has ended. */
export function afterDraft(program: Program, step: number): number {
  instructionAt(program, step);
  return step + 1;
}

/**
 * Where a run goes on whose time has come: a wait is over, or no event came in time. One whose draft has ended is waked by
 * time as well.
 */
export function onTime(program: Program, step: number): number {
  const instruction = instructionAt(program, step);
  return instruction.kind === 'wait_for' ? instruction.onTimeout : step + 1;
}

export type SeenEvent = { name: string; properties: Record<string, unknown> };

/** Where a run goes on after an event; null where that is not what it waits for. */
export function onEvent(program: Program, step: number, event: SeenEvent): number | null {
  const instruction = instructionAt(program, step);
  if (instruction.kind !== 'wait_for' || instruction.event !== event.name) return null;
  return matchesWhere(instruction.where, event.properties) ? instruction.onEvent : null;
}

function instructionAt(program: Program, step: number): Instruction {
  const instruction = program[step];
  if (!instruction) throw new RangeError(`step ${step} is not in a program of ${program.length}`);
  return instruction;
}

/**
 * What is left of the time that a restore took away, for a run that comes to stand here. Only a wait of fixed length was as long
 * before; one for an event, or until a time of day, may have been over at once.
 */
export function lostAfter(program: Program, { step }: Stand, lostMs: number | null): number | null {
  const instruction = instructionAt(program, step);
  if (lostMs === null || instruction.kind !== 'wait') return lostMs;
  return instruction.ms > lostMs ? null : lostMs - instruction.ms;
}

/** The run as it stands after it went on. */
export function standAt(run: Run, { step, stop }: Stand, now: number): Run {
  const moved: Run = { ...run, step };
  switch (stop.kind) {
    case 'draft':
      return { ...moved, waitsFor: 'draft', nextAt: null };
    case 'time':
    case 'event':
      return { ...moved, waitsFor: stop.kind, nextAt: stop.nextAt };
    case 'end':
      return endRun(moved, 'done', now);
    default:
      return stop satisfies never;
  }
}

/** Its goal is waited for all the same. One that has ended before stays as it ended. */
export function endRun(run: Run, reason: EndReason, now: number): Run {
  if (run.state === 'ended') return run;
  return { ...run, state: 'ended', waitsFor: null, nextAt: null, endedAt: now, endReason: reason };
}
