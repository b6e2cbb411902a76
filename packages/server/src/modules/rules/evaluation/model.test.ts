import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../../testkit/database.ts';
import { histories } from '../../../../testkit/rules-oracle-histories.ts';
import { openWorld } from '../../../../testkit/rules-oracle-world.ts';

/**
 * `RULES_HISTORIES=10000` runs that many histories, and another `RULES_SEED` runs other ones. `RULES_SHRINK=1` shrinks a failing history,
 * which may take long.
 */
const HISTORIES = Number(process.env['RULES_HISTORIES'] ?? 60);
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
          { numRuns: Math.ceil(HISTORIES / WORLDS), seed: SEED + i, endOnFailure: !SHRINKS },
        ),
      ),
    );
  },
  HISTORIES * EACH_MS + (SHRINKS ? 3_600_000 : 0),
);
