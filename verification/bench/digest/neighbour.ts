import { median } from '../measure.ts';
import { msOrNone, round } from '../print.ts';
import { openGround } from '../stage.ts';
import { settle } from '../world.ts';
import { busyProject } from './latency.ts';
import { type Live, withLive } from './live.ts';
import { backfillEvents, preload } from './records.ts';
import type { Sizes } from './sizes.ts';
import { pause, visibility } from './visible.ts';
import { waitingOf, withTurnHeld } from './waiting.ts';

/** A modest rate: the question is what the neighbor adds, not what the machine can take. */
const PER_SECOND = 500;

/**
 * Compares one project's stream with and without a neighbor that has 50,000 waiting records, in turn. The records are written while the
 * neighbor's project lock is held. Events count that are accepted between the release of the lock and the moment when no record waits.
 */
export async function neighbour(sizes: Sizes): Promise<string[][]> {
  const ground = await openGround();
  try {
    const pairs = Math.min(3, sizes.pairs);
    const mine = await busyProject(ground, sizes, 1);
    const theirs = await busyProject(ground, sizes, pairs);
    await settle(ground.url);
    const api = await ground.serve('all');
    const live: Live = { ground, api, projects: [mine.project], perSecond: PER_SECOND };
    await withLive(live, () => pause(sizes.liveSeconds * 1_000));
    const rows: string[][] = [];
    const added: number[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      const records = backfillEvents(theirs.world, { count: sizes.backfill, run: pair });
      const { id: projectId } = theirs.project;
      const { alone, beside } = await withTurnHeld(ground.db, projectId, async (release) => {
        await preload(ground.db, { projectId, kind: 'events', records });
        return {
          alone: await withLive(live, () => pause(sizes.liveSeconds * 1_000)),
          beside: await withLive(live, async () => {
            const from = performance.now();
            await release();
            while ((await waitingOf(ground.db, projectId)) > 0) await pause(20);
            return { from, to: performance.now() };
          }),
        };
      });
      const without = visibility(alone.samples);
      const withThem = visibility(beside.samples, beside.result);
      const more = (withThem?.p95 ?? Number.NaN) - (without?.p95 ?? Number.NaN);
      added.push(more);
      const seconds = ((beside.result.to - beside.result.from) / 1_000).toFixed(1);
      rows.push([
        `pair ${pair + 1}`,
        msOrNone(without?.p95 ?? null),
        msOrNone(withThem?.p95 ?? null),
        `${round(more)} ms`,
        `${seconds} s`,
        String(withThem?.samples ?? 0),
      ]);
    }
    return [...rows, ['median', '', '', `${round(median(added))} ms`, '', '']];
  } finally {
    await ground.close();
  }
}
