/**
 * Measures how the cost of one event (CPU time of worker and PostgreSQL) grows with the stored data. There are five lines, and each point
 * has a server and a PostgreSQL of its own. The first point of a line is the baseline of the others.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { audiencesWithOthers, costOf, openSide } from '../processing/growth.ts';
import { median, totalCost } from '../measure.ts';
import { micros, ratio, round, show } from '../print.ts';
import * as rules from '../rules/many.ts';
import { ofEvent } from '../world.ts';
import { type Curve, plot } from './plot.ts';
import { costInProjects } from './projects.ts';

type Point = (size: number) => Promise<number[]>;
type Line = { name: string; by: string; x: string; sizes: { quick: number[]; full: number[] }; point: Point };

const PICTURES = join(import.meta.dirname, '../../../docs/pictures');
const [RUNS, RECORDS] = [3, 10_000];
const FEW_PEOPLE = 10_000;

function lines(quick: boolean): Line[] {
  const growth = { few: 0, many: 0, events: 0, records: quick ? 2_000 : RECORDS, runs: quick ? 1 : RUNS };
  const plain = { people: quick ? 3_000 : FEW_PEOPLE, events: 0, audiences: ofEvent('feature_used') };
  async function processingCost(changes: Partial<typeof plain>): Promise<number[]> {
    const side = await openSide({ ...plain, ...changes }, { growth });
    try {
      return await timesOf(growth.runs, async (run) =>
        totalCost(await costOf(side, { count: growth.records, run })),
      );
    } finally {
      await side.testbed.close();
    }
  }
  async function rulesCost(count: number): Promise<number[]> {
    const sizes = { rules: count, people: plain.people, events: growth.records, pairs: growth.runs };
    const side = await rules.openSide(count, sizes);
    try {
      return await timesOf(growth.runs, async (run) =>
        totalCost(await rules.costOf(side, { kind: rules.KINDS[1], run, sizes })),
      );
    } finally {
      await side.testbed.close();
    }
  }
  return [
    {
      name: 'people',
      by: 'users',
      x: 'users in the project',
      sizes: { quick: [3_000, 20_000], full: [10_000, 100_000, 1_000_000] },
      point: (people) => processingCost({ people }),
    },
    {
      name: 'events',
      by: 'events',
      x: 'events already stored',
      sizes: { quick: [1, 20_000], full: [1, 10_000, 100_000, 1_000_000] },
      point: (events) => processingCost({ events }),
    },
    {
      name: 'audiences',
      by: 'audiences',
      x: 'audiences, five of them affected by the event',
      sizes: { quick: [5, 50], full: [5, 50, 200, 500] },
      point: (count) => processingCost({ audiences: audiencesWithOthers(count) }),
    },
    {
      name: 'rules',
      by: 'rules',
      x: 'rules; the event fires one and creates a run and a draft',
      sizes: { quick: [1, 10], full: [1, 10, 100, 300] },
      point: rulesCost,
    },
    {
      name: 'projects',
      by: 'projects',
      x: 'projects that share the same number of events',
      sizes: { quick: [1, 10], full: [1, 10, 100, 1_000] },
      point: (projects) => costInProjects({ projects, records: growth.records, runs: growth.runs }),
    },
  ];
}

/** The first run warms up. */
async function timesOf(runs: number, cost: (run: number) => Promise<number>): Promise<number[]> {
  const costs: number[] = [];
  for (let run = 0; run <= runs; run += 1) {
    const runCost = await cost(run);
    if (run > 0) costs.push(runCost);
  }
  return costs;
}

/** `npm run bench -- curves [people | events | audiences | rules | projects …] [--quick]`. Only full runs draw charts. */
export async function benchCurves(args: string[]): Promise<void> {
  const quick = args.includes('--quick');
  const names = args.filter((arg) => !arg.startsWith('--'));
  const all = lines(quick);
  for (const name of names)
    if (!all.some((line) => line.name === name)) throw new Error(`There is no part "${name}"`);
  for (const line of all.filter(({ name }) => names.length === 0 || names.includes(name)))
    await measure(line, quick);
}

async function measure(line: Line, quick: boolean): Promise<void> {
  const { name, by, x, sizes, point } = line;
  const points: Curve['points'] = [];
  const title = `CPU time per event by number of ${by}, worker and PostgreSQL`;
  await show(title, [x, 'per event', 'lowest', 'highest', 'ratio to the first row'], async () => {
    const rows: string[][] = [];
    for (const size of quick ? sizes.quick : sizes.full) {
      const costs = await point(size);
      points.push([size, median(costs)]);
      const relative = median(costs) / (points[0]?.[1] ?? Number.NaN);
      rows.push([
        round(size),
        micros(median(costs)),
        micros(Math.min(...costs)),
        micros(Math.max(...costs)),
        ratio(relative),
      ]);
    }
    return rows;
  });
  if (quick) return;
  mkdirSync(PICTURES, { recursive: true });
  const picture = plot({ title: `CPU time per event, by ${by}`, x, y: 'µs of CPU time', points });
  writeFileSync(join(PICTURES, `curve-${name}.svg`), picture);
}
