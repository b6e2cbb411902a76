/** The report of recheck: the prefix of each repeated part, and the suffix after all of them. */
type Told = { pumps: { prefix: string; pump: string }[]; suffix: string };

const RUNS = 5;

/** Builds the worst text for a pattern, of about that length. */
export function attackOf({ pumps, suffix }: Told, chars: number): string {
  const fixed = pumps.reduce((sum, { prefix }) => sum + prefix.length, suffix.length);
  const each = Math.max(0, chars - fixed) / pumps.length;
  const parts = pumps.map(({ prefix, pump }) => prefix + pump.repeat(Math.floor(each / pump.length)));
  return parts.join('') + suffix;
}

/** Returns the milliseconds that a pattern takes on a text. */
export function costOf(pattern: RegExp, text: string): Promise<number> {
  return leastCpuOf(() => text.replace(pattern, ''));
}

/** Returns the least CPU time of several runs in this thread, so that other processes do not count. */
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
