import fc from 'fast-check';
import { expect, test } from 'vitest';
import { heldClock } from '../../../../testkit/clock.ts';
import { openTestDatabase } from '../../../../testkit/database.ts';
import { addSuppressions, liftSuppressions } from './store.ts';
import {
  LIFTED_BY_LIFE,
  SAID_BY_RECIPIENT,
  type Suppression,
  type SuppressionReason,
} from './suppression.ts';
import { listAllSaid } from './reads.ts';

const clock = heldClock();
const db = await openTestDatabase(clock);
const now = clock.now();
let projectId = 0;

/** The sides, weakest last: of entries that end together, the first in this order is returned. */
const SIDES: readonly (readonly SuppressionReason[])[] = [SAID_BY_RECIPIENT, ['manual'], LIFTED_BY_LIFE];
const sideOf = (reason: SuppressionReason): number => SIDES.findIndex((side) => side.includes(reason));

type Word = Pick<Suppression, 'reason' | 'until'>;
type Step = { said: Word[] } | { lifted: number };

const word = fc.record({
  reason: fc.constantFrom(...SIDES.flat()),
  until: fc.option(
    fc.integer({ min: 1, max: 4 }).map((hours) => now + hours * 3_600_000),
    { nil: null },
  ),
});
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ said: fc.array(word, { minLength: 1, maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ lifted: fc.nat({ max: SIDES.length - 1 }) }) },
);

/** The simplest model: every entry is kept until it is lifted, and emails are sent when none is in force. */
function plainly(steps: Step[]): { side: number; end: number }[] {
  let words: { side: number; end: number }[] = [];
  for (const one of steps)
    words =
      'lifted' in one
        ? words.filter(({ side }) => side !== one.lifted)
        : [
            ...words,
            ...one.said.map(({ reason, until }) => ({ side: sideOf(reason), end: until ?? Infinity })),
          ];
  return SIDES.flatMap((_, side) => {
    const ends = words.filter((one) => one.side === side).map(({ end }) => end);
    return ends.length === 0 ? [] : [{ side, end: Math.max(...ends) }];
  }).toSorted((a, b) => (a.end === b.end ? a.side - b.side : b.end - a.end));
}

test('keeps the entry of each side until it is lifted, in any order of additions and lifts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      projectId += 1;
      const place = { projectId, kind: 'email' as const, value: 'ada@example.com' };
      const more = { ...place, createdAt: now, createdBy: 'ann' };
      for (const one of steps)
        if ('lifted' in one)
          await liftSuppressions(db, {
            places: [place],
            reasons: SIDES[one.lifted] ?? [],
            at: now,
            by: 'ann',
          });
        else
          await addSuppressions(
            db,
            one.said.map((said) => ({ ...said, ...more })),
          );
      const left = await listAllSaid(db, { projectId, after: null, limit: 10 });
      expect(left.map(({ reason, until }) => ({ side: sideOf(reason), end: until ?? Infinity }))).toEqual(
        plainly(steps),
      );
    }),
    { numRuns: 150 },
  );
});

test('returns all entries of each place on a page, and continues after the last place', async () => {
  projectId += 1;
  const [more, reasons] = [
    { projectId, kind: 'email' as const, until: null, createdAt: now, createdBy: 'ann' },
    ['unsubscribed', 'manual', 'hard_bounce'] as const,
  ];
  const all = ['a@x.org', 'b@x.org', 'c@x.org'].flatMap((value) =>
    reasons.map((reason) => ({ ...more, value, reason })),
  );
  await addSuppressions(db, all.toReversed());
  const page = (after: Suppression | null) => listAllSaid(db, { projectId, after, limit: 2 });
  const first = await page(null);
  const second = await page(first.at(-1) ?? null);
  expect([first, second]).toEqual([all.slice(0, 6), all.slice(6)]);
  expect(await page(second.at(-1) ?? null)).toEqual([]);
});
