import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Predicate, PropertyTest } from '../../../platform/predicate/predicate.ts';
import { advance, afterDraft, onEvent, onTime } from './advance-run.ts';
import { compile, isSameUpTo, type Program, type ProgramStep } from './program.ts';

const HOLDS: Predicate = { kind: 'trait', trait: 'plan', test: { op: 'is_set' } };
const event = { name: 'done', properties: {} };

/** Small, so that two programs often begin in the same way. */
const { steps } = fc.letrec<{ steps: ProgramStep[]; step: ProgramStep }>((tie) => ({
  steps: fc.array(tie('step'), { maxLength: 5 }),
  step: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.integer({ min: 1, max: 3 }).map((ms): ProgramStep => ({ kind: 'wait', ms })),
    fc.constantFrom('a', 'b').map((name): ProgramStep => ({ kind: 'draft', email: { name } })),
    fc.constant<ProgramStep>({ kind: 'wait_until', weekdays: [1, 4], at: '09:00' }),
    fc.constant<ProgramStep>({ kind: 'end' }),
    fc.record({
      kind: fc.constant('branch' as const),
      if: fc.constant(HOLDS),
      then: tie('steps'),
      otherwise: tie('steps'),
    }),
    fc.record({
      kind: fc.constant('wait_for' as const),
      event: fc.constant(event.name),
      where: fc.constant<PropertyTest[]>([]),
      timeoutMs: fc.constant(7),
      then: tie('steps'),
      otherwise: tie('steps'),
    }),
  ),
}));
const choices = fc.infiniteStream(fc.boolean());

/** Returns the steps that a user passes, read from the steps themselves, and whether the path ended. */
function met(list: ProgramStep[], choose: () => boolean): { marks: string[]; isOver: boolean } {
  const marks: string[] = [];
  for (const step of list) {
    if (step.kind === 'end') return { marks, isOver: true };
    if (step.kind !== 'branch') marks.push(markOf(step));
    if (step.kind !== 'branch' && step.kind !== 'wait_for') continue;
    const branch = met(choose() ? step.then : step.otherwise, choose);
    marks.push(...branch.marks);
    if (branch.isOver) return { marks, isOver: true };
  }
  return { marks, isOver: false };
}

function markOf(step: { kind: string; email?: unknown; ms?: number }): string {
  return `${step.kind} ${JSON.stringify(step.email ?? step.ms ?? '')}`;
}

// A Thursday, one millisecond after 09:00.
const NOW = Date.UTC(2026, 0, 15, 9, 0, 0, 1);

/** Returns the same by running the program. `stands` are the steps that wait. */
function walked(program: Program, choose: () => boolean): { marks: string[]; stands: number[] } {
  const marks: string[] = [];
  const stands: number[] = [];
  let step = 0;
  for (let moves = 0; moves <= program.length; moves += 1) {
    const stand = advance(program, { step, now: NOW, zone: 'UTC', branch: choose });
    expect(stand.step).toBeGreaterThanOrEqual(step);
    expect(stand.step).toBeLessThan(program.length);
    stands.push(stand.step);
    if (stand.stop.kind === 'end') return { marks, stands };
    marks.push(markOf(program[stand.step] ?? { kind: 'none' }));
    if (stand.stop.kind === 'draft') step = afterDraft(program, stand.step);
    else if (stand.stop.kind === 'time') step = onTime(program, stand.step);
    else step = choose() ? (onEvent(program, stand.step, event) ?? -1) : onTime(program, stand.step);
  }
  throw new Error('it never ends');
}

function chooser(stream: Iterable<boolean>): () => boolean {
  const choices = stream[Symbol.iterator]();
  return () => Boolean(choices.next().value);
}

test('jumps forward only, to existing instructions, and ends with the end', () => {
  fc.assert(
    fc.property(steps, (list) => {
      const program = compile(list);
      expect(program.at(-1)).toEqual({ kind: 'end' });
      for (const [at, instruction] of program.entries()) {
        const targets = Object.entries(instruction).filter(([key]) =>
          ['to', 'onTrue', 'onFalse', 'onEvent', 'onTimeout'].includes(key),
        );
        for (const [, to] of targets) {
          expect(to).toBeGreaterThan(at);
          expect(to).toBeLessThan(program.length);
        }
      }
    }),
  );
});

test('reaches the end on every path and passes the steps in their order', () => {
  fc.assert(
    fc.property(steps, choices, (list, stream) => {
      const path = [...stream.take(200)];
      expect(walked(compile(list), chooser(path)).marks).toEqual(met(list, chooser(path)).marks);
    }),
    { numRuns: 500 },
  );
});

test('reaches a step with the same choices in two programs that are the same up to it', () => {
  let shared = 0;
  fc.assert(
    fc.property(fc.tuple(steps, steps, fc.nat(5)), choices, ([list, tail, kept], stream) => {
      const first = compile(list);
      const second = compile([...list.slice(0, kept), ...tail]);
      const path = [...stream.take(200)];
      const [here, there] = [walked(first, chooser(path)), walked(second, chooser(path))];
      for (const step of here.stands.filter((stand) => isSameUpTo(stand, first, second))) {
        if (here.stands.indexOf(step) > 0) shared += 1;
        expect(there.stands).toContain(step);
      }
      for (const step of here.stands) expect(isSameUpTo(step, first, first)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
  // Otherwise the test has proven nothing.
  expect(shared).toBeGreaterThan(100);
});

const draft = (name: string): ProgramStep => ({ kind: 'draft', email: { name } });
const branch = (then: ProgramStep[], otherwise: ProgramStep[]): ProgramStep => ({
  kind: 'branch',
  if: HOLDS,
  then,
  otherwise,
});

test('allows changes after a step, but not before it', () => {
  const first = compile([draft('a'), { kind: 'wait', ms: 5 }, branch([draft('b')], []), draft('c')]);
  const longer = compile([
    draft('a'),
    { kind: 'wait', ms: 5 },
    branch([draft('b'), draft('x')], []),
    draft('c'),
  ]);
  const other = compile([draft('a'), { kind: 'wait', ms: 6 }, branch([draft('b')], []), draft('c')]);
  const same = (than: Program): boolean[] => first.map((_, step) => isSameUpTo(step, first, than));
  // a, wait, branch, b | the jump over nothing, c and the end come after the inserted step.
  expect(same(longer)).toEqual([true, true, true, true, false, false, false]);
  expect(same(other)).toEqual([true, false, false, false, false, false, false]);
  expect(isSameUpTo(6, first, compile([]))).toBe(false);
});
