import { isMomentTest } from './compare.ts';
import type { NumberCompare, PropertyTest, TimeTest, ValueTest } from './predicate.ts';
import { timestampText } from '../time/time-text.ts';

export type TestContext = { params: SqlParams; now: string };
type PropertyContext = TestContext & {
  /** The jsonb object, such as `e.properties`. */
  properties: string;
};

/** A value as SQL: `text` if it is text, `json` if it is not, each null otherwise. */
export type SqlValue = { text: string; json: string; isSet: string };

const COMPARE = { at_least: '>=', at_most: '<=', greater_than: '>', less_than: '<' } as const;

/** Returns a condition that an event's properties pass all tests. */
export function propertyTestsSql(tests: PropertyTest[], context: PropertyContext): string {
  if (tests.length === 0) return 'true';
  const testToSql = ({ property, test }: PropertyTest): string =>
    valueTestSql(test, jsonValue(propertySql(property, context)), context);
  return `(${tests.map(testToSql).join(' AND ')})`;
}

/**
 * Returns the aggregate of a WindowSum, and the condition on an event to be part of it. It sums decimals: the result does not depend on the
 * order of the rows, and 0.1 and 0.7 add up to 0.8. Values beyond the range of a double are clamped, because a cast beyond it would fail
 * the statement for all users.
 */
export function windowSumSql(property: string, context: PropertyContext): { sum: string; counted: string } {
  const value = propertySql(property, context);
  const counted = `(jsonb_typeof(${value}) IS NOT DISTINCT FROM 'number')`;
  const sum = `coalesce(sum(CASE WHEN jsonb_typeof(${value}) = 'number' THEN (${value})::numeric END), 0)`;
  return {
    sum: `(CASE WHEN abs(${sum}) < 1e-300 THEN 0 ELSE least(greatest(${sum}, -1.7e308), 1.7e308) END)::float8`,
    counted,
  };
}

function propertySql(property: string, { params, properties }: PropertyContext): string {
  return `(${properties} -> ${params.add(property)}::text)`;
}

/** `COLLATE "C"`: byte order, and only ASCII digits, regardless of the database's own collation. */
export function jsonValue(json: string): SqlValue {
  return {
    text: `(CASE WHEN jsonb_typeof(${json}) = 'string' THEN ${json} #>> '{}' END COLLATE "C")`,
    json,
    isSet: `jsonb_typeof(${json}) <> 'null'`,
  };
}

/** Never null: a missing value or one of another type fails every test. */
export function valueTestSql(test: ValueTest, value: SqlValue, context: TestContext): string {
  return `((${testSql(test, value, context)}) IS TRUE)`;
}

function testSql(test: ValueTest, value: SqlValue, context: TestContext): string {
  const { params } = context;
  if ('than' in test) return compareSql(numberOf(value), test, params);
  if (isMomentTest(test)) return momentTestSql(test, `beckon.instant(${value.text})`, context);
  if ('text' in test) return textTestSql(test, value.text, params);
  switch (test.op) {
    case 'is_set':
      return value.isSet;
    case 'equals':
      return equalsSql(test.value, value, params);
    case 'one_of':
      return oneOfSql(test.values, value, params);
    case 'includes':
      return includesSql(test.value, value, params);
    default:
      return test satisfies never;
  }
}

/** Not LIKE, because user input is not a pattern. */
function textTestSql(
  { op, text }: Extract<ValueTest, { text: string }>,
  value: string,
  params: SqlParams,
): string {
  const operand = `${params.add(text)}::text`;
  if (op === 'contains') return `position(${operand} IN ${value}) > 0`;
  if (op === 'starts_with') return `starts_with(${value}, ${operand})`;
  return `right(${value}, length(${operand})) = ${operand}`;
}

/** `number` is an expression of type float8. */
export function compareSql(
  number: string,
  test: { op: NumberCompare; than: number },
  params: SqlParams,
): string {
  return `${number} ${COMPARE[test.op]} ${params.add(test.than)}::float8`;
}

function equalsSql(operand: string | number | boolean, value: SqlValue, params: SqlParams): string {
  if (typeof operand === 'string') return `${value.text} = ${params.add(operand)}::text`;
  if (typeof operand === 'number') return `${numberOf(value)} = ${params.add(operand)}::float8`;
  return `${value.json} = '${operand}'::jsonb`;
}

function oneOfSql(values: (string | number)[], value: SqlValue, params: SqlParams): string {
  const texts = values.filter((item) => typeof item === 'string');
  const numbers = values.filter((item) => typeof item === 'number');
  const conditions = [];
  if (texts.length > 0) conditions.push(`${value.text} = ANY(${params.add(texts)}::text[])`);
  if (numbers.length > 0) conditions.push(`${numberOf(value)} = ANY(${params.add(numbers)}::float8[])`);
  return conditions.length === 0 ? 'false' : conditions.join(' OR ');
}

/** Compares element by element and not with `@>`, which compares numbers as decimals while all other tests compare doubles. */
function includesSql(element: string | number | boolean, { json }: SqlValue, params: SqlParams): string {
  const items = `jsonb_array_elements(CASE WHEN jsonb_typeof(${json}) = 'array' THEN ${json} ELSE '[]'::jsonb END)`;
  const equals = equalsSql(element, jsonValue('item.value'), params);
  return `EXISTS (SELECT FROM ${items} AS item (value) WHERE ${equals})`;
}

function numberOf({ json }: SqlValue): string {
  return `(CASE WHEN jsonb_typeof(${json}) = 'number' THEN (${json})::float8 END)`;
}

/** `at` is of type timestamptz and occurs only once, because parsing a moment from a text is the most expensive step here. */
export function momentTestSql(test: TimeTest, at: string, { params, now }: TestContext): string {
  switch (test.op) {
    case 'before':
      return `${at} < ${params.add(timestampText(test.at))}::timestamptz`;
    case 'after':
      return `${at} > ${params.add(timestampText(test.at))}::timestamptz`;
    case 'in_last':
      return `tstzrange(${momentSql(now, '-', spanSql(test.ms, params))}, ${now}::timestamptz, '(]') @> ${at}`;
    case 'more_than_ago':
      return `${at} <= ${momentSql(now, '-', spanSql(test.ms, params))}`;
    case 'in_next':
      return `tstzrange(${now}::timestamptz, ${momentSql(now, '+', spanSql(test.ms, params))}, '(]') @> ${at}`;
    case 'more_than_ahead':
      return `${at} > ${momentSql(now, '+', spanSql(test.ms, params))}`;
    default:
      return test satisfies never;
  }
}

export function spanSql(ms: number, params: SqlParams): string {
  return `${params.add(ms)}::float8 * interval '1 millisecond'`;
}

function momentSql(now: string, sign: '+' | '-', span: string): string {
  return `(${now}::timestamptz ${sign} ${span})`;
}

/** The parameters of a statement under construction: user input goes here, and only its placeholder into the text. */
type SqlParams = {
  readonly values: unknown[];
  /** Appends the value and returns its placeholder, such as `$3`. */
  add(value: unknown): string;
};

/** Continues after the given values, and appends to the same list. */
export function sqlParams(values: unknown[]): SqlParams {
  return { values, add: (value) => `$${values.push(value)}` };
}
