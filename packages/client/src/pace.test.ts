import { expect, test } from 'vitest';
import { Pace } from './pace.ts';

test('a full queue stops everything for as long as was asked, and halves the chunks', () => {
  const pace = new Pace(1_000);
  expect(pace.takeTurn(1_000, 0)).toBe(0);
  pace.full(2_000, 5_000);
  expect(pace.chunkRecords).toBe(500);
  expect(pace.takeTurn(500, 2_000)).toBe(5_000);
  expect(pace.takeTurn(500, 7_000)).toBe(0);
});

test('full for the second time, it goes on at the pace at which the queue was worked off in between', () => {
  const pace = new Pace(1_000);
  pace.full(0, 5_000);
  for (let sent = 0; sent < 40; sent += 1) pace.accepted(1_000);
  pace.full(10_000, 5_000);
  // 40,000 in ten seconds.
  expect(pace.takeTurn(500, 10_000)).toBe(5_000);
  expect(pace.takeTurn(500, 10_000)).toBe(5_125);
  expect(pace.takeTurn(500, 15_000)).toBe(250);
});

test('several that are turned away at once are one full queue', () => {
  const pace = new Pace(1_000);
  pace.full(10, 5_000);
  pace.full(12, 6_000);
  expect(pace.chunkRecords).toBe(500);
  expect(pace.takeTurn(500, 12)).toBe(6_000);
});

test('chunks and pace grow back slowly', () => {
  const pace = new Pace(1_000);
  pace.full(0, 1_000);
  const sizes = Array.from({ length: 12 }, () => {
    pace.accepted(pace.chunkRecords);
    return pace.chunkRecords;
  });
  expect(sizes.slice(0, 2)).toEqual([550, 600]);
  expect(sizes.at(-1)).toBe(1_000);
});
