import { describe, expect, test } from 'vitest';
import { acceptCost, processingCost } from './costs.ts';

const cost = (value: number) => ({ beckon: value, postgres: value });

describe('processingCost', () => {
  const costs = { eventAlone: cost(100), eventShared: cost(40), sharedBy: 4 };

  test('is that of the measurements for the same number of events per project', () => {
    expect(processingCost(costs, 1).beckon).toBeCloseTo(100);
    expect(processingCost(costs, 4).beckon).toBeCloseTo(40);
  });

  test('is between them for a number in between, and never below the part of the event itself', () => {
    expect(processingCost(costs, 2).beckon).toBeCloseTo(60);
    expect(processingCost(costs, 1e9).beckon).toBeCloseTo(20);
  });
});

describe('acceptCost', () => {
  const costs = { acceptKnownKey: cost(50), acceptUnknownKey: cost(90) };

  test('has no lookups while a process remembers all keys', () => {
    expect(acceptCost(costs, { keys: 10_000, order: 'in turn' }).beckon).toBe(50);
  });

  test('has a lookup for each request in turn, and for nine of ten random ones, with ten times as many keys', () => {
    expect(acceptCost(costs, { keys: 100_000, order: 'in turn' }).beckon).toBe(90);
    expect(acceptCost(costs, { keys: 100_000, order: 'random' }).beckon).toBeCloseTo(86);
  });
});
