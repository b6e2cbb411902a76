import { expect, test } from 'vitest';
import { intervalOf, liftOf } from './insight.ts';

test('matches the interval in the paper: 56 of 70 against 48 of 80 gives 5.2 to 33.4 points more', () => {
  const { difference, from, to } = intervalOf(
    { enrolled: 70, converted: 56 },
    { enrolled: 80, converted: 48 },
  );
  expect(difference).toBeCloseTo(0.2, 6);
  expect(from).toBeCloseTo(0.0524, 4);
  expect(to).toBeCloseTo(0.3339, 4);
});

test('has an interval for no and for all conversions', () => {
  const { from, to } = intervalOf({ enrolled: 10, converted: 0 }, { enrolled: 20, converted: 0 });
  expect(from).toBeCloseTo(-0.1611, 4);
  expect(to).toBeCloseTo(0.2775, 4);
});

test('returns nothing for fewer than a hundred users on either side', () => {
  const [few, many] = [
    { enrolled: 99, converted: 50 },
    { enrolled: 100, converted: 50 },
  ];
  expect(liftOf(few, many)).toBeNull();
  expect(liftOf(many, few)).toBeNull();
  expect(liftOf(many, many)).toMatchObject({ difference: 0 });
});
