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

test('shapeOf and printShape › convert every example of the guide without a change', () => {
  expect(EXAMPLES.length).toBeGreaterThan(40);
  for (const part of EXAMPLES.flatMap(partsOf)) {
    const shape = shapeOf(part);
    expect(shape.kind, JSON.stringify(part)).not.toBe('other');
    if (shape.kind !== 'other') expect(printShape(shape)).toEqual(part);
  }
});

test('shapeOf › leaves invalid conditions, and those with more than the form shows, to the JSON editor', () => {
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

test('startOf › returns conditions that the form can show', () => {
  for (const subject of Object.keys(SUBJECTS) as Subject[]) {
    const started = startOf(subject, 'login');
    expect(shapeOf(printShape(started))).toEqual(started);
  }
});

test('operandFor › keeps the operand if it fits the new operator', () => {
  expect(operandFor('one_of', 'pro')).toEqual(['pro']);
  expect(operandFor('equals', ['pro', 'trial'])).toBe('pro');
  expect(operandFor('at_least', 'pro')).toBe(1);
  expect(operandFor('at_most', 5)).toBe(5);
  expect(operandFor('in_last', '3h')).toBe('3h');
  expect(operandFor('in_last', 'x')).toBe('7d');
  expect(operandFor('contains', 5)).toBe('');
  for (const op of Object.keys(OPERATORS) as Operator[]) expect(operandFor(op, null)).not.toBeUndefined();
});
