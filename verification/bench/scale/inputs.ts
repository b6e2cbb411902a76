import { type CpuCost, median } from '../measure.ts';
import { costOf, openSide, type StoredData } from '../processing/growth.ts';
import * as rules from '../rules/many.ts';
import { ofEvent } from '../world.ts';
import { addCosts, scaleCost } from './costs.ts';

/** The CPU time of each thing that an event may cause in the project, beyond those in `Calibration`. */
export type Inputs = {
  /** Five audiences are evaluated for an event, and none changes. */
  fiveAudiences: CpuCost;
  /** A user joins or leaves an audience. */
  audienceChange: CpuCost;
  /** A rule starts a run with a draft. */
  draft: CpuCost;
};

export type InputSizes = { records: number; runs: number };

const CHANGES_OF_A_LAPSED_USER = 2;
const EVERY_EVENT = 1;
const PEOPLE = 10_000;

/** Each input is the difference between two projects that differ only in it. */
export async function measureInputs(sizes: InputSizes): Promise<Inputs> {
  const stored = { people: PEOPLE, events: 0 };
  const plain = await eventCost({ ...stored, audiences: [] }, sizes);
  const audiences = ofEvent('feature_used');
  const evaluated = await eventCost({ ...stored, audiences }, sizes);
  const changed = await eventCost({ ...stored, audiences, lapsedEvery: EVERY_EVENT }, sizes);
  return {
    fiveAudiences: difference(evaluated, plain),
    audienceChange: scaleCost(difference(changed, evaluated), 1 / CHANGES_OF_A_LAPSED_USER),
    draft: await draftCost(sizes),
  };
}

function difference(more: CpuCost, less: CpuCost): CpuCost {
  return addCosts(more, scaleCost(less, -1));
}

async function eventCost(stored: StoredData, { records, runs }: InputSizes): Promise<CpuCost> {
  const growth = { few: 0, many: 0, events: 0, records, runs };
  const side = await openSide(stored, { growth });
  try {
    const { lapsedEvery } = stored;
    return await medianOfRuns(runs, (run) =>
      costOf(side, { count: records, run, ...(lapsedEvery && { lapsedEvery }) }),
    );
  } finally {
    await side.testbed.close();
  }
}

async function draftCost({ records, runs }: InputSizes): Promise<CpuCost> {
  const sizes = { rules: 1, people: PEOPLE, events: records, pairs: runs };
  const side = await rules.openSide(1, sizes);
  try {
    const [refused, fires] = rules.KINDS;
    const without = await medianOfRuns(runs, (run) => rules.costOf(side, { kind: refused, run, sizes }));
    return difference(
      await medianOfRuns(runs, (run) => rules.costOf(side, { kind: fires, run, sizes })),
      without,
    );
  } finally {
    await side.testbed.close();
  }
}

/** The first run warms up. */
async function medianOfRuns(runs: number, cost: (run: number) => Promise<CpuCost>): Promise<CpuCost> {
  const costs: CpuCost[] = [];
  for (let run = 0; run <= runs; run += 1) {
    const runCost = await cost(run);
    if (run > 0) costs.push(runCost);
  }
  return {
    beckon: median(costs.map(({ beckon }) => beckon)),
    postgres: median(costs.map(({ postgres }) => postgres)),
  };
}
