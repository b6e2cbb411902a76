import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile, outline, type ProgramStep } from '../runs/program.ts';
import { flowFigures, type RunGroup } from './flow-figures.ts';

const email: ProgramStep = { kind: 'draft', email: { name: 'hello' } };
const wait: ProgramStep = { kind: 'wait', ms: 1 };
const end: ProgramStep = { kind: 'end' };
const branch = (then: ProgramStep[], otherwise: ProgramStep[]): ProgramStep => ({
  kind: 'branch',
  if: { kind: 'all', of: [] },
  then,
  otherwise,
});
const run = (step: number, more: Partial<RunGroup> = {}): RunGroup => ({
  step,
  state: 'active',
  reason: null,
  drafted: [],
  runs: 1,
  ...more,
});
const passed = (steps: ProgramStep[], groups: RunGroup[]): (number | string)[] =>
  [...flowFigures(steps, groups).values()].map(({ passed: n, isAtLeast }) => (isAtLeast ? `${n}+` : n));

describe('flowFigures', () => {
  test('counts runs at every step before their position', () => {
    const groups = [
      run(0, { runs: 5 }),
      run(1, { runs: 3 }),
      run(2, { state: 'ended', reason: 'done', runs: 2 }),
    ];
    expect(passed([email, wait], groups)).toEqual([5, 2]);
  });

  test('counts runs that ended at a step by reason', () => {
    const groups = [run(0, { state: 'ended', reason: 'replied', runs: 2 }), run(0, { reason: 'goal' })];
    expect(flowFigures([email], groups).get(0)?.ended).toEqual({ replied: 2, goal: 1 });
  });

  test('follows the branch that contains the position', () => {
    // 0 branch, 1 email, 2 jump, 3 wait, 4 email.
    expect(passed([branch([email], [wait]), email], [run(1), run(3)])).toEqual([2, 0, 0, 0]);
  });

  test('follows the branch in which an email was drafted, and otherwise the one that drafts none', () => {
    const steps = [branch([email], [wait]), email];
    expect(passed(steps, [run(4, { drafted: [1] })])).toEqual([1, 1, 0, 0]);
    expect(passed(steps, [run(4)])).toEqual([1, 0, 1, 0]);
  });

  test('excludes a branch that ends every run', () => {
    expect(passed([branch([wait, end], [wait]), email], [run(5)])).toEqual([1, 0, 0, 1, 0]);
  });

  test('marks both branches if each is possible', () => {
    expect(passed([branch([wait], [wait]), email], [run(4)])).toEqual([1, '0+', '0+', 0]);
  });

  const { steps } = fc.letrec<{ step: ProgramStep; steps: ProgramStep[] }>((tie) => ({
    step: fc.oneof(
      { maxDepth: 3 },
      fc.constant(email),
      fc.constant(wait),
      fc.tuple(tie('steps'), tie('steps')).map(([then, otherwise]) => branch(then, otherwise)),
    ),
    steps: fc.array(tie('step'), { maxLength: 4 }),
  }));

  test('has a figure for each step, counts no run twice, and never more than reached the step', () => {
    fc.assert(
      fc.property(steps, fc.array(fc.nat(), { maxLength: 8 }), (list, picks) => {
        const program = compile(list);
        const stops = [...program.keys()].filter((at) => program[at]?.kind !== 'jump');
        const groups = picks.map((pick) => run(stops[pick % stops.length] ?? 0));
        const figures = flowFigures(list, groups);
        expect([...figures.keys()].toSorted((a, b) => a - b)).toEqual(outline(list).map(({ at }) => at));
        for (const [at, { passed: count }] of figures)
          expect(count).toBeLessThanOrEqual(groups.filter(({ step }) => step > at).length);
        const after = groups.filter(({ step }) => step === program.length - 1).length;
        const last = outline(list).findLast(({ depth }) => depth === 0);
        if (last) expect(figures.get(last.at)?.passed).toBeGreaterThanOrEqual(after);
      }),
    );
  });
});
