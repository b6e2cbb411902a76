import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from './parse-json.ts';

const key = fc.string({
  unit: fc.oneof(fc.constantFrom('"', '\\', '\n', 'z', '{', '}', ':', 'ü', '\uE000'), fc.string()),
});
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(key, fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 6 }),
  ),
})).value;

/** Writes some characters as escapes, as some clients do for all that are not ASCII. */
const withEscapes = (text: string): string =>
  text.replaceAll(/[üz]/g, (char) => `\\u${char.codePointAt(0)?.toString(16).padStart(4, '0')}`);

describe('parseJson', () => {
  test('keeps escaped keys whatever was parsed before', () => {
    parseJson(String.raw`{"h":[],"\\":0}`);
    expect(parseJson(String.raw`{"h":1,"\"":2}`)).toEqual({ h: 1, '"': 2 });
    expect(parseJson(String.raw`{"h":1,"\n" : [{"stra\u00dfe":{"\\":3}}]}`)).toEqual({
      h: 1,
      '\n': [{ straße: { '\\': 3 } }],
    });
  });

  test('parses every value as it was written', () =>
    fc.assert(
      fc.property(fc.array(value, { minLength: 1 }), fc.constantFrom(undefined, 1), (values, space) => {
        for (const written of values) {
          const text = JSON.stringify(written, null, space);
          expect(JSON.stringify(parseJson(text), null, space)).toBe(text);
          expect(parseJson(withEscapes(text))).toEqual(parseJson(text));
        }
      }),
      { numRuns: 500 },
    ));

  test('keeps `__proto__` as an own key, and the last of equal keys', () => {
    const parsed = parseJson(String.raw`{"\u005f_proto__": {"a": 1}, "a": 1, "\u0061": 2}`) as object;
    expect(Object.keys(parsed)).toEqual(['__proto__', 'a']);
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(Object.entries(parsed)[1]).toEqual(['a', 2]);
  });

  test.each([
    String.raw`{"\"":1`,
    String.raw`{"\q":1}`,
    String.raw`{"a\":1}`,
    String.raw`{"\n":1,}`,
    String.raw`["\n":1]`,
    '{"\\',
    '{"\\\n":1}',
    '{"a\\n\n":1}',
  ])('rejects %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  test('restores keys at any depth', () => {
    const depth = 50_000;
    let inner: unknown = parseJson(`${'['.repeat(depth)}{"\\n":1}${']'.repeat(depth)}`);
    while (Array.isArray(inner)) [inner] = inner as unknown[];
    expect(inner).toEqual({ '\n': 1 });
  });
});
