import type { ProgramStep } from '../runs/program.ts';
import type { EndReason, Run } from '../runs/run.ts';

/** Runs of one version that are, or ended, at the same position. `drafted`: the positions at which they drafted an email. */
export type RunGroup = {
  step: number;
  state: Run['state'];
  reason: EndReason | null;
  drafted: readonly number[];
  runs: number;
};

export type StepFigures = {
  /** Runs that continued after the step. */
  passed: number;
  /** True if more runs may have passed: it is unknown which branch some of them took. */
  isAtLeast: boolean;
  /** Runs that ended at the step, by reason. */
  ended: Partial<Record<EndReason, number>>;
};

/**
 * Counts for each position how many runs passed it and how many ended there. A run stores only its last position. Every jump leads
 * forward, so it passed all earlier positions except those of the branches that it did not take. The branch follows from the drafts of
 * the run, and from branches that end every run or always draft an email.
 */
export function flowFigures(steps: ProgramStep[], groups: RunGroup[]): Map<number, StepFigures> {
  const placed = place(steps, 0).steps;
  const figures = new Map<number, StepFigures>();
  const add = (list: PlacedStep[]): void => {
    for (const { at, branches } of list) {
      figures.set(at, { passed: 0, isAtLeast: false, ended: {} });
      for (const branch of branches) add(branch.steps);
    }
  };
  add(placed);
  for (const group of groups) follow(placed, group, figures);
  return figures;
}

/** `from` and `to`: the positions of the branch, without `to`. */
type Branch = { from: number; to: number; steps: PlacedStep[] };
type PlacedStep = { at: number; kind: ProgramStep['kind']; branches: Branch[] };

/** Gives each step its position in the program; see `compile`. */
function place(steps: ProgramStep[], from: number): Branch {
  let next = from;
  const placed = steps.map((step): PlacedStep => {
    const at = next;
    next += 1;
    if (step.kind !== 'wait_for' && step.kind !== 'branch') return { at, kind: step.kind, branches: [] };
    const then = place(step.then, next);
    // The jump over the other branch has a position of its own.
    const otherwise = place(step.otherwise, then.to + 1);
    next = otherwise.to;
    return { at, kind: step.kind, branches: [then, otherwise] };
  });
  return { from, to: next, steps: placed };
}

function follow(list: PlacedStep[], group: RunGroup, figures: Map<number, StepFigures>): void {
  for (const { at, branches } of list) {
    const found = figures.get(at);
    if (!found) return;
    if (at === group.step) {
      const { reason, runs } = group;
      if (reason !== null) found.ended[reason] = (found.ended[reason] ?? 0) + runs;
      return;
    }
    found.passed += group.runs;
    const inside = branches.find(({ from, to }) => group.step >= from && group.step < to);
    if (inside) return follow(inside.steps, group, figures);
    const taken = takenBranch(branches, group);
    if (taken) follow(taken.steps, group, figures);
    else for (const branch of branches) markUncertain(branch.steps, figures);
  }
}

/** Returns the branch through which a run passed a fork, or null if both are possible. */
function takenBranch(branches: Branch[], { drafted }: RunGroup): Branch | null {
  const drafting = branches.find(({ from, to }) => drafted.some((at) => at >= from && at < to));
  if (drafting) return drafting;
  const possible = branches.filter(
    ({ steps }) => !steps.some(({ kind }) => kind === 'end' || kind === 'draft'),
  );
  const [first, second] = possible;
  return first && !second ? first : null;
}

function markUncertain(list: PlacedStep[], figures: Map<number, StepFigures>): void {
  for (const { at, branches } of list) {
    const found = figures.get(at);
    if (found) found.isAtLeast = true;
    for (const { steps } of branches) markUncertain(steps, figures);
  }
}
