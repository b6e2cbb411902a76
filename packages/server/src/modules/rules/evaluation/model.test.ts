import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../../testing/factories/database.ts';
import { histories } from '../../../../testing/oracles/rules/histories.ts';
import { openWorld } from '../../../../testing/oracles/rules/world.ts';

/**
 * `RULES_HISTORIES=10000` runs that many histories, and another `RULES_SEED` runs other ones. `RULES_SHRINK=1` shrinks a failing history,
 * which may take long.
 */
const HISCENARIOS = Number(process.env['RULES_HISTORIES'] ?? 60);
const SEED = Number(process.env['RULES_SEED'] ?? 1);
const SHRINKS = process.env['RULES_SHRINK'] !== undefined;
/** While one world waits for the database, the other one computes. */
const WORLDS = 2;
const EACH_MS = 3_000;

const database = await testDatabase();
const worlds = await Promise.all(Array.from({ length: WORLDS }, () => openWorld(database.connection)));
afterAll(async () => {
  await Promise.all(worlds.map((world) => world.close()));
  await database.drop();
});

test(
  'matches a naive replay of any history in decisions, runs, drafts, emails and explanations, and sends nothing forbidden',
  async () => {
    await Promise.all(
      worlds.map((world, i) =>
        fc.assert(
          fc.asyncProperty(histories, async (history) => {
            expect(await world.play(history)).toEqual([]);
          }),
          { numRuns: Math.ceil(HISCENARIOS / WORLDS), seed: SEED + i, endOnFailure: !SHRINKS },
        ),
      ),
    );
  },
  HISCENARIOS * EACH_MS + (SHRINKS ? 3_600_000 : 0),
);
