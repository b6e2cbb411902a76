import { describe, expect, test } from 'vitest';
import { fetchItems, parseResponse, searchUids } from './response.ts';

describe('parseResponse', () => {
  test('parses lists, quoted strings and literals', () => {
    const literal = Buffer.from('body');
    expect(
      parseResponse([String.raw`* 1 FETCH (FLAGS (\Seen) X "a \"b\" \\ (c" BODY[] `, literal, ' UID 7)']),
    ).toEqual([
      '*',
      '1',
      'FETCH',
      ['FLAGS', [String.raw`\Seen`], 'X', String.raw`a "b" \ (c`, 'BODY[]', literal, 'UID', '7'],
    ]);
  });

  test.each(['(', ')', '("', '"a', '('.repeat(40)])('throws for %s', (text) => {
    expect(() => parseResponse([`* 1 FETCH ${text}`])).toThrow(/valid IMAP/);
  });

  test('takes time that grows with the length only', () => {
    const text = `* 1 FETCH (${String.raw`"\\`.repeat(50_000)}`;
    const startedAt = performance.now();
    expect(() => parseResponse([text])).toThrow();
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});

describe('fetchItems', () => {
  test('returns the items by name, whatever their case', () => {
    expect(fetchItems(['* 3 FETCH (uid 9 rfc822.size 12)'])).toEqual(
      new Map([
        ['UID', '9'],
        ['RFC822.SIZE', '12'],
      ]),
    );
  });

  test('returns null for any other response', () => {
    for (const text of ['* OK done', '* 3 EXISTS', '* 3 EXPUNGE', '']) expect(fetchItems([text])).toBeNull();
  });
});

test('searchUids leaves out everything that is no UID', () => {
  expect(searchUids(['* SEARCH 1 22 -3 4294967296 99999999999 x 4'])).toEqual([1, 22, 4]);
  expect(searchUids(['* SEARCH'])).toEqual([]);
  expect(searchUids(['* LIST'])).toBeNull();
});
