import { DURATION_SYNTAX, parseDuration, parseInstant } from '../time/time-text.ts';
import {
  inside,
  isObject,
  type JsonObject,
  keysOf,
  listOf,
  type ParsePosition,
  refuse,
  refuseOthers,
  takeCondition,
} from './place.ts';
import type { NumberCompare, PropertyTest, TimeTest, ValueTest } from './predicate.ts';

const TEXT_MAX_CHARS = 1_024;
const KEY_MAX_CHARS = 255;
const ONE_OF_MAX_ITEMS = 100;
const WHERE_MAX_ITEMS = 20;
const SPAN_MIN_MS = 60_000;
const SPAN_MAX_MS = 366 * 86_400_000;

export const NUMBER_OPS = ['at_least', 'at_most', 'greater_than', 'less_than'] as const;
/** Past only: operators for moments ahead of now are meaningless for an occurrence. */
const PAST_OPS = ['before', 'after', 'in_last', 'more_than_ago'] as const;
export const TEXT_OPS = ['is_set', 'equals', 'one_of', 'contains', 'starts_with', 'ends_with'] as const;
const PROPERTY_OPS = [...TEXT_OPS, ...NUMBER_OPS, 'includes', 'before', 'after'] as const;
export const TRAIT_OPS = [...PROPERTY_OPS, 'in_last', 'more_than_ago', 'in_next', 'more_than_ahead'] as const;
export type Op = ValueTest['op'];

/** Returns the only key out of `ops`. Reports an error unless there is exactly one. */
export function onlyKey<K extends string>(
  position: ParsePosition,
  object: JsonObject,
  ops: readonly K[],
): K | undefined {
  const [key, ...others] = keysOf(object, ops);
  if (key === undefined) return refuse(position, `must have one of ${listOf(ops)}`);
  if (others.length === 0) return key;
  return refuse(position, `must have only one of ${listOf([key, ...others], 'and')}`);
}

/** Reads the test in an object that has its operator beside the keys of its subject. */
export function readTest<K extends Op>(
  position: ParsePosition,
  object: JsonObject,
  { subject, ops }: { subject: readonly string[]; ops: readonly K[] },
): ValueTest | undefined {
  refuseOthers(position, object, [...subject, ...ops]);
  const op = onlyKey(position, object, ops);
  return op && READERS[op](inside(position, op), object[op]);
}

/** Reads the test of a moment in `{ "last": { … } }`. */
export function readPastTest(position: ParsePosition, value: unknown): TimeTest | undefined {
  if (!isObject(value)) return refuse(position, `must be an object with one of ${listOf(PAST_OPS)}`);
  return readTest(position, value, { subject: [], ops: PAST_OPS }) as TimeTest | undefined;
}

export function readWhere(position: ParsePosition, value: unknown): PropertyTest[] | undefined {
  if (!Array.isArray(value) || value.length > WHERE_MAX_ITEMS) {
    return refuse(position, `must be a list of at most ${WHERE_MAX_ITEMS} tests of properties`);
  }
  return allOf(
    value.map((item: unknown, i) => {
      const inner = inside(position, i);
      return takeCondition(inner) ? readPropertyTest(inner, item) : undefined;
    }),
  );
}

export function readPropertyTest(position: ParsePosition, value: unknown): PropertyTest | undefined {
  if (!isObject(value)) return refuse(position, 'must be an object with property and an operator');
  const test = readTest(position, value, { subject: ['property'], ops: PROPERTY_OPS });
  const property = readKey(inside(position, 'property'), value['property']);
  return test && property !== undefined ? { property, test } : undefined;
}

/** Reads the name of a trait or of a property. */
export function readKey(position: ParsePosition, value: unknown): string | undefined {
  return readText(position, value, { min: 1, max: KEY_MAX_CHARS });
}

export function readText(
  position: ParsePosition,
  value: unknown,
  { min, max }: { min: number; max: number },
): string | undefined {
  if (value === undefined) return refuse(position, 'is required');
  if (typeof value !== 'string') return refuse(position, 'must be a string');
  if (value.length < min) return refuse(position, 'must not be empty');
  if (value.length > max) return refuse(position, `must not be longer than ${max} characters`);
  if (!value.isWellFormed() || value.includes('\0')) {
    return refuse(position, 'must not contain NUL or a lone surrogate');
  }
  return value;
}

