/**
 * Converts definitions of the audience language to form fields and back. The definition itself stays
 * JSON; unknown parts are edited as JSON.
 */

export type Shape =
  | { kind: 'all'; of: unknown[] }
  | { kind: 'any'; of: unknown[] }
  | { kind: 'not'; of: unknown }
  | { kind: 'trait'; trait: string; test: Test }
  | { kind: 'email'; test: Test }
  | {
      kind: 'count';
      event: string;
      compare: CountCompare;
      count: number;
      within: string | null;
      where: PropertyTest[];
    }
  | { kind: 'sum'; event: string; property: string; test: Test; within: string; where: PropertyTest[] }
  | { kind: 'first' | 'last'; event: string; test: Test }
  | { kind: 'audience'; audience: string }
  | { kind: 'other' };

export type CountCompare = 'ever' | 'at_least' | 'at_most' | 'exactly';
/** An operator with its operand; `true` if it has none. */
export type Test = { op: Operator; with: unknown };
export type PropertyTest = { property: string; test: Test };

export type OperandKind = 'none' | 'text' | 'number' | 'value' | 'values' | 'moment' | 'span';

/** In the order of the menu, in the words that the server uses. */
export const OPERATORS = {
  equals: { label: 'is', operand: 'value' },
  one_of: { label: 'is one of', operand: 'values' },
  is_set: { label: 'is set', operand: 'none' },
  contains: { label: 'contains', operand: 'text' },
  starts_with: { label: 'starts with', operand: 'text' },
  ends_with: { label: 'ends with', operand: 'text' },
  at_least: { label: 'is at least', operand: 'number' },
  at_most: { label: 'is at most', operand: 'number' },
  greater_than: { label: 'is more than', operand: 'number' },
  less_than: { label: 'is less than', operand: 'number' },
  includes: { label: 'includes', operand: 'value' },
  before: { label: 'is before', operand: 'moment' },
  after: { label: 'is after', operand: 'moment' },
  in_last: { label: 'is in the last', operand: 'span' },
  more_than_ago: { label: 'is longer ago than', operand: 'span' },
  in_next: { label: 'is in the next', operand: 'span' },
  more_than_ahead: { label: 'is further ahead than', operand: 'span' },
} as const satisfies Record<string, { label: string; operand: OperandKind }>;
export type Operator = keyof typeof OPERATORS;

const ALL = Object.keys(OPERATORS) as Operator[];
const NUMBERS: Operator[] = ['at_least', 'at_most', 'greater_than', 'less_than'];
export const OPERATORS_OF: Record<'trait' | 'email' | 'property' | 'sum' | 'moment', Operator[]> = {
  trait: ALL,
  email: ['equals', 'one_of', 'is_set', 'contains', 'starts_with', 'ends_with'],
  // A time in an event is compared with a fixed time.
  property: ALL.filter((op) => !['in_last', 'more_than_ago', 'in_next', 'more_than_ahead'].includes(op)),
  sum: NUMBERS,
  moment: ['before', 'after', 'in_last', 'more_than_ago'],
};

type Json = Record<string, unknown>;

export function shapeOf(value: unknown): Shape {
  return (isObject(value) && readShape(value)) || { kind: 'other' };
}

function readShape(value: Json): Shape | null {
  const [[key, inner] = ['', null], ...more] = Object.entries(value);
  if (more.length === 0 && key !== 'event') return readSingle(key, inner);
  const { trait, user, event, ...rest } = value;
  const subjects = [trait, user, event].filter((subject) => subject !== undefined);
  if (subjects.length !== 1) return null;
  if (typeof trait === 'string') return withTest(rest, 'trait', (test) => ({ kind: 'trait', trait, test }));
  if (user === 'email') return withTest(rest, 'email', (test) => ({ kind: 'email', test }));
  return typeof event === 'string' ? readEvent(event, rest) : null;
}

function readSingle(key: string, inner: unknown): Shape | null {
  if ((key === 'all' || key === 'any') && Array.isArray(inner)) return { kind: key, of: inner };
  if (key === 'not') return { kind: 'not', of: inner };
  return key === 'audience' && typeof inner === 'string' ? { kind: 'audience', audience: inner } : null;
}

function readEvent(event: string, rest: Json): Shape | null {
  const moment = readMoment(event, rest);
  if (moment !== undefined) return moment;
  const { within = null, where: tests = [], sum, ...compared } = rest;
  const where = readWhere(tests);
  if (where === null || (within !== null && typeof within !== 'string')) return null;
  if (sum === undefined) return readCount(compared, { event, within, where });
  if (typeof sum !== 'string' || within === null) return null;
  return withTest(compared, 'sum', (test) => ({ kind: 'sum', event, property: sum, test, within, where }));
}

/** Undefined for other conditions. */
function readMoment(event: string, rest: Json): Shape | null | undefined {
  const [[kind, inner] = ['', null], ...more] = Object.entries(rest);
  if (kind !== 'first' && kind !== 'last') return undefined;
  if (more.length > 0 || !isObject(inner)) return null;
  return withTest(inner, 'moment', (test) => ({ kind, event, test }));
}

