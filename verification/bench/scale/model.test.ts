import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { predict, predictedAndMeasured, TOLERANCE } from './figures.ts';
import { type Load, plan } from './model.ts';
import { filledPage, readScalePage } from './page.ts';
import { LOADS, MODEL, RUN } from './values.ts';

describe('plan', () => {
  const loads = fc.record({
    eventsPerDay: fc.integer({ min: 1_000, max: 10_000_000_000 }),
    projects: fc.integer({ min: 1, max: 1_000_000 }),
  });
  const property = (check: (load: Load) => void): void => {
    fc.assert(fc.property(loads, check), { numRuns: 100 });
  };

  test('needs at least as much disk, log and money for a larger load', () => {
    property((load) => {
      const [small, large] = [
        plan(MODEL, load),
        plan(MODEL, { ...load, eventsPerDay: load.eventsPerDay * 2 }),
      ];
      expect(large.alone.diskBytes).toBeGreaterThan(small.alone.diskBytes);
      expect(large.alone.logBytesPerSecond).toBeGreaterThan(small.alone.logBytesPerSecond);
      expect(large.installations).toBeGreaterThanOrEqual(small.installations);
      expect(large.dollarsPerMonth).toBeGreaterThan(small.dollarsPerMonth);
    });
  });

  test('keeps each installation within the limits of one PostgreSQL, with one installation fewer beyond them', () => {
    property((load) => {
      const { each, installations } = plan(MODEL, load);
      expect(each.cores.postgres).toBeLessThanOrEqual(MODEL.capacity.databaseCores);
      expect(each.diskBytes).toBeLessThanOrEqual(MODEL.capacity.diskBytes);
      expect(each.logBytesPerSecond).toBeLessThanOrEqual(MODEL.capacity.logBytesPerSecond);
      if (installations === 1) return;
      const fewer = installations - 1;
      const share = { eventsPerDay: load.eventsPerDay / fewer, projects: Math.max(1, load.projects / fewer) };
      expect(plan(MODEL, share).installations).toBeGreaterThan(1);
    });
  });

  test('has a core for all work, beside a standby', () => {
    property((load) => {
      const { each, installations, machines } = plan(MODEL, load);
      const vcpus = machines.reduce((sum, { vcpus: ofEach, count }) => sum + ofEach * count, 0);
      const { api, worker, postgres } = each.cores;
      expect(vcpus / installations).toBeGreaterThanOrEqual(api + worker + 2 * postgres - 1e-6);
    });
  });

  test('names the limit that is reached first', () => {
    const load = { eventsPerDay: 10_000_000_000, projects: 1_000 };
    const firstOf = (model: typeof MODEL): string | undefined => plan(model, load).limits[0]?.name;
    const { assumptions, capacity } = MODEL;
    expect(firstOf({ ...MODEL, capacity: { ...capacity, databaseCores: 1 } })).toBe('cores of PostgreSQL');
    expect(firstOf({ ...MODEL, capacity: { ...capacity, diskBytes: 1e9 } })).toBe('disk');
    expect(firstOf({ ...MODEL, assumptions: { ...assumptions, largestProject: 1 } })).toBe(
      'the worker of the largest project',
    );
  });

  test('reads the definitions of more projects, and looks for old data in them', () => {
    const [few, many] = [1_000, 1_000_000].map(
      (projects) => plan(MODEL, { eventsPerDay: 1e8, projects }).alone,
    );
    expect(many?.cost.worker).toBeGreaterThan(few?.cost.worker ?? Number.NaN);
    expect(many?.cores.postgres).toBeGreaterThan(few?.cores.postgres ?? Number.NaN);
  });
});

describe('scale-model.md', () => {
  test('has the tables of the committed values', () => {
    expect(LOADS).toHaveLength(9);
    expect(filledPage(readScalePage())).toBe(readScalePage());
  });

  test('has a prediction of 100,000 projects within the tolerance of the run, except for housekeeping', () => {
    const rows = predictedAndMeasured(predict(MODEL.measurements, RUN), RUN.measured, RUN.each);
    expect(RUN.projects).toBe(100_000);
    expect(TOLERANCE).toBe(0.25);
    const missed = rows.filter(([, , , , isWithin]) => isWithin !== 'yes');
    expect(missed.map(([name]) => name)).toEqual(['An hour of housekeeping for a project: worker']);
  });
});
