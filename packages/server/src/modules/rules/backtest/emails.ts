import { evaluate } from '../../../platform/predicate/evaluate.ts';
import { boundedDeadline } from '../../drafts/index.ts';
import type { Person } from '../../users/index.ts';
import type { BacktestEvidence } from './evidence.ts';
import type { Anchor } from '../definitions/rule.ts';
import { advance, afterDraft, onTime, moveRunTo, type StopPoint } from '../runs/advance-run.ts';
import type { Program, ProgramEmail } from '../runs/program.ts';
import type { Run } from '../runs/run.ts';

/** An email that would have been written. Times are in milliseconds. */
export type SimulatedEmail = {
  userId: string;
  /** When the email would have been written, and when it would have been sent if no send check held it. */
  at: number;
  leavesAt: number;
  /** The run ended before the email was sent. */
  isCanceled: boolean;
  address: string | null;
};

/** The input for rendering an email. */
export type EmailSample = {
  person: Person;
  run: { anchor: Anchor; endsAt: number | null };
  source: ProgramEmail;
  at: number;
};

export type SimulatedRun = {
  emails: (SimulatedEmail & { source: ProgramEmail; step: number })[];
  /** The positions of the program that the run reaches. */
  visited: Set<number>;
  /** When the run would have ended. */
  until: number;
};

export type SimulationOptions = {
  program: Program;
  zone: string;
  evidence: BacktestEvidence;
  /** The time until an email is sent automatically; 0 if a member sends it, which is assumed to happen at once. */
  periodMs: number;
  /** The end of the time range. */
  until: number;
};

/**
 * Walks a run that has just begun through its steps. Every email is sent at its deadline, no event occurs that a step waits for, and
 * branches are decided by the facts at enrollment. Jumps only lead forward, so the walk terminates.
 */
export function simulateRun(begun: Run, options: SimulationOptions): SimulatedRun {
  const { evidence, until } = options;
  const endsAt = Math.min(evidence.exitAt ?? Infinity, until);
  const emails: SimulatedRun['emails'] = [];
  const visited = new Set<number>();
  let run = begun;
  let now = begun.enrolledAt;
  walk(options, { step: 0, now }, visited);
  while (run.state !== 'ended') {
    const instruction = options.program[run.step];
    const isDraft = run.waitsFor === 'draft' && instruction?.kind === 'draft';
    const goesOnAt = isDraft ? leavesAt(run, options, now) : (run.nextAt ?? Infinity);
    if (isDraft) {
      const email = simulatedEmail(options, { at: now, leavesAt: goesOnAt });
      emails.push({ ...email, source: instruction.email, step: run.step });
    }
    if (goesOnAt > endsAt) return { emails, visited, until: endsAt };
    const step = (isDraft ? afterDraft : onTime)(options.program, run.step);
    run = moveRunTo(run, walk(options, { step, now: goesOnAt }, visited), goesOnAt);
    now = goesOnAt;
  }
  return { emails, visited, until: now };
}

function leavesAt({ endsAt }: Run, { periodMs }: SimulationOptions, now: number): number {
  return boundedDeadline(now + periodMs, { now, endsAt });
}

function simulatedEmail(
  { evidence: { person, exitAt } }: SimulationOptions,
  { at, leavesAt: leaves }: { at: number; leavesAt: number },
): SimulatedEmail {
  const isCanceled = exitAt !== null && exitAt <= leaves;
  return { userId: person.userId, at, leavesAt: leaves, isCanceled, address: person.email };
}

function walk(
  { program, zone, evidence: { facts } }: SimulationOptions,
  { step, now }: { step: number; now: number },
  visited: Set<number>,
): StopPoint {
  return advance(program, {
    step,
    now,
    zone,
    branch: (predicate) => evaluate(predicate, facts).matches,
    visit: (at) => visited.add(at),
  });
}
