import fc from 'fast-check';
import { expect, test } from 'vitest';
import { document } from '../../../testing/oracles/predicates.ts';
import { parseInstant, printInstant } from '../time/time-text.ts';
import { parsePredicate } from './parse.ts';
import { predicateDocument } from './document.ts';

function parsed(definition: unknown) {
  const parsing = parsePredicate(definition);
  if (!parsing.ok) throw new Error(JSON.stringify(parsing.faults));
  return parsing.predicate;
}

test('reads a predicate back from its document unchanged', () => {
  fc.assert(
    fc.property(document, (definition) => {
      const predicate = parsed(definition);
      expect(parsed(JSON.parse(JSON.stringify(predicateDocument(predicate))))).toEqual(predicate);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  '2026-01-31',
  '2026-01-31T12:30:00.123Z',
  '0001-01-01T00:00:00+14:59',
  '9999-12-31T23:59:59.999-14:59',
])('the moment %s survives printing and parsing', (text) => {
  expect(parseInstant(printInstant(parseInstant(text)))).toBe(parseInstant(text));
});
