import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseInPieces } from './json-pieces.ts';

const noPause = (): Promise<void> => Promise.resolve();
const parse = (text: string, listDepth: 1 | 2 = 2, pause = noPause): Promise<unknown> =>
  parseInPieces(Buffer.from(text), { listDepth, pause });

/** Returns the result of JSON.parse as text, so that the order of keys and own `__proto__` count; null if it throws. */
function parsed(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return null;
  }
}

async function inPieces(text: string, listDepth: 1 | 2): Promise<string | null> {
  try {
    return JSON.stringify(await parse(text, listDepth));
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return null;
  }
}

const body = fc
  .record(
    { users: fc.array(fc.jsonValue()), other: fc.jsonValue(), __proto__: fc.jsonValue() },
    { requiredKeys: [] },
  )
  .map((value) => JSON.stringify(value));
const text = fc.oneof(
  fc.json(),
  body,
  fc.jsonValue().map((value) => JSON.stringify(value, undefined, 2)),
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '"a"', '1', ' ', '\u00a0', 'null', '\\'), {
      maxLength: 12,
    })
    .map((parts) => parts.join('')),
);
/** A text with a part removed or doubled: valid in most places and invalid in one. */
const damaged = fc.tuple(text, fc.nat(200), fc.nat(5), fc.boolean()).map(([whole, at, length, isDoubled]) => {
  const from = at % (whole.length + 1);
  const part = whole.slice(from, from + length);
  return whole.slice(0, from) + (isDoubled ? part + part : '') + whole.slice(from + length);
});

describe('parseInPieces', () => {
  test('returns the result of JSON.parse for any text, and fails where it fails', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(text, damaged), fc.constantFrom(1, 2), async (input, listDepth) => {
        expect(await inPieces(input, listDepth as 1 | 2)).toBe(parsed(input));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    '{"users":[]}',
    '{"users":[ \n]}',
    '{"users":[\u00a0]}',
    '{"users":[1,]}',
    '{"users":[,1]}',
    '{"users":[1 2]}',
    '{"users":[{"a":1]}]}',
    '{"users":[1},"a":[2]}',
    '{"users":[1],"users":[2,3]}',
    '{"users":[[1],[2]],"a":"],[","__proto__":[4]}',
    '{"users":[1]',
    '{"users":[1]}]',
    '[[1],[2]]',
    '[1,[2],{"a":[3]}]',
    '7',
    '',
  ])('%s: equals JSON.parse', async (input) => {
    expect(await inPieces(input, 2)).toBe(parsed(input));
    expect(await inPieces(input, 1)).toBe(parsed(input));
  });

  /** Longer than a piece, so that lists are cut at every comma. */
  const LONG = ' '.repeat(70_000);
  test.each([
    `{"users":[1,${LONG}2,${LONG}3]}`,
    `{"users":[1,${LONG}]}`,
    `{"users":[${LONG},1]}`,
    `{"users":[1,${LONG},${LONG}2]}`,
    `{"users":[{"a":[1,${LONG}2]},${LONG}{"b":"],[${LONG}"}],"more":[[${LONG}],${LONG}[]]}`,
    `{"users":[[1,${LONG}2}],3]}`,
    `{"users":[1${LONG}],[2]}`,
  ])('case %#: cuts a long list with the result of JSON.parse', async (input) => {
    expect(await inPieces(input, 2)).toBe(parsed(input));
  });

  test('returns the result of JSON.parse for lists of any items and any length', async () => {
    const items = fc.array(
      fc.tuple(fc.oneof(fc.json(), fc.constantFrom('', ',', '1 2', '[', '"')), fc.boolean()),
      { maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(items, async (entries) => {
        const list = entries.map(([item, isLong]) => item + (isLong ? LONG : '')).join(',');
        expect(await inPieces(`[${list}]`, 1)).toBe(parsed(`[${list}]`));
        const within = `{"a":1,"users":[${list}],"b":[${list}]}`;
        expect(await inPieces(within, 2)).toBe(parsed(within));
      }),
    );
  });

  test('pauses after every 64 KiB of items, and parses no more at once', async () => {
    let pauses = 0;
    const pause = (): Promise<void> => Promise.resolve(void (pauses += 1));
    const records = Array.from({ length: 1_000 }, (_, id) => ({ id, text: 'é'.repeat(500) }));
    const json = JSON.stringify({ users: records });
    expect(await parse(json, 2, pause)).toEqual({ users: records });
    const pieces = Buffer.byteLength(json) / (64 * 1_024);
    expect(pauses).toBeGreaterThan(pieces - 1);
    expect(pauses).toBeLessThanOrEqual(Math.ceil(pieces));
  });
});
