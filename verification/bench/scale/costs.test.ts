import { describe, expect, test } from 'vitest';
import { acceptCost, housekeepingCost, processingCost, REMEMBERED_PROJECTS } from './costs.ts';

const cost = (value: number) => ({ beckon: value, postgres: value });

describe('acceptCost', () => {
  const costs = { acceptBusy: cost(50), acceptFirst: cost(150) };

  test('is that of a first request for a project that sends rarely', () => {
    expect(acceptCost(costs, 0).beckon).toBe(150);
  });

  test('falls to that of a busy project with its requests per second', () => {
    expect(acceptCost(costs, 1).beckon).toBe(100);
    expect(acceptCost(costs, 1e9).beckon).toBeCloseTo(50);
  });
});

describe('processingCost', () => {
  const costs = { eventAlone: cost(100), eventShared: cost(40), sharedBy: 4, eventUnread: cost(300) };

  test('is that of the measurements for the same number of events per project', () => {
    expect(processingCost(costs, { each: 1, projects: 1 }).beckon).toBeCloseTo(100);
    expect(processingCost(costs, { each: 4, projects: REMEMBERED_PROJECTS }).beckon).toBeCloseTo(40);
  });

  test('is between them for a number in between, and never below the part of the event itself', () => {
    expect(processingCost(costs, { each: 2, projects: 1 }).beckon).toBeCloseTo(60);
    expect(processingCost(costs, { each: 1e9, projects: 1 }).beckon).toBeCloseTo(20);
  });

  test('includes reading the definitions of projects beyond those that a worker remembers, once per batch', () => {
    const ten = REMEMBERED_PROJECTS * 10;
    expect(processingCost(costs, { each: 1, projects: ten }).beckon).toBeCloseTo(100 + 0.9 * 200);
    expect(processingCost(costs, { each: 2, projects: ten }).beckon).toBeCloseTo(60 + 0.9 * 100);
  });

  test('has no negative part if a shared event was measured as costlier', () => {
    const noisy = { ...costs, eventShared: cost(110) };
    expect(processingCost(noisy, { each: 4, projects: 1 }).beckon).toBeCloseTo(100);
  });
});

describe('housekeepingCost', () => {
  const costs = { history: cost(2_500), hourly: cost(100) };

  test('grows with the projects', () => {
    expect(housekeepingCost(costs, 1_000).postgres).toBeCloseTo(2_600_000);
  });

  test('has at most 300 seconds an hour for history', () => {
    expect(housekeepingCost(costs, 1_000_000).beckon).toBeCloseTo(150e6 + 100e6);
  });
});
