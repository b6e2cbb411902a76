import type { ProgramStep } from './program.ts';

/** A step with the place that it has in the program: see `compile`. `depth` and `way`: within which fork, and on which way out of it. */
export type OutlinedStep<S extends ProgramStep = ProgramStep> = {
  at: number;
  depth: number;
  way: 'then' | 'else' | null;
  step: S;
};

/** The steps as a list, in the order in which they stand in the rule. */
export function outline(steps: ProgramStep[]): OutlinedStep[] {
  const into: OutlinedStep[] = [];
  addAll(into, { steps, at: 0, depth: 0, way: null });
  return into;
}

type Part = { steps: ProgramStep[]; at: number; depth: number; way: OutlinedStep['way'] };

/** The place behind the last of them. */
function addAll(into: OutlinedStep[], { steps, at, depth, way }: Part): number {
  let next = at;
  for (const step of steps) {
    into.push({ at: next, depth, way, step });
    next += 1;
    if (step.kind !== 'wait_for' && step.kind !== 'branch') continue;
    next = addAll(into, { steps: step.then, at: next, depth: depth + 1, way: 'then' });
    // The jump over the other way has a place of its own.
    next = addAll(into, { steps: step.otherwise, at: next + 1, depth: depth + 1, way: 'else' });
  }
  return next;
}
