import { expect, test } from 'vitest';
import { Pace } from './pace.ts';

test('Pace › pauses for the requested time and halves the chunks when the queue is full', () => {
  const pace = new Pace(1_000);
  expect(pace.reserve(1_000, 0)).toBe(0);
  pace.full(2_000, 5_000);
  expect(pace.chunkRecords).toBe(500);
  expect(pace.reserve(500, 2_000)).toBe(5_000);
  expect(pace.reserve(500, 7_000)).toBe(0);
});

test('Pace › continues at the processing rate that it measured between two full queues', () => {
  const pace = new Pace(1_000);
  pace.full(0, 5_000);
  for (let sent = 0; sent < 40; sent += 1) pace.accepted(1_000);
  pace.full(10_000, 5_000);
  // 40,000 records in ten seconds.
  expect(pace.reserve(500, 10_000)).toBe(5_000);
  expect(pace.reserve(500, 10_000)).toBe(5_125);
  expect(pace.reserve(500, 15_000)).toBe(250);
});

test('Pace › derives the rate from the records that left the queue before it was full for the first time', () => {
  const pace = new Pace(1_000);
  for (let sent = 0; sent < 100; sent += 1) {
    expect(pace.reserve(1_000, sent * 20)).toBe(0);
    pace.accepted(1_000);
  }
  pace.full(2_000, 5_000);
  // 50,000 of 100,000 records in two seconds.
  expect(pace.reserve(500, 2_000)).toBe(5_000);
  expect(pace.reserve(500, 2_000)).toBe(5_020);
});

test('Pace › excludes the time in which the queue was empty from the measured rate', () => {
  const pace = new Pace(1_000);
  for (let sent = 0; sent < 100; sent += 1) {
    pace.reserve(1_000, sent * 20);
    pace.accepted(1_000);
  }
  pace.full(2_000, 5_000);
  for (let sent = 0; sent < 100; sent += 1) pace.accepted(1_000);
  pace.full(11_000, 5_000);
  // At 25 records per millisecond, the queue was empty for three of these nine seconds.
  expect(pace.reserve(500, 11_000)).toBe(5_000);
  expect(pace.reserve(500, 11_000)).toBeCloseTo(5_030, 6);
});

test('Pace › counts concurrent rejections as one full queue', () => {
  const pace = new Pace(1_000);
  pace.full(10, 5_000);
  pace.full(12, 6_000);
  expect(pace.chunkRecords).toBe(500);
  expect(pace.reserve(500, 12)).toBe(6_000);
});

test('Pace › increases chunks and rate slowly', () => {
  const pace = new Pace(1_000);
  pace.full(0, 1_000);
  const sizes = Array.from({ length: 12 }, () => {
    pace.accepted(pace.chunkRecords);
    return pace.chunkRecords;
  });
  expect(sizes.slice(0, 2)).toEqual([550, 600]);
  expect(sizes.at(-1)).toBe(1_000);
});
