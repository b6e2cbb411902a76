import type { Predicate, PropertyTest } from '../../../platform/predicate/predicate.ts';

/**
 * The steps of a rule as a list of instructions. Every jump leads forward. So from any position a run reaches the end in no more moves than
 * there are instructions, and one number is its position.
 */
export type Program = readonly Instruction[];

export type Instruction =
  | { kind: 'draft'; email: ProgramEmail }
  | { kind: 'wait'; ms: number }
  | { kind: 'wait_until'; weekdays: number[]; at: string }
  | {
      kind: 'wait_for';
      event: string;
      where: PropertyTest[];
      timeoutMs: number;
      onEvent: number;
      onTimeout: number;
    }
  | { kind: 'branch'; predicate: Predicate; onTrue: number; onFalse: number }
  | { kind: 'jump'; to: number }
  | { kind: 'end' };

/** The part of a rule's steps that a program needs; see `Step` in `definitions/rule.ts`. */
export type ProgramStep =
  | { kind: 'draft'; email: ProgramEmail }
  | { kind: 'wait'; ms: number }
  | { kind: 'wait_until'; weekdays: number[]; at: string }
  | {
      kind: 'wait_for';
      event: string;
      where: PropertyTest[];
      timeoutMs: number;
      then: ProgramStep[];
      otherwise: ProgramStep[];
    }
  | { kind: 'branch'; if: Predicate; then: ProgramStep[]; otherwise: ProgramStep[] }
  | { kind: 'end' };

export type ProgramEmail = { name: string } | { subject: string; preheader: string; body: string };

export function compile(steps: ProgramStep[]): Program {
  const into: Instruction[] = [];
  addAll(into, steps);
  into.push({ kind: 'end' });
  return into;
}

function addAll(into: Instruction[], steps: ProgramStep[]): void {
  for (const step of steps) add(into, step);
}

function add(into: Instruction[], step: ProgramStep): void {
  switch (step.kind) {
    case 'draft':
    case 'wait':
    case 'wait_until':
    case 'end':
      into.push(step);
      return;
    case 'wait_for': {
      const { kind, event, where, timeoutMs } = step;
      addFork(into, step, (onEvent, onTimeout) => ({ kind, event, where, timeoutMs, onEvent, onTimeout }));
      return;
    }
    case 'branch': {
      const { kind, if: predicate } = step;
      addFork(into, step, (onTrue, onFalse) => ({ kind, predicate, onTrue, onFalse }));
      return;
    }
    default:
      step satisfies never;
  }
}

/** Adds a fork: the condition, the first branch, a jump over the other branch, the other branch. */
function addFork(
  into: Instruction[],
  branches: { then: ProgramStep[]; otherwise: ProgramStep[] },
  fork: (then: number, otherwise: number) => Instruction,
): void {
  const at = into.push({ kind: 'end' }) - 1;
  addAll(into, branches.then);
  const over = into.push({ kind: 'end' }) - 1;
  into[at] = fork(at + 1, into.length);
  addAll(into, branches.otherwise);
  into[over] = { kind: 'jump', to: into.length };
}

/**
 * Returns whether a step has the same position in both programs: everything before it, and what it waits for, is the same. The targets of a
 * fork beyond this step do not matter.
 */
export function isSameUpTo(step: number, first: Program, second: Program): boolean {
  if (step >= first.length || step >= second.length) return false;
  const before = (program: Program): string =>
    JSON.stringify(program.slice(0, step + 1).map((instruction) => withoutFuture(instruction, step)));
  return before(first) === before(second);
}

function withoutFuture(instruction: Instruction, step: number): Instruction {
  const near = (to: number): number => Math.min(to, step + 1);
  switch (instruction.kind) {
    case 'wait_for':
      return { ...instruction, onEvent: near(instruction.onEvent), onTimeout: near(instruction.onTimeout) };
    case 'branch':
      return { ...instruction, onTrue: near(instruction.onTrue), onFalse: near(instruction.onFalse) };
    case 'jump':
      return { ...instruction, to: near(instruction.to) };
    case 'draft':
    case 'wait':
    case 'wait_until':
    case 'end':
      return instruction;
    default:
      return instruction satisfies never;
  }
}

/** A step with its position in the program; see `compile`. `depth` and `way` give its nesting and the branch that contains it. */
export type OutlinedStep<S extends ProgramStep = ProgramStep> = {
  at: number;
  /** The path in the document, such as `steps.2.then.0`. */
  path: string;
  depth: number;
  way: 'then' | 'else' | null;
  step: S;
};

/** Returns the steps as a flat list, in the order of the rule. */
export function outline(steps: ProgramStep[]): OutlinedStep[] {
  const into: OutlinedStep[] = [];
  outlineAll(into, { steps, at: 0, depth: 0, way: null, path: 'steps' });
  return into;
}

type Part = Omit<OutlinedStep, 'step'> & { steps: ProgramStep[] };

/** Returns the position that follows the last step. */
function outlineAll(into: OutlinedStep[], { steps, at, depth, way, path: listPath }: Part): number {
  let next = at;
  for (const [index, step] of steps.entries()) {
    const path = `${listPath}.${index}`;
    into.push({ at: next, path, depth, way, step });
    next += 1;
    if (step.kind !== 'wait_for' && step.kind !== 'branch') continue;
    const part = { depth: depth + 1, path: `${path}.then`, way: 'then' } as const;
    next = outlineAll(into, { ...part, steps: step.then, at: next });
    // The jump over the other branch has a position of its own.
    const other = { ...part, path: `${path}.else`, way: 'else' } as const;
    next = outlineAll(into, { ...other, steps: step.otherwise, at: next + 1 });
  }
  return next;
}