export function readNumber(position: ParsePosition, value: unknown): number | undefined {
  if (typeof value !== 'number') return refuse(position, 'must be a number');
  return Number.isFinite(value) ? value : refuse(position, 'must be a number that fits a 64-bit float');
}

export function readSpan(position: ParsePosition, value: unknown): number | undefined {
  const ms = typeof value === 'string' ? parseDuration(value) : undefined;
  if (ms === undefined || ms < SPAN_MIN_MS || ms > SPAN_MAX_MS) {
    return refuse(position, `must be ${DURATION_SYNTAX}, from 1m to 366d`);
  }
  return ms;
}

type Reader = (position: ParsePosition, value: unknown) => ValueTest | undefined;

const READERS: Record<Op, Reader> = {
  is_set: (position, value) =>
    value === true ? { op: 'is_set' } : refuse(position, 'must be true. For the opposite, put it into not'),
  equals: scalarReader('equals'),
  includes: scalarReader('includes'),
  one_of: readOneOf,
  contains: textReader('contains'),
  starts_with: textReader('starts_with'),
  ends_with: textReader('ends_with'),
  at_least: numberReader('at_least'),
  at_most: numberReader('at_most'),
  greater_than: numberReader('greater_than'),
  less_than: numberReader('less_than'),
  before: momentReader('before'),
  after: momentReader('after'),
  in_last: spanReader('in_last'),
  more_than_ago: spanReader('more_than_ago'),
  in_next: spanReader('in_next'),
  more_than_ahead: spanReader('more_than_ahead'),
};

function scalarReader(op: 'equals' | 'includes'): Reader {
  return (position, input) => {
    if (typeof input === 'boolean') return { op, value: input };
    const value = readTextOrNumber(position, input, 'must be a string, a number, true or false');
    return value === undefined ? undefined : { op, value };
  };
}

function readOneOf(position: ParsePosition, value: unknown): ValueTest | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > ONE_OF_MAX_ITEMS) {
    return refuse(position, `must be a list of 1 to ${ONE_OF_MAX_ITEMS} strings or numbers`);
  }
  const values = allOf(
    value.map((item: unknown, i) =>
      readTextOrNumber(inside(position, i), item, 'must be a string or a number'),
    ),
  );
  return values && { op: 'one_of', values };
}

function readTextOrNumber(
  position: ParsePosition,
  value: unknown,
  otherwise: string,
): string | number | undefined {
  if (typeof value === 'string') return readText(position, value, { min: 0, max: TEXT_MAX_CHARS });
  return typeof value === 'number' ? readNumber(position, value) : refuse(position, otherwise);
}

function textReader(op: 'contains' | 'starts_with' | 'ends_with'): Reader {
  return (position, value) => {
    const text = readText(position, value, { min: 0, max: TEXT_MAX_CHARS });
    return text === undefined ? undefined : { op, text };
  };
}

function numberReader(op: NumberCompare): Reader {
  return (position, value) => {
    const than = readNumber(position, value);
    return than === undefined ? undefined : { op, than };
  };
}

function momentReader(op: 'before' | 'after'): Reader {
  return (position, value) => {
    const at = typeof value === 'string' ? parseInstant(value) : Number.NaN;
    if (!Number.isNaN(at)) return { op, at };
    return refuse(position, 'must be a date such as 2026-01-31 or an RFC 3339 time with Z or an offset');
  };
}

function spanReader(op: 'in_last' | 'more_than_ago' | 'in_next' | 'more_than_ahead'): Reader {
  return (position, value) => {
    const ms = readSpan(position, value);
    return ms === undefined ? undefined : { op, ms };
  };
}

/** Returns all items, or undefined if one could not be read. */
export function allOf<T>(items: (T | undefined)[]): T[] | undefined {
  const read = items.filter((item) => item !== undefined);
  return read.length === items.length ? read : undefined;
}
