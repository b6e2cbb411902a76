import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonBounds, type JsonScan, scanJson } from './json-scan.ts';

const NONE: JsonBounds = {
  depth: 64,
  values: Infinity,
  valuesOfItem: Infinity,
  scalarItems: Infinity,
  keys: Infinity,
  numberChars: Infinity,
};
const scan = (text: string, bounds: Partial<JsonBounds> = {}): JsonScan =>
  scanJson(Buffer.from(text), { ...NONE, ...bounds });

type Counted = {
  values: number;
  scalarItems: number;
  depth: number;
  keys: number;
  numberChars: number;
  valuesOfItem: number;
};

/** Counts the same from the parsed value, in the simplest form. */
function countParsed(value: unknown): Counted {
  const counted = { values: 0, scalarItems: 0, depth: 0, keys: 0, numberChars: 0, valuesOfItem: 0 };
  const visit = (node: unknown, depth: number): void => {
    // As it is serialized: -0 becomes 0.
    if (typeof node === 'number')
      counted.numberChars = Math.max(counted.numberChars, JSON.stringify(node).length);
    if (typeof node !== 'object' || node === null) return;
    counted.depth = Math.max(counted.depth, depth + 1);
    if (Array.isArray(node))
      for (const item of node) {
        if (typeof item === 'string' || (typeof item === 'object' && item !== null)) counted.values += 1;
        else counted.scalarItems += 1;
        visit(item, depth + 1);
      }
    else {
      counted.keys = Math.max(counted.keys, Object.keys(node).length);
      for (const member of Object.values(node)) {
        counted.values += 1;
        visit(member, depth + 1);
      }
    }
  };
  visit(value, 0);
  return { ...counted, valuesOfItem: largestPiece(value, counted.values) };
}

/** Counts the items of lists that are members of the outermost object. All other values are one piece. */
function largestPiece(value: unknown, all: number): number {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return all;
  const lists = Object.values(value).filter(Array.isArray) as unknown[][];
  const items = lists.flat(1).map((item) => countParsed([item]).values);
  return Math.max(all - items.reduce((sum, count) => sum + count, 0), ...items);
}

const anyString = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"', '\\', '\\"', '{', '}', '[', ']', ',', ':', '\\\\"', '"]', '\u0000', 'a\\'),
);
const anyJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 8, withCrossShrink: true },
    anyString,
    fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.constantFrom(null, true, false),
    ),
    fc.array(tie('value')),
    fc.dictionary(anyString, tie('value')),
  ),
})).value;
/** The forms of JSON.stringify: compact, indented, or with every character above ASCII escaped. */
const anyText = fc
  .tuple(anyJson, fc.constantFrom(undefined, 2, '\t'), fc.boolean())
  .map(([value, indent, isEscaped]) => {
    const text = JSON.stringify(value, undefined, indent);
    return isEscaped ? text.replaceAll(/[^\x20-\x7e\s]/g, escapeOf) : text;
  });
const escapeOf = (unit: string): string =>
  `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}${unit.length > 1 ? escapeOf(unit.slice(1)) : ''}`;

describe('scanJson', () => {
  test('counts what JSON.parse returns for any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const { values, scalarItems } = countParsed(JSON.parse(text));
        expect(scan(text)).toEqual({ values, scalarItems, excess: null });
      }),
    );
  });

  test('gives the result of the parsed value for each bound', () => {
    const bounds = fc.record({
      depth: fc.nat(5),
      values: fc.nat(8),
      valuesOfItem: fc.nat(5),
      scalarItems: fc.nat(3),
      keys: fc.nat(4),
      numberChars: fc.nat(10),
    });
    fc.assert(
      fc.property(anyJson, bounds, (value, allowed) => {
        const text = JSON.stringify(value);
        const counted = countParsed(JSON.parse(text));
        for (const bound of Object.keys(allowed) as (keyof JsonBounds)[]) {
          const { excess } = scan(text, { [bound]: allowed[bound] });
          expect([bound, excess?.bound ?? null]).toEqual([
            bound,
            counted[bound] > allowed[bound] ? bound : null,
          ]);
        }
      }),
    );
  });

  test('reads each byte twice at most, and stops at the first excess', () => {
    const reads = (text: string, bounds: Partial<JsonBounds> = {}): number => {
      let count = 0;
      const bytes = new Proxy(Buffer.from(text), {
        get(target, key) {
          if (key !== 'length') count += 1;
          return Reflect.get(target, key) as number;
        },
      });
      scanJson(bytes, { ...NONE, ...bounds });
      return count;
    };
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ unit: 'binary' })), (text) => {
        expect(reads(text)).toBeLessThanOrEqual(2 * Buffer.byteLength(text));
      }),
    );
    expect(reads('['.repeat(100_000), { depth: 16 })).toBeLessThanOrEqual(100);
    expect(reads(`[${'[],'.repeat(100_000)}[]]`, { values: 100 })).toBeLessThanOrEqual(1_000);
    expect(reads(`[${'9'.repeat(100_000)}]`)).toBeLessThanOrEqual(200_100);
  });

  test('terminates for any bytes, valid or not', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const { values, excess } = scanJson(bytes, { ...NONE, depth: 16, values: 20 });
        expect(excess !== null || values <= 20).toBe(true);
      }),
    );
  });

  test.each([
    ['{"a":1,"b":[[]]}', 'b'],
    ['{"a":[[]]}', 'a'],
    ['{"é":[[]]}', 'é'],
    ['{"a":{"b":[]}}', 'a'],
    ['[[[]]]', null],
    ['{"\\u0061":[[]]}', null],
    [`{"${'k'.repeat(300)}":[[]]}`, null],
  ])('%s: names the field of the outermost object that is nested too deeply', (text, field) => {
    expect(scan(text, { depth: 2 }).excess).toEqual({ bound: 'depth', field });
  });

  test('names no field when the outermost object itself exceeds a bound', () => {
    expect(scan('{"a":1,"b":2,"c":3}', { keys: 2 }).excess).toEqual({ bound: 'keys', field: null });
    expect(scan('{"a":1,"a":2,"a":3}', { keys: 2 }).excess).toEqual({ bound: 'keys', field: null });
    expect(scan('{"a":1,"b":2,"c":3}', { values: 2 }).excess).toEqual({ bound: 'values', field: null });
  });

  test('bounds each record of a list separately, and the values beside the list', () => {
    const record = '{"a":1,"b":2}';
    const many = `{"users":[${Array(100).fill(record).join(',')}],"other":1}`;
    expect(scan(many, { valuesOfItem: 3 })).toMatchObject({ excess: null, values: 302 });
    expect(scan(many, { valuesOfItem: 2 }).excess).toEqual({ bound: 'valuesOfItem', field: 'users' });
    const beside = `{"users":[${record}],"other":{"a":1,"b":2,"c":3}}`;
    expect(scan(beside, { valuesOfItem: 4 }).excess).toEqual({ bound: 'valuesOfItem', field: 'other' });
  });
});
