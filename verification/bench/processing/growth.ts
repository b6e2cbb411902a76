import { costBetween, type CpuCost, median, totalCost, usagePair } from '../measure.ts';
import { ratio } from '../print.ts';
import { type Testbed, openTestbed } from '../testbed.ts';
import {
  addHistory,
  addInactiveUsers,
  type Audience,
  audiences,
  makePeople,
  ofEvent,
  serveAudiences,
  settle,
  type World,
} from '../world.ts';
import { backfillEvents, lapsedOf, preload } from './records.ts';
import type { Sizes } from './sizes.ts';
import { untilProcessed, withProjectLock } from './waiting.ts';

/**
 * Measures the cost of an event, worker and PostgreSQL together, with little and with much stored data. Each side is a server and a
 * PostgreSQL of its own, so that neither uses the other's cache. They run in turn, and the ratio is computed pair by pair.
 *
 * The events are about the same 2,000 users on both sides, scattered among the others, and about `feature_used` alone, which five audiences
 * use. So the work is the same and only the surrounding data differs.
 */
const BUSY = 2_000;
const NAMES = ['feature_used'];

export type Side = { testbed: Testbed; world: World; workerPid: number };
export type StoredData = {
  people: number;
  events: number;
  audiences: Audience[];
  /** One of how many events will be about a lapsed user. */
  lapsedEvery?: number;
};

export async function growth(sizes: Sizes): Promise<string[][]> {
  const { few, many, events } = sizes.growth;
  const five = ofEvent('feature_used');
  const plain: StoredData = { people: few, events: 0, audiences: five };
  const rows: string[][] = [];
  const cases: [string, StoredData][] = [
    [`${few} → ${many} people`, { ...plain, people: many }],
    [`0 → ${events} more events stored`, { ...plain, events }],
    ['5 → 200 audiences, 5 touched', { ...plain, audiences: audiencesWithOthers(200) }],
  ];
  for (const [name, grown] of cases) rows.push(...(await compareSides(name, { plain, grown, sizes })));
  return rows;
}

/** Five audiences use the event that is sent. The others use events that never happen. */
export function audiencesWithOthers(count: number): Audience[] {
  const others = audiences(count + 15).filter(
    ({ name }) => !/^(feature_used|report_exported|invoice_paid):/.test(name),
  );
  return [...ofEvent('feature_used'), ...others].slice(0, count);
}

type Case = { plain: StoredData; grown: StoredData; sizes: Sizes };

async function compareSides(name: string, { plain, grown, sizes }: Case): Promise<string[][]> {
  const sides: Side[] = [];
  try {
    for (const stored of [plain, grown]) sides.push(await openSide(stored, sizes));
    const costs: number[][] = [];
    for (let run = 0; run <= sizes.growth.runs; run += 1) {
      const pair: number[] = [];
      for (const side of sides)
        pair.push(totalCost(await costOf(side, { count: sizes.growth.records, run })));
      // The first run warms up.
      if (run > 0) costs.push(pair);
    }
    const medianOf = (nth: number): string =>
      `${median(costs.map((pair) => pair[nth] ?? Number.NaN)).toFixed(1)} µs`;
    const ratios = costs.map(([little = Number.NaN, much = Number.NaN]) => much / little);
    const spread = `${ratio(Math.min(...ratios))} to ${ratio(Math.max(...ratios))}`;
    return [[name, medianOf(0), medianOf(1), ratio(median(ratios)), spread]];
  } finally {
    for (const { testbed } of sides) await testbed.close();
  }
}

export async function openSide(stored: StoredData, sizes: Pick<Sizes, 'growth'>): Promise<Side> {
  const testbed = await openTestbed();
  try {
    const { id: projectId } = await testbed.project();
    const lapsed = (sizes.growth.runs + 1) * lapsedOf(sizes.growth.records, stored.lapsedEvery);
    const world = { projectId, people: BUSY + lapsed, lapsed, eventsOfEach: 4 };
    await makePeople(testbed, world);
    await serveAudiences(testbed, world, stored.audiences);
    const inactive = stored.people - world.people;
    await addInactiveUsers(testbed, { projectId, from: world.people, count: inactive });
    await addHistory(testbed, {
      projectId,
      from: world.people,
      people: Math.max(1, inactive),
      events: stored.events,
    });
    await settle(testbed.url);
    const worker = await testbed.serve('worker');
    return { testbed, world, workerPid: worker.pid };
  } catch (error) {
    await testbed.close();
    throw error;
  }
}

/** Returns the CPU time for one event. `lapsedEvery`: one of how many events is about a lapsed user, and changes two memberships. */
export async function costOf(
  { testbed, world, workerPid }: Side,
  { count, run, lapsedEvery }: { count: number; run: number; lapsedEvery?: number },
): Promise<CpuCost> {
  const { db, postgresPid } = testbed;
  const { projectId } = world;
  const before = await withProjectLock(db, projectId, async () => {
    const records = backfillEvents(world, { count, run, names: NAMES, lapsedEvery });
    await preload(db, { projectId, kind: 'events', records });
    return usagePair(workerPid, postgresPid);
  });
  await untilProcessed(db, { projectId, records: count });
  return costBetween(before, usagePair(workerPid, postgresPid), count);
}
