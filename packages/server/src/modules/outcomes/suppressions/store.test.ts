import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { addSuppressions, liftSuppressions } from './store.ts';
import type { SuppressionReason } from '../../sending/suppressions/suppression.ts';
import { listAllEntries } from './reads.ts';
import { BOUNCE_REASONS, RECIPIENT_REASONS, type Suppression } from './entries.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const now = clock.now();
let projectId = 0;

/** The sides, weakest last: of entries that end together, the first in this order is returned. */
const SIDES: readonly (readonly SuppressionReason[])[] = [RECIPIENT_REASONS, ['manual'], BOUNCE_REASONS];
const sideOf = (reason: SuppressionReason): number => SIDES.findIndex((side) => side.includes(reason));

type Word = Pick<Suppression, 'reason' | 'until'>;
type Step = { added: Word[] } | { lifted: number };

const word = fc.record({
  reason: fc.constantFrom(...SIDES.flat()),
  until: fc.option(
    fc.integer({ min: 1, max: 4 }).map((hours) => now + hours * 3_600_000),
    { nil: null },
  ),
});
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ added: fc.array(word, { minLength: 1, maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ lifted: fc.nat({ max: SIDES.length - 1 }) }) },
);

/** The simplest model: every entry is kept until it is lifted, and emails are sent when none is in force. */
function plainly(steps: Step[]): { side: number; end: number }[] {
  let words: { side: number; end: number }[] = [];
  for (const action of steps)
    words =
      'lifted' in action
        ? words.filter(({ side }) => side !== action.lifted)
        : [
            ...words,
            ...action.added.map(({ reason, until }) => ({ side: sideOf(reason), end: until ?? Infinity })),
          ];
  return SIDES.flatMap((_, side) => {
    const ends = words.filter((entry) => entry.side === side).map(({ end }) => end);
    return ends.length === 0 ? [] : [{ side, end: Math.max(...ends) }];
  }).toSorted((a, b) => (a.end === b.end ? a.side - b.side : b.end - a.end));
}

test('keeps the entry of each side until it is lifted, in any order of additions and lifts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      projectId += 1;
      const target = { projectId, kind: 'email' as const, value: 'ada@example.com' };
      const more = { ...target, createdAt: now, createdBy: 'ann' };
      for (const action of steps)
        if ('lifted' in action)
          await liftSuppressions(db, {
            targets: [target],
            reasons: SIDES[action.lifted] ?? [],
            at: now,
            by: 'ann',
          });
        else
          await addSuppressions(
            db,
            action.added.map((entry) => ({ ...entry, ...more })),
          );
      const left = await listAllEntries(db, { projectId, after: null, limit: 10 });
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
  const page = (after: Suppression | null) => listAllEntries(db, { projectId, after, limit: 2 });
  const first = await page(null);
  const second = await page(first.at(-1) ?? null);
  expect([first, second]).toEqual([all.slice(0, 6), all.slice(6)]);
  expect(await page(second.at(-1) ?? null)).toEqual([]);
});
