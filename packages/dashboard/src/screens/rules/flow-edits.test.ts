import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RuleDocument } from '@beckon/contract/dashboard';
import { newStep, type Piece, STEP_LABELS, stepKind, type StepKind, textOf } from './document.ts';
import {
  afterDeletion,
  allSteps,
  deleteStep,
  insertStep,
  isFork,
  levelOf,
  LEVELS_MAX,
  mayHold,
  moveStep,
  positionOf,
  replaceStep,
  stepAt,
  stepsAt,
  STEPS_MAX,
} from './flow-edits.ts';

const email = (name: string): Piece => ({ draft: name });
const fork = (then: Piece[], otherwise: Piece[]): Piece => ({ ...newStep('branch'), then, else: otherwise });
const rule = (...steps: Piece[]): RuleDocument => ({ name: 'r', when: [{ event: 'e' }], steps });
const pathsOf = (document: RuleDocument): string[] =>
  allSteps(document).map(({ path, step }) => `${path} ${textOf(step['draft']) || stepKind(step)}`);

describe('insertStep', () => {
  test('inserts before a step, at the end, and in a branch', () => {
    const document = rule(email('a'), fork([], [email('b')]));
    expect(pathsOf(insertStep(document, 'steps.0', email('x')))[0]).toBe('steps.0 x');
    expect(pathsOf(insertStep(document, 'steps.2', email('x'))).at(-1)).toBe('steps.2 x');
    expect(pathsOf(insertStep(document, 'steps.1.then.0', email('x')))).toContain('steps.1.then.0 x');
  });

  test('inserts nothing after an end, no end before a step, no branch too deep, and no step too many', () => {
    const ended = rule(email('a'), { end: true });
    expect(insertStep(ended, 'steps.2', email('x'))).toBe(ended);
    expect(insertStep(ended, 'steps.0', { end: true })).toBe(ended);
    let deep: RuleDocument = rule(fork([], []));
    for (let path = 'steps.0', level = 2; level < LEVELS_MAX; level += 1) {
      path = `${path}.then.0`;
      deep = insertStep(deep, path, fork([], []));
    }
    const list = 'steps.0.then.0.then.0.then.0.then';
    expect(levelOf(list)).toBe(LEVELS_MAX);
    expect(mayHold(list, 'branch', true)).toBe(false);
    expect(insertStep(deep, `${list}.0`, fork([], []))).toBe(deep);
    expect(stepAt(insertStep(deep, `${list}.0`, email('x')), `${list}.0`)).toEqual(email('x'));
    const full = rule(...Array.from({ length: STEPS_MAX }, () => email('a')));
    expect(insertStep(full, 'steps.0', email('x'))).toBe(full);
  });
});

describe('moveStep', () => {
  const walk = (document: RuleDocument, start: string, by: -1 | 1): string[] => {
    const visited = [start];
    for (let at = moveStep(document, start, by); at !== null; at = moveStep(at.document, at.path, by))
      visited.push(at.path);
    return visited;
  };

  test('moves a step through the branches in reading order, and back', () => {
    const document = rule(email('x'), fork([email('a')], [email('b')]), email('c'));
    const down = walk(document, 'steps.0', 1);
    expect(down).toEqual([
      'steps.0',
      'steps.0.then.0',
      'steps.0.then.1',
      'steps.0.else.0',
      'steps.0.else.1',
      'steps.1',
      'steps.2',
    ]);
  });

  test('leaves an end at the end of its list, and moves past it', () => {
    const document = rule(fork([email('a'), { end: true }], []), email('b'));
    expect(moveStep(document, 'steps.0.then.1', -1)).toBe(null);
    const moved = moveStep(document, 'steps.0.then.0', 1);
    expect(moved?.path).toBe('steps.0.else.0');
    expect(moveStep(moved?.document ?? {}, 'steps.0.else.0', -1)?.document).toEqual(document);
  });

  test('moves a branch over another one that it would nest too deep', () => {
    const document = rule(fork([fork([fork([fork([], []), fork([], [])], [])], [])], []));
    const path = 'steps.0.then.0.then.0.then.0';
    const moved = moveStep(document, path, 1);
    expect(moved?.path).toBe('steps.0.then.0.then.0.then.1');
    expect(moveStep(moved?.document ?? {}, moved?.path ?? '', -1)?.path).toBe(path);
  });

  test('does not move the first step up or the last one down', () => {
    expect(moveStep(rule(email('a')), 'steps.0', -1)).toBe(null);
    expect(moveStep(rule(email('a')), 'steps.0', 1)).toBe(null);
  });
});

