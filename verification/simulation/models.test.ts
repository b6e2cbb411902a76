import { expect, test } from 'vitest';
import { CHECKS, checkModels, lineOf, missingTools } from './models.ts';
import { readPan } from './read-pan.ts';

const missing = await missingTools();

test.skipIf(missing !== null)(
  `the models are sound in all their states, and every planted defect is detected${missing === null ? '' : ` (${missing})`}`,
  { timeout: 600_000 },
  async () => {
    const results = await checkModels(CHECKS, () => {});
    expect(results.filter(({ isExpected }) => !isExpected).map(lineOf)).toEqual([]);
    expect(results).toHaveLength(CHECKS.length);
  },
);

test('readPan treats a truncated search as incomplete, and output without figures as no search', () => {
  const report = 'State-vector 64 byte, depth reached 217, errors: 0\n   252401 states, stored\n';
  expect(readPan(report)).toEqual({ errors: 0, states: 252_401, depth: 217, isComplete: true, found: null });
  expect(readPan(`error: max search depth too small\n${report}`).isComplete).toBe(false);
  expect(readPan(`Warning: Search not completed\n${report}`).isComplete).toBe(false);
  expect(() => readPan('pan: command not found')).toThrow('not a report');
});

test('checks each model with and without defects, for safety and for liveness', () => {
  for (const model of ['accept-flush', 'project-timer', 'send-once'] as const) {
    const checks = CHECKS.filter((check) => check.model === model);
    const kinds = checks.map(({ property, defect }) => `${property} ${defect === null ? 'sound' : 'defect'}`);
    expect(new Set(kinds)).toContain('safety sound');
    expect(new Set(kinds)).toContain('safety defect');
    expect(new Set(kinds)).toContain('liveness sound');
  }
});
