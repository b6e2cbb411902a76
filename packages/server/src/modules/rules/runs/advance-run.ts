import type { Instruction, Program, ProgramEmail } from './program.ts';
import type { EndReason, Run } from './run.ts';
import { matchesWhere } from '../../../platform/predicate/compare.ts';
import type { Predicate } from '../../../platform/predicate/predicate.ts';

/** The step at which a run is, and why it does not continue. */
export type StopPoint = { step: number; stop: Stop };
export type Stop =
  | { kind: 'draft'; email: ProgramEmail }
  | { kind: 'time'; nextAt: number }
  /** `nextAt`: when it continues without the event. */
  | { kind: 'event'; nextAt: number }
  | { kind: 'end' };

export type AdvanceFrom = {
  step: number;
  now: number;
  /** The user's time zone. */
  zone: string;
  /** Returns whether a condition holds for the user now. */
  branch: (predicate: Predicate) => boolean;
  /** Called with each position that is reached, including the last one. */
  visit?: (step: number) => void;
};

/** Advances from a step that is not done yet to the first step that has to wait. */
export function advance(program: Program, from: AdvanceFrom): StopPoint {
  let step = from.step;
  for (;;) {
    const instruction = instructionAt(program, step);
    from.visit?.(step);
    const next = pass(instruction, from, step);
    if (typeof next !== 'number') return { step, stop: next };
    // A backward jump would send a worker into an endless loop.
    if (next <= step) throw new RangeError(`step ${step} leads back to ${next}`);
    step = next;
  }
}

/** Returns the next step, or what this one waits for. */
function pass(instruction: Instruction, { now, zone, branch }: AdvanceFrom, step: number): number | Stop {
  switch (instruction.kind) {
    case 'draft':
      return { kind: 'draft', email: instruction.email };
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

/** Returns the step that follows a draft that has ended. */
export function afterDraft(program: Program, step: number): number {
  instructionAt(program, step);
  return step + 1;
}

/**
 * Returns the step that follows when the time has come: a wait ended, or an event did not arrive in time. A run whose draft has ended is
 * woken by time as well.
 */
export function onTime(program: Program, step: number): number {
  const instruction = instructionAt(program, step);
  return instruction.kind === 'wait_for' ? instruction.onTimeout : step + 1;
}

export type SeenEvent = { name: string; properties: Record<string, unknown> };

/** Returns the step that follows an event, or null if the run does not wait for this event. */
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
 * Returns the rest of the time that a restore lost, for a run that arrives at this step. Only a wait of fixed length took as long before
 * the restore. A wait for an event or a time of day may have ended at once.
 */
export function lostAfter(program: Program, { step }: StopPoint, lostMs: number | null): number | null {
  const instruction = instructionAt(program, step);
  if (lostMs === null || instruction.kind !== 'wait') return lostMs;
  return instruction.ms > lostMs ? null : lostMs - instruction.ms;
}

/** Returns the run after it advanced to this step. */
export function moveRunTo(run: Run, { step, stop }: StopPoint, now: number): Run {
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

/** Ends a run and keeps waiting for its goal. A run that has ended stays as it is. */
export function endRun(run: Run, reason: EndReason, now: number): Run {
  if (run.state === 'ended') return run;
  return { ...run, state: 'ended', waitsFor: null, nextAt: null, endedAt: now, endReason: reason };
}

/**
 * Returns the next occurrence of a local time on one of these weekdays (Monday is 1; none: any day). Now counts. A time that a clock change
 * skips occurs later by that change, and a time that occurs twice means its second occurrence. A date that a zone never had is skipped.
 */
export function nextLocalMoment(
  { weekdays, at }: { weekdays: number[]; at: string },
  { now, zone }: { now: number; zone: string },
): number {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).toPlainDate();
  const time = Temporal.PlainTime.from(at);
  for (let days = -1; days <= DAYS_AHEAD_MAX; days += 1) {
    const moment = today
      .add({ days })
      .toPlainDateTime(time)
      .toZonedDateTime(zone, { disambiguation: 'later' });
    const isOnWeekday = weekdays.length === 0 || weekdays.includes(moment.dayOfWeek);
    if (isOnWeekday && moment.epochMilliseconds >= now) return moment.epochMilliseconds;
  }
  throw new RangeError(`no day of the week matches ${weekdays.join(', ')}`);
}

/** Today's time may have passed, and the same weekday of the next week may be a date that the zone never had. */
const DAYS_AHEAD_MAX = 15;