describe('deleteStep and replaceStep', () => {
  test('change one step, and name the step that gets the focus', () => {
    const document = rule(email('a'), fork([email('b')], []));
    expect(stepAt(replaceStep(document, 'steps.1.then.0', email('x')), 'steps.1.then.0')).toEqual(email('x'));
    const without = deleteStep(document, 'steps.1.then.0');
    expect(afterDeletion(without, 'steps.1.then.0')).toBe(null);
    expect(afterDeletion(deleteStep(document, 'steps.1'), 'steps.1')).toBe('steps.0');
  });
});

/** Checks the limits of the rule format that concern the order and nesting of steps. */
function assertValid(document: RuleDocument): void {
  const steps = allSteps(document);
  expect(steps.length).toBeLessThanOrEqual(STEPS_MAX);
  for (const { path, step } of steps) {
    const { list, index } = positionOf(path);
    expect(stepKind(step)).not.toBe(null);
    // The lists of a fork are one level deeper than the fork.
    expect(levelOf(list) + (isFork(step) ? 1 : 0)).toBeLessThanOrEqual(LEVELS_MAX);
    const fellow = stepAt(document, `${list}.${index + 1}`);
    if (stepKind(step) === 'end') expect(fellow).toBe(undefined);
  }
}

const KINDS = Object.keys(STEP_LABELS) as StepKind[];
const edits = fc.array(
  fc.record({
    act: fc.constantFrom('insert', 'into', 'up', 'down', 'delete'),
    at: fc.nat(),
    kind: fc.constantFrom(...KINDS),
  }),
  { maxLength: 60 },
);
type Edit = { act: string; at: number; kind: StepKind };

function apply(document: RuleDocument, { act, at, kind }: Edit): RuleDocument {
  const steps = allSteps(document);
  const { path, step } = steps[at % Math.max(1, steps.length)] ?? { path: 'steps.0', step: {} };
  switch (act) {
    case 'insert':
      return insertStep(document, path, newStep(kind));
    case 'into': {
      const list = isFork(step) ? `${path}.${at % 2 === 0 ? 'then' : 'else'}` : 'steps';
      return insertStep(document, `${list}.${stepsAt(document, list).length}`, newStep(kind));
    }
    case 'delete':
      return deleteStep(document, path);
    default:
      return moveStep(document, path, act === 'up' ? -1 : 1)?.document ?? document;
  }
}

describe('any sequence of edits', () => {
  test('keeps a valid document', () => {
    fc.assert(
      fc.property(edits, (list) => {
        let document = rule(email('a'));
        for (const edit of list) {
          document = apply(document, edit);
          assertValid(document);
        }
      }),
    );
  });

  test('can be followed by a move there and back, which changes nothing', () => {
    fc.assert(
      fc.property(edits, (list) => {
        const document = list.reduce(apply, rule(email('a')));
        for (const { path } of allSteps(document))
          for (const by of [-1, 1] as const) {
            const moved = moveStep(document, path, by);
            if (moved === null) continue;
            const back = moveStep(moved.document, moved.path, by === 1 ? -1 : 1);
            expect(back).toEqual({ document, path });
          }
      }),
    );
  });

  test('can be followed by an insertion and its deletion, which change nothing', () => {
    fc.assert(
      fc.property(edits, (list) => {
        const document = list.reduce(apply, rule(email('a')));
        for (const { path } of allSteps(document)) {
          const inserted = insertStep(document, path, email('x'));
          if (inserted !== document) expect(deleteStep(inserted, path)).toEqual(document);
        }
      }),
    );
  });
});
