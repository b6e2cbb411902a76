import { expect, test } from 'vitest';
import { demotes, type Outcomes, suggest } from './trust-ladder.ts';

const HOUR = 3_600_000;
const well: Outcomes = {
  complaints: { count: 0, of: 1_000 },
  hardBounces: { count: 0, of: 100 },
  unsubscribes: { count: 0, of: 200 },
};

test('demotes a rule at the count and share of each outcome, and not below either', () => {
  const cases: [keyof Outcomes, number, number, boolean][] = [
    ['complaints', 3, 1_000, true],
    ['complaints', 2, 1_000, false],
    ['complaints', 2, 666, true],
    ['complaints', 2, 667, false],
    ['complaints', 1, 10, false],
    ['hardBounces', 5, 100, true],
    ['hardBounces', 4, 40, false],
    ['unsubscribes', 6, 200, true],
    ['unsubscribes', 5, 50, false],
    ['unsubscribes', 6, 201, false],
  ];
  for (const [reason, count, of, falls] of cases) {
    const demotion = demotes({ ...well, [reason]: { count, of } });
    expect([reason, count, of, demotion?.reason]).toEqual([reason, count, of, falls ? reason : undefined]);
  }
  expect(demotes({ ...well, complaints: { count: 3, of: 1_000 } })?.why).toBe(
    '3 complaints among its last 1000 emails',
  );
});

test('suggests autopilot after twenty drafts with nineteen sent unchanged', () => {
  expect(suggest({ untouched: 19, edited: 1, skipped: 0 }, null)).toMatchObject({
    kind: 'autopilot',
    deadlineMs: 4 * HOUR,
    why: '19 of the last 20 drafts were sent unchanged. Autopilot could send them after 4h',
  });
  expect(suggest({ untouched: 18, edited: 1, skipped: 1 }, null)).toBeNull();
  expect(suggest({ untouched: 19, edited: 0, skipped: 0 }, null)).toBeNull();
});

test('suggests a shorter deadline on autopilot if no member needed it, and a longer one if many did', () => {
  expect(suggest({ untouched: 20, edited: 0, skipped: 0 }, 2 * HOUR)).toMatchObject({
    kind: 'shorter_deadline',
    deadlineMs: HOUR,
  });
  expect(suggest({ untouched: 20, edited: 0, skipped: 0 }, HOUR / 4)).toBeNull();
  expect(suggest({ untouched: 15, edited: 3, skipped: 2 }, 2 * HOUR)).toMatchObject({
    kind: 'longer_deadline',
    deadlineMs: 4 * HOUR,
  });
  expect(suggest({ untouched: 16, edited: 2, skipped: 2 }, 2 * HOUR)).toBeNull();
  expect(suggest({ untouched: 0, edited: 20, skipped: 0 }, 48 * HOUR)).toBeNull();
});
