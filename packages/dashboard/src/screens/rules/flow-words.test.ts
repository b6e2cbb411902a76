import { describe, expect, test } from 'vitest';
import { moveStep } from './flow-edits.ts';
import {
  byContent,
  conditionWords,
  contentKeys,
  exitWords,
  labelsOf,
  stepName,
  stepNumbers,
  stepTitle,
  triggerTitle,
} from './flow-words.ts';

const condition = { trait: 'plan', equals: 'pro' };
const document = {
  when: { event: 'signed_up' },
  only_if: condition,
  exits: { events: ['paid'] },
  steps: [
    { draft: 'welcome' },
    { branch: { if: condition }, then: [{ wait: '3d' }], else: [{ draft: 'welcome' }] },
  ],
};
const labels = labelsOf(document, {
  'when.0': 'when signed_up happens',
  only_if: 'the user’s plan is pro',
  'steps.1': 'the user’s plan is pro',
  'steps.1.then.0': 'wait 3 days',
});

describe('labelsOf', () => {
  test('gives the words of the server to the parts of a document, wherever they are', () => {
    expect(triggerTitle({ event: 'signed_up' }, labels)).toBe('When signed_up happens');
    expect(conditionWords(condition, labels)).toBe('the user’s plan is pro');
    expect(stepTitle({ wait: '3d' }, labels)).toBe('Wait 3 days');
    expect(stepTitle({ branch: { if: condition }, then: [] }, labels)).toBe('If the user’s plan is pro');
  });

  test('asks for what is missing', () => {
    expect(triggerTitle({ event: '' }, labels)).toBe('Choose a trigger');
    expect(stepTitle({ draft: '' }, labels)).toBe('Choose a template');
    expect(stepTitle({ draft: { subject: '', body: '' } }, labels)).toBe('Write a subject');
    expect(stepTitle({ branch: {} }, labels)).toBe('Set a condition');
    expect(conditionWords(undefined, labels)).toBe(null);
  });
});

test('stepName › names a step for its menu', () => {
  expect(stepName({ draft: 'welcome' }, labels)).toBe('Email “welcome”');
  expect(stepName({ wait: '3d' }, labels)).toBe('Wait 3 days');
  expect(stepName({ end: true }, labels)).toBe('End');
});

test('exitWords › lists events, conditions and replies', () => {
  expect(exitWords(document, labels)).toEqual(['paid happens', 'the user replies']);
  expect(exitWords({ exits: { on_reply: false } }, labels)).toEqual([]);
});

describe('byContent', () => {
  test('finds the figures of a step again after it moved', () => {
    const figures = byContent(document, [{ path: 'steps.1.then.0', passed: 7 }]);
    const moved = moveStep(document, 'steps.1.then.0', -1)?.document ?? {};
    const keys = new Map(contentKeys(moved).map(({ path, key }) => [path, key]));
    expect(figures.get(keys.get('steps.1') ?? '')).toMatchObject({ passed: 7 });
  });

  test('tells equal steps apart by their order', () => {
    const figures = byContent(document, [
      { path: 'steps.0', passed: 5 },
      { path: 'steps.1.else.0', passed: 2 },
    ]);
    expect([...figures.values()].map(({ passed }) => passed)).toEqual([5, 2]);
  });
});

test('stepNumbers › counts neither completed runs nor goals as left', () => {
  const ended = { done: 4, goal: 2, replied: 3 };
  expect(stepNumbers({ active: 1, paused: 2, passed: 1_234, at_least: true, ended })).toEqual({
    here: 3,
    paused: 2,
    passed: '1,234+',
    completed: 4,
    left: 3,
    leftFor: { replied: 3 },
  });
});
