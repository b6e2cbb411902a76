import { pause } from '../processing/visible.ts';
import { median, usageOf } from '../measure.ts';
import { round } from '../print.ts';
import { progress } from '../fill.ts';
import { allSent, writeDrafts, ring } from '../rules/world.ts';
import type { Sizes } from './sizes.ts';
import { onStage, type Stage } from './stage.ts';
import { recordsOf, shownTogether } from './throughput.ts';

/**
 * Measures the worker's memory while emails are sent evenly for some minutes. The result is the slope of its resident memory through all
 * samples after the warm-up, per minute, as a share of the median. The slope is by Theil-Sen, the median of the slopes between each two
 * samples, so that a single garbage collection does not affect it.
 */
export function memory({ memory: sizes }: Sizes): Promise<string[][]> {
  const { perSecond, warmUpMs, forMs, everyMs } = sizes;
  const people = Math.ceil((perSecond * (warmUpMs + forMs)) / 1_000) + 2 * perSecond * (AHEAD_MS / 1_000);
  return onStage(people, async (stage) => {
    progress(`memory: ${perSecond} emails a second for ${(warmUpMs + forMs) / 1_000} s`);
    await stage.sink.forget();
    const until = performance.now() + warmUpMs + forMs;
    const writing = writeAsTheyGo(stage, { perSecond, until });
    const samples: Sample[] = [];
    await Promise.race([writing, pause(warmUpMs)]);
    while (performance.now() < until) {
      samples.push({ at: performance.now(), rss: usageOf(stage.worker.pid).rssBytes });
      await Promise.race([writing, pause(everyMs)]);
    }
    const drafts = await writing;
    await allSent(stage.testbed.db, stage.world.projectId, Date.now());
    const { emails, twice } = await stage.sink.count();
    const records = await recordsOf(stage, 0);
    return [
      [...memoryRow(samples), shownTogether(records), ...[drafts, emails, twice, records.notSent].map(round)],
    ];
  });
}

export type Sample = { at: number; rss: number };
const AHEAD_MS = 5_000;

/** Writes drafts that fall due in the next few seconds, repeatedly, and notifies the sender of each batch. */
async function writeAsTheyGo(
  { testbed, world }: Stage,
  { perSecond, until }: { perSecond: number; until: number },
): Promise<number> {
  const count = (perSecond * AHEAD_MS) / 1_000;
  let drafts = 0;
  let firstAt = Date.now() + AHEAD_MS;
  for (; performance.now() + AHEAD_MS < until; firstAt += AHEAD_MS) {
    await writeDrafts(world, { count, firstAt, overMs: AHEAD_MS });
    await ring(testbed.db, world.projectId, firstAt);
    drafts += count;
    await pause(firstAt - Date.now());
  }
  await pause(firstAt - Date.now());
  return drafts;
}

/** Returns the slope per minute, as a share of the median. */
function slopeOf(samples: Sample[]): number {
  const slopes = samples.flatMap((a, i) => samples.slice(i + 1).map((b) => (b.rss - a.rss) / (b.at - a.at)));
  return (median(slopes) * 60_000) / median(samples.map(({ rss }) => rss));
}

const MEGABYTE = 1024 * 1024;

/** Returns the number of samples, the first, the median, the maximum, the last, and the slope. */
export function memoryRow(samples: Sample[]): string[] {
  const sizes = samples.map(({ rss }) => rss / MEGABYTE);
  const figures = [sizes[0], median(sizes), Math.max(...sizes), sizes.at(-1)];
  return [
    String(samples.length),
    ...figures.map((size) => `${(size ?? Number.NaN).toFixed(1)} MB`),
    `${(slopeOf(samples) * 100).toFixed(2)} %`,
  ];
}
