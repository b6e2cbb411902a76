/** As recheck tells it: what stands in front of each part that is repeated, and behind all of them. */
type Told = { pumps: { prefix: string; pump: string }[]; suffix: string };

const RUNS = 5;

/** The text that is worst for a pattern, of about that length. */
export function attackOf({ pumps, suffix }: Told, chars: number): string {
  const fixed = pumps.reduce((sum, { prefix }) => sum + prefix.length, suffix.length);
  const each = Math.max(0, chars - fixed) / pumps.length;
  const parts = pumps.map(({ prefix, pump }) => prefix + pump.repeat(Math.floor(each / pump.length)));
  return parts.join('') + suffix;
}

/** Milliseconds that a pattern works on a text. */
export function costOf(pattern: RegExp, text: string): Promise<number> {
  return leastCpuOf(() => text.replace(pattern, ''));
}

/** The least of some runs, in time of this thread, so that neighbours do not count. */
export async function leastCpuOf(work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run += 1) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
