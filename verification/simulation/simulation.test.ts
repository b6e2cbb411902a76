import { expect, test } from 'vitest';
import { playAccept } from './accept/play.ts';
import type { Defect } from './accept/rows.ts';
import { FIXTURES } from './fixtures.ts';
import { EMAIL_DEFECTS } from './emails/defects.ts';
import { PRODUCT as EMAIL_PRODUCT } from './emails/product.ts';
import { emailScenario } from './emails/scenario.ts';
import { SCENARIOS } from './scenarios.ts';
import { play, type Scenario, type Schedule, Violation } from './schedule.ts';
import { WEBHOOK_DEFECTS } from './webhooks/defects.ts';
import { PRODUCT as WEBHOOK_PRODUCT } from './webhooks/product.ts';
import { webhookScenario } from './webhooks/scenario.ts';

/** The seeds are fixed, so that a commit that breaks one breaks it on every machine. For more seeds run `npm run simulate`. */
const SEEDS = Array.from({ length: 200 }, (_, i) => i + 1);
const TIMEOUT = { timeout: 300_000 };

for (const [name, scenario] of Object.entries(SCENARIOS)) {
  test(
    `no history of ${name} violates an invariant, whichever process dies at any time`,
    TIMEOUT,
    async () => {
      const seeds = FIXTURES.filter((fixture) => fixture.scenario === name).map(({ seed }) => seed);
      const broken: Violation[] = [];
      for (const seed of new Set([...seeds, ...SEEDS])) broken.push(...(await violationsOf(seed, scenario)));
      expect(broken.map(({ message, trace }) => [message, ...trace.slice(-10)])).toEqual([]);
    },
  );
}

test('returns the same history for the same seed', () => {
  for (const scenario of [emailScenario, webhookScenario])
    expect(historyOf(7, scenario())).toEqual(historyOf(7, scenario()));
  expect(historyOf(7, emailScenario())).not.toEqual(historyOf(8, emailScenario()));
});

test.for(Object.entries(EMAIL_DEFECTS))('emails: detects the defect "%s"', TIMEOUT, async ([, defect]) => {
  expect(
    await firstBroken((seed) => play(seed, emailScenario({ ...EMAIL_PRODUCT, ...defect }))),
  ).toBeInstanceOf(Violation);
});

test.for(Object.entries(WEBHOOK_DEFECTS))(
  'webhooks: detects the defect "%s"',
  TIMEOUT,
  async ([, defect]) => {
    expect(
      await firstBroken((seed) => play(seed, webhookScenario({ ...WEBHOOK_PRODUCT, ...defect }))),
    ).toBeInstanceOf(Violation);
  },
);

test.for<Defect>(['keeps no key', 'ignores the limit', 'commits nothing'])(
  'accept: detects a store that %s',
  TIMEOUT,
  async (defect) => {
    expect(await firstBroken((seed) => playAccept(seed, defect))).toBeInstanceOf(Violation);
  },
);

type Play = (seed: number) => number | Promise<number>;

async function firstBroken(playOne: Play): Promise<Violation | null> {
  for (const seed of SEEDS) {
    const [violation] = await violationsOf(seed, playOne);
    if (violation) return violation;
  }
  return null;
}

/** Returns the violation of a seed, if any. */
async function violationsOf(seed: number, playOne: Play): Promise<Violation[]> {
  try {
    await playOne(seed);
    return [];
  } catch (error) {
    if (error instanceof Violation) return [error];
    throw error;
  }
}

/** Returns the time of each step. */
function historyOf(seed: number, scenarioOf: (schedule: Schedule) => Scenario): number[] {
  const moments: number[] = [];
  play(seed, (schedule) => {
    const scenario = scenarioOf(schedule);
    return { ...scenario, check: () => void moments.push(schedule.now()) };
  });
  expect(moments.length).toBeGreaterThan(100);
  return moments;
}