function readCount(
  compared: Json,
  of: { event: string; within: string | null; where: PropertyTest[] },
): Shape | null {
  const [[compare, count] = ['ever', 1], ...more] = Object.entries(compared);
  if (more.length > 0 || !isCompare(compare) || typeof count !== 'number') return null;
  return { kind: 'count', compare, count, ...of };
}

function isCompare(text: string): text is CountCompare {
  return ['ever', 'at_least', 'at_most', 'exactly'].includes(text);
}

function readWhere(tests: unknown): PropertyTest[] | null {
  if (!Array.isArray(tests)) return null;
  const read = tests.map((entry: unknown): PropertyTest | null => {
    if (!isObject(entry)) return null;
    const { property, ...rest } = entry;
    const test = readTest(rest, 'property');
    return typeof property === 'string' && test ? { property, test } : null;
  });
  return read.every((test) => test !== null) ? read : null;
}

function withTest(rest: Json, of: keyof typeof OPERATORS_OF, make: (test: Test) => Shape): Shape | null {
  const test = readTest(rest, of);
  return test && make(test);
}

function readTest(rest: Json, of: keyof typeof OPERATORS_OF): Test | null {
  const [[op, value] = ['', null], ...more] = Object.entries(rest);
  const operator = OPERATORS_OF[of].find((name) => name === op);
  return operator && more.length === 0 ? { op: operator, with: value } : null;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The definition of a form value. */
export function printShape(shape: Exclude<Shape, { kind: 'other' }>): unknown {
  switch (shape.kind) {
    case 'all':
    case 'any':
    case 'not':
      return { [shape.kind]: shape.of };
    case 'trait':
      return { trait: shape.trait, ...printTest(shape.test) };
    case 'email':
      return { user: 'email', ...printTest(shape.test) };
    case 'audience':
      return { audience: shape.audience };
    case 'first':
    case 'last':
      return { event: shape.event, [shape.kind]: printTest(shape.test) };
    case 'sum':
      return printSum(shape);
    case 'count':
      return printCount(shape);
    default:
      return shape satisfies never;
  }
}

function printSum({ event, property, test, within, where }: Extract<Shape, { kind: 'sum' }>): Json {
  return { event, sum: property, ...printTest(test), within, ...printWhere(where) };
}

function printCount({ event, compare, count, within, where }: Extract<Shape, { kind: 'count' }>): Json {
  return {
    event,
    ...(compare === 'ever' ? {} : { [compare]: count }),
    ...(within === null ? {} : { within, ...printWhere(where) }),
  };
}

function printTest({ op, with: value }: Test): Json {
  return { [op]: value };
}

function printWhere(where: PropertyTest[]): Json {
  return where.length === 0
    ? {}
    : { where: where.map(({ property, test }) => ({ property, ...printTest(test) })) };
}

/** The initial operand of an operator; the previous one is kept if it fits. */
export function operandFor(op: Operator, was: unknown): unknown {
  return STARTS[OPERATORS[op].operand](was);
}

const STARTS: Record<OperandKind, (was: unknown) => unknown> = {
  none: () => true,
  number: (was) => (typeof was === 'number' ? was : 1),
  span: (was) => (typeof was === 'string' && /^\d+[smhd]$/.test(was) ? was : '7d'),
  moment: (was) => (typeof was === 'string' && /^\d{4}-/.test(was) ? was : ''),
  text: (was) => (typeof was === 'string' ? was : ''),
  values: (was) => (Array.isArray(was) ? was : isValue(was) && was !== '' ? [was] : []),
  value: (was) => [was].flat().find(isValue) ?? '',
};

function isValue(value: unknown): value is string | number {
  return ['string', 'number'].includes(typeof value);
}

export const SUBJECTS = {
  trait: 'a trait',
  email: 'the email address',
  count: 'how often an event happened',
  sum: 'the sum of a property',
  first: 'the first time of an event',
  last: 'the last time of an event',
  audience: 'an audience',
} as const;
export type Subject = keyof typeof SUBJECTS;

/** A new condition of this kind; the event name is kept. */
export function startOf(subject: Subject, event = ''): Exclude<Shape, { kind: 'other' }> {
  switch (subject) {
    case 'trait':
      return { kind: 'trait', trait: '', test: { op: 'equals', with: '' } };
    case 'email':
      return { kind: 'email', test: { op: 'ends_with', with: '' } };
    case 'count':
      return { kind: 'count', event, compare: 'ever', count: 1, within: '30d', where: [] };
    case 'sum':
      return {
        kind: 'sum',
        event,
        property: '',
        test: { op: 'at_least', with: 1 },
        within: '30d',
        where: [],
      };
    case 'first':
    case 'last':
      return { kind: subject, event, test: { op: 'more_than_ago', with: '14d' } };
    case 'audience':
      return { kind: 'audience', audience: '' };
    default:
      return subject satisfies never;
  }
}

/** "7d" as a number and its unit; null if it is not a duration. */
export function readSpan(text: string): { count: number; unit: 'm' | 'h' | 'd' } | null {
  const [, count = '', unit = ''] = /^(\d+)([mhd])$/.exec(text) ?? [];
  return unit === 'm' || unit === 'h' || unit === 'd' ? { count: Number(count), unit } : null;
}
