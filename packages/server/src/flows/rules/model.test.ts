import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../testkit/database.ts';
import { histories } from '../../../testkit/rules-oracle-histories.ts';
import { openWorld } from '../../../testkit/rules-oracle-world.ts';

/**
 * `RULES_HISTORIES=10000` plays as many, and another `RULES_SEED` plays others. With `RULES_SHRINK=1` one that fails is made
 * smaller, which may take long.
 */
const HISTORIES = Number(process.env['RULES_HISTORIES'] ?? 60);
const SEED = Number(process.env['RULES_SEED'] ?? 1);
const SHRINKS = process.env['RULES_SHRINK'] !== undefined;
/** While one waits for the database another one computes. */
const WORLDS = 2;
const EACH_MS = 3_000;

const own = await testDatabase();
const worlds = await Promise.all(Array.from({ length: WORLDS }, () => openWorld(own.connection)));
afterAll(async () => {
  await Promise.all(worlds.map((world) => world.close()));
  await own.drop();
});

test(
  'whatever happens, the ledger, the runs, the drafts, the letters and what explains them are those of a naive replay, and nothing leaves that must not',
  async () => {
    await Promise.all(
      worlds.map((world, i) =>
        fc.assert(
          fc.asyncProperty(histories, async (history) => {
            expect(await world.play(history)).toEqual([]);
          }),
          { numRuns: Math.ceil(HISTORIES / WORLDS), seed: SEED + i, endOnFailure: !SHRINKS },
        ),
      ),
    );
  },
  HISTORIES * EACH_MS + (SHRINKS ? 3_600_000 : 0),
);
