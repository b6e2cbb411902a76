import { cpuBetween, median, usageOf, usageOfTree } from '../measure.ts';
import { ratio } from '../print.ts';
import { type Ground, openGround } from '../stage.ts';
import {
  addHistory,
  addSilent,
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
import { drained, withTurnHeld } from './waiting.ts';

/**
 * Measures the cost of an event, worker and PostgreSQL together, with little and with much stored data. Each side is a server and a
 * PostgreSQL of its own, so that neither uses the other's cache. They run in turn, and the ratio is computed pair by pair.
 *
 * The events are about the same 2,000 users on both sides, scattered among the others, and about `feature_used` alone, which five audiences
 * use. So the work is the same and only the surrounding data differs.
 */
const BUSY = 2_000;
const NAMES = ['feature_used'];

export type Side = { ground: Ground; world: World; workerPid: number };
export type Around = { people: number; events: number; audiences: Audience[] };

export async function growth(sizes: Sizes): Promise<string[][]> {
  const { few, many, events } = sizes.growth;
  const five = ofEvent('feature_used');
  const plain: Around = { people: few, events: 0, audiences: five };
  const rows: string[][] = [];
  const cases: [string, Around][] = [
    [`${few} → ${many} people`, { ...plain, people: many }],
    [`0 → ${events} more events stored`, { ...plain, events }],
    ['5 → 200 audiences, 5 touched', { ...plain, audiences: audiencesAround(200) }],
  ];
  for (const [name, grown] of cases) rows.push(...(await compared(name, { plain, grown, sizes })));
  return rows;
}

/** Five audiences use the event that is sent. The others use events that never happen. */
export function audiencesAround(count: number): Audience[] {
  const others = audiences(count + 15).filter(
    ({ name }) => !/^(feature_used|report_exported|invoice_paid):/.test(name),
  );
  return [...ofEvent('feature_used'), ...others].slice(0, count);
}

type Case = { plain: Around; grown: Around; sizes: Sizes };

async function compared(name: string, { plain, grown, sizes }: Case): Promise<string[][]> {
  const sides: Side[] = [];
  try {
    for (const around of [plain, grown]) sides.push(await openSide(around, sizes));
    const costs: number[][] = [];
    for (let run = 0; run <= sizes.growth.runs; run += 1) {
      const pair: number[] = [];
      for (const side of sides) pair.push(await costOf(side, sizes.growth.records, run));
      // The first run warms up.
      if (run > 0) costs.push(pair);
    }
    const of = (nth: number): string =>
      `${median(costs.map((pair) => pair[nth] ?? Number.NaN)).toFixed(1)} µs`;
    const ratios = costs.map(([little = Number.NaN, much = Number.NaN]) => much / little);
    const spread = `${ratio(Math.min(...ratios))} to ${ratio(Math.max(...ratios))}`;
    return [[name, of(0), of(1), ratio(median(ratios)), spread]];
  } finally {
    for (const { ground } of sides) await ground.close();
  }
}

export async function openSide(around: Around, sizes: Pick<Sizes, 'growth'>): Promise<Side> {
  const ground = await openGround();
  try {
    const { id: projectId } = await ground.project();
    const lapsed = (sizes.growth.runs + 1) * lapsedOf(sizes.growth.records);
    const world = { projectId, people: BUSY + lapsed, lapsed, eventsOfEach: 4 };
    await makePeople(ground, world);
    await serveAudiences(ground, world, around.audiences);
    const silent = around.people - world.people;
    await addSilent(ground, { projectId, from: world.people, count: silent });
    await addHistory(ground, {
      projectId,
      from: world.people,
      people: Math.max(1, silent),
      events: around.events,
    });
    await settle(ground.url);
    const worker = await ground.serve('worker');
    return { ground, world, workerPid: worker.pid };
  } catch (error) {
    await ground.close();
    throw error;
  }
}

/** Returns the CPU time for one event, in microseconds. */
export async function costOf(
  { ground, world, workerPid }: Side,
  count: number,
  run: number,
): Promise<number> {
  const { db, postgresPid } = ground;
  const { projectId } = world;
  const used = (): number => usageOf(workerPid).cpuSeconds + usageOfTree(postgresPid).cpuSeconds;
  const before = await withTurnHeld(db, projectId, async () => {
    const records = backfillEvents(world, { count, run, names: NAMES });
    await preload(db, { projectId, kind: 'events', records });
    return { ...usageOf(workerPid), cpuSeconds: used() };
  });
  await drained(db, { projectId, records: count });
  return (cpuBetween(before, { ...before, cpuSeconds: used() }) / count) * 1e6;
}
