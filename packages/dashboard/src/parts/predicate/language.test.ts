import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  OPERATORS,
  operandFor,
  type Operator,
  printShape,
  shapeOf,
  type Subject,
  startOf,
  SUBJECTS,
} from './language.ts';

const GUIDE = readFileSync(new URL('../../../../../docs/reference/audiences.md', import.meta.url), 'utf8');

/** Every example of the guide: the blocks, and the first column of the tables before the validation errors. */
const EXAMPLES = [
  ...Array.from(GUIDE.matchAll(/^```json\n(.*?)^```/gms), ([, text = '']) => text),
  ...Array.from(
    (GUIDE.split('## Validation errors')[0] ?? '').matchAll(/^\| `(\{.*?\})` \|/gm),
    ([, text = '']) => text,
  ),
].map((text) => JSON.parse(text) as unknown);

function partsOf(definition: unknown): unknown[] {
  const shape = shapeOf(definition);
  if (shape.kind === 'all' || shape.kind === 'any') return [definition, ...shape.of.flatMap(partsOf)];
  return shape.kind === 'not' ? [definition, ...partsOf(shape.of)] : [definition];
}

test('the form knows every example of the guide, and gives it back as it was', () => {
  expect(EXAMPLES.length).toBeGreaterThan(40);
  for (const part of EXAMPLES.flatMap(partsOf)) {
    const shape = shapeOf(part);
    expect(shape.kind, JSON.stringify(part)).not.toBe('other');
    if (shape.kind !== 'other') expect(printShape(shape)).toEqual(part);
  }
});

test('what is no condition, or has more than the form shows, is left to be edited as JSON', () => {
  for (const odd of [
    null,
    'plan',
    [],
    {},
    { trait: 'plan' },
    { trait: 'plan', equals: 'a', at_least: 1 },
    { trait: 7, equals: 'a' },
    { trait: 'plan', equals: 'a', event: 'login' },
    { event: 'login', first: { before: '2026-01-01' }, within: '7d' },
    { event: 'login', sum: 'amount', at_least: 1 },
    { event: 'login', within: 7 },
    { event: 'login', within: '7d', where: [{ property: 'a', in_last: '7d' }] },
    { all: 'x' },
    { all: [], any: [] },
  ])
    expect(shapeOf(odd), JSON.stringify(odd)).toEqual({ kind: 'other' });
});

test('whatever is chosen anew is a condition that the form knows', () => {
  for (const subject of Object.keys(SUBJECTS) as Subject[]) {
    const started = startOf(subject, 'login');
    expect(shapeOf(printShape(started))).toEqual(started);
  }
});

test('another operator keeps what was typed where it can', () => {
  expect(operandFor('one_of', 'pro')).toEqual(['pro']);
  expect(operandFor('equals', ['pro', 'trial'])).toBe('pro');
  expect(operandFor('at_least', 'pro')).toBe(1);
  expect(operandFor('at_most', 5)).toBe(5);
  expect(operandFor('in_last', '3h')).toBe('3h');
  expect(operandFor('in_last', 'x')).toBe('7d');
  expect(operandFor('contains', 5)).toBe('');
  for (const op of Object.keys(OPERATORS) as Operator[]) expect(operandFor(op, null)).not.toBeUndefined();
});
