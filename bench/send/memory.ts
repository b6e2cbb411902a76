import { pause } from '../digest/visible.ts';
import { median, usageOf } from '../measure.ts';
import { round } from '../print.ts';
import { progress } from '../fill.ts';
import { allSent, putDrafts, ring } from '../rules/world.ts';
import type { Sizes } from './sizes.ts';
import { onStage, type Stage } from './stage.ts';
import { recordsOf, shownTogether } from './throughput.ts';

/**
 * What the worker holds in memory while letters leave evenly for some minutes: the slope of its resident memory through
 * all samples after the warm-up (Theil-Sen: the median of the slopes between each two, so that a single collection of
 * garbage moves nothing), as a share of the median a minute.
 */
export function memory({ memory: sizes }: Sizes): Promise<string[][]> {
  const { perSecond, warmUpMs, forMs, everyMs } = sizes;
  const people = Math.ceil((perSecond * (warmUpMs + forMs)) / 1_000) + 2 * perSecond * (AHEAD_MS / 1_000);
  return onStage(people, async (stage) => {
    progress(`memory: ${perSecond} letters a second for ${(warmUpMs + forMs) / 1_000} s`);
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
    await allSent(stage.ground.db, stage.world.projectId, Date.now());
    const { letters, twice } = await stage.sink.count();
    const records = await recordsOf(stage, 0);
    return [
      [
        ...memoryRow(samples),
        shownTogether(records),
        ...[drafts, letters, twice, records.notSent].map(round),
      ],
    ];
  });
}

export type Sample = { at: number; rss: number };
const AHEAD_MS = 5_000;

/** Drafts that fall due in the next few seconds, again and again; the sender is told of each lot. */
async function writeAsTheyGo(
  { ground, world }: Stage,
  { perSecond, until }: { perSecond: number; until: number },
): Promise<number> {
  const count = (perSecond * AHEAD_MS) / 1_000;
  let drafts = 0;
  let firstAt = Date.now() + AHEAD_MS;
  for (; performance.now() + AHEAD_MS < until; firstAt += AHEAD_MS) {
    await putDrafts(world, { count, firstAt, overMs: AHEAD_MS });
    await ring(ground.db, world.projectId, firstAt);
    drafts += count;
    await pause(firstAt - Date.now());
  }
  await pause(firstAt - Date.now());
  return drafts;
}

/** Of the median, a minute. */
function slopeOf(samples: Sample[]): number {
  const slopes = samples.flatMap((a, i) => samples.slice(i + 1).map((b) => (b.rss - a.rss) / (b.at - a.at)));
  return (median(slopes) * 60_000) / median(samples.map(({ rss }) => rss));
}

const MEGABYTE = 1024 * 1024;

/** How many, the first, the median, the most, the last, and the slope. */
export function memoryRow(samples: Sample[]): string[] {
  const sizes = samples.map(({ rss }) => rss / MEGABYTE);
  const shown = [sizes[0], median(sizes), Math.max(...sizes), sizes.at(-1)];
  return [
    String(samples.length),
    ...shown.map((size) => `${(size ?? Number.NaN).toFixed(1)} MB`),
    `${(slopeOf(samples) * 100).toFixed(2)} %`,
  ];
}
