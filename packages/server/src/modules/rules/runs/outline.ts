import type { ProgramStep } from './program.ts';

/** A step with its position in the program; see `compile`. `depth` and `way` give its nesting and the branch that contains it. */
export type OutlinedStep<S extends ProgramStep = ProgramStep> = {
  at: number;
  depth: number;
  way: 'then' | 'else' | null;
  step: S;
};

/** Returns the steps as a flat list, in the order of the rule. */
export function outline(steps: ProgramStep[]): OutlinedStep[] {
  const into: OutlinedStep[] = [];
  addAll(into, { steps, at: 0, depth: 0, way: null });
  return into;
}

type Part = { steps: ProgramStep[]; at: number; depth: number; way: OutlinedStep['way'] };

/** Returns the position that follows the last step. */
function addAll(into: OutlinedStep[], { steps, at, depth, way }: Part): number {
  let next = at;
  for (const step of steps) {
    into.push({ at: next, depth, way, step });
    next += 1;
    if (step.kind !== 'wait_for' && step.kind !== 'branch') continue;
    next = addAll(into, { steps: step.then, at: next, depth: depth + 1, way: 'then' });
    // The jump over the other branch has a position of its own.
    next = addAll(into, { steps: step.otherwise, at: next + 1, depth: depth + 1, way: 'else' });
  }
  return next;
}
