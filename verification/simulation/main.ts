import { parseArgs } from 'node:util';
import { FIXTURES } from './fixtures.ts';
import { SCENARIOS } from './scenarios.ts';
import { Violation } from './schedule.ts';

/**
 * `npm run simulate -- --seeds N --from S`, or `--seed X` for one history, `--only emails`. Prints the number of histories. For a history
 * that violated an invariant it prints its seed and its last steps, so that it can be replayed.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    only: { type: 'string' },
  },
});

const SEEDS_MAX = 10_000_000;

function readWhole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= SEEDS_MAX) return value;
  throw new RangeError(`--${name} must be a whole number from 0 to ${SEEDS_MAX}`);
}

function seedsOf(): number[] {
  if (values.seed !== undefined) return [readWhole('seed', values.seed)];
  const from = readWhole('from', values.from);
  return Array.from({ length: readWhole('seeds', values.seeds) }, (_, i) => from + i);
}

function scenariosOf(): string[] {
  const names = Object.keys(SCENARIOS);
  if (values.only === undefined) return names;
  if (names.includes(values.only)) return [values.only];
  throw new RangeError(`--only must be one of ${names.join(', ')}`);
}

/** Returns how many histories violated an invariant. */
async function playAll(name: string, seeds: number[]): Promise<number> {
  const scenario = SCENARIOS[name];
  if (!scenario) throw new RangeError(`there is no scenario ${name}`);
  const fixtures = FIXTURES.filter((fixture) => fixture.scenario === name && values.seed === undefined);
  const all = [...new Set([...fixtures.map(({ seed }) => seed), ...seeds])];
  let [steps, broken] = [0, 0];
  for (const seed of all) {
    try {
      steps += await scenario(seed);
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      broken += 1;
      console.error(`\n${name}, ${error.message}\n${error.trace.map((line) => `  ${line}`).join('\n')}`);
      console.error(`  again: npm run simulate -- --only ${name} --seed ${seed}`);
    }
  }
  console.log(`${name}: ${all.length} histories, ${steps} steps, ${broken} violated an invariant`);
  return broken;
}

try {
  const seeds = seedsOf();
  let broken = 0;
  for (const name of scenariosOf()) broken += await playAll(name, seeds);
  if (broken > 0) process.exitCode = 1;
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
