import { median } from '../measure.ts';
import { formatMsOrNone, round } from '../print.ts';
import { openTestbed } from '../testbed.ts';
import { settle } from '../world.ts';
import { busyProject } from './latency.ts';
import { type Live, withLive } from './live.ts';
import { backfillEvents, preload } from './records.ts';
import type { Sizes } from './sizes.ts';
import { pause, visibility } from './visible.ts';
import { waitingOf, withProjectLock } from './waiting.ts';

/** A modest rate: the question is what the neighbor adds, not what the machine can take. */
const PER_SECOND = 500;

/**
 * Compares one project's stream with and without a neighbor that has 50,000 waiting records, in turn. The records are written while the
 * neighbor's project lock is held. Events count that are accepted between the release of the lock and the moment when no record waits.
 */
export async function neighbor(sizes: Sizes): Promise<string[][]> {
  const testbed = await openTestbed();
  try {
    const pairs = Math.min(3, sizes.pairs);
    const ownBusy = await busyProject(testbed, sizes, 1);
    const neighborBusy = await busyProject(testbed, sizes, pairs);
    await settle(testbed.url);
    const api = await testbed.serve('all');
    const live: Live = { testbed, api, projects: [ownBusy.project], perSecond: PER_SECOND };
    await withLive(live, () => pause(sizes.liveSeconds * 1_000));
    const rows: string[][] = [];
    const added: number[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      const records = backfillEvents(neighborBusy.world, { count: sizes.backfill, run: pair });
      const { id: projectId } = neighborBusy.project;
      const { alone, withNeighbor } = await withProjectLock(testbed.db, projectId, async (release) => {
        await preload(testbed.db, { projectId, kind: 'events', records });
        return {
          alone: await withLive(live, () => pause(sizes.liveSeconds * 1_000)),
          withNeighbor: await withLive(live, async () => {
            const from = performance.now();
            await release();
            while ((await waitingOf(testbed.db, projectId)) > 0) await pause(20);
            return { from, to: performance.now() };
          }),
        };
      });
      const without = visibility(alone.samples);
      const withThem = visibility(withNeighbor.samples, withNeighbor.result);
      const more = (withThem?.p95 ?? Number.NaN) - (without?.p95 ?? Number.NaN);
      added.push(more);
      const seconds = ((withNeighbor.result.to - withNeighbor.result.from) / 1_000).toFixed(1);
      rows.push([
        `pair ${pair + 1}`,
        formatMsOrNone(without?.p95 ?? null),
        formatMsOrNone(withThem?.p95 ?? null),
        `${round(more)} ms`,
        `${seconds} s`,
        String(withThem?.samples ?? 0),
      ]);
    }
    return [...rows, ['median', '', '', `${round(median(added))} ms`, '', '']];
  } finally {
    await testbed.close();
  }
}
