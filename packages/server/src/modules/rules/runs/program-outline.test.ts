import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compile, outline, type ProgramStep } from './program.ts';

const { steps } = fc.letrec<{ step: ProgramStep; steps: ProgramStep[] }>((tie) => ({
  step: fc.oneof(
    { maxDepth: 3 },
    fc.record({ kind: fc.constant('draft' as const), email: fc.record({ name: fc.string() }) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.nat() }),
    fc.constant<ProgramStep>({ kind: 'end' }),
    fc.record({
      kind: fc.constant('wait_for' as const),
      event: fc.string(),
      where: fc.constant<never[]>([]),
      timeoutMs: fc.nat(),
      then: tie('steps'),
      otherwise: tie('steps'),
    }),
  ),
  steps: fc.array(tie('step'), { maxLength: 4 }),
}));

test('lists every step at its position in the program, and omits only jumps and the end', () => {
  fc.assert(
    fc.property(steps, (list) => {
      const program = compile(list);
      const listed = outline(list);
      const positions = new Set(listed.map(({ at }) => at));
      for (const { at, step } of listed) expect(program[at]?.kind).toBe(step.kind);
      const unlisted = program.filter((instruction, at) => !positions.has(at) && instruction.kind !== 'jump');
      expect(unlisted).toEqual([{ kind: 'end' }]);
      expect(positions.size).toBe(listed.length);
    }),
  );
});

test('gives each step its path in the document', () => {
  const email = { kind: 'draft', email: { name: 'a' } } as const;
  const fork = {
    kind: 'wait_for',
    event: 'e',
    where: [],
    timeoutMs: 1,
    then: [email],
    otherwise: [email],
  } as const;
  const list: ProgramStep[] = [
    email,
    { ...fork, where: [], then: [{ ...fork, where: [], then: [], otherwise: [email] }], otherwise: [] },
  ];
  expect(outline(list).map(({ path }) => path)).toEqual([
    'steps.0',
    'steps.1',
    'steps.1.then.0',
    'steps.1.then.0.else.0',
  ]);
});
