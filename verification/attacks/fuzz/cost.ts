/** The report of recheck: the prefix of each repeated part, and the suffix after all of them. */
type Attack = { pumps: { prefix: string; pump: string }[]; suffix: string };

const RUNS = 5;

/** Builds the worst text for a pattern, of about that length. */
export function attackOf({ pumps, suffix }: Attack, chars: number): string {
  const fixed = pumps.reduce((sum, { prefix }) => sum + prefix.length, suffix.length);
  const perPump = Math.max(0, chars - fixed) / pumps.length;
  const parts = pumps.map(({ prefix, pump }) => prefix + pump.repeat(Math.floor(perPump / pump.length)));
  return parts.join('') + suffix;
}

/** Returns the milliseconds that a pattern takes on a text. */
export function costOf(pattern: RegExp, text: string): Promise<number> {
  return leastCpuOf(() => text.replace(pattern, ''));
}

/** Returns the least CPU time of several runs in this thread, so that other processes do not count. */
export async function leastCpuOf(work: () => unknown): Promise<number> {
  let min = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run += 1) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    min = Math.min(min, (user + system) / 1_000);
  }
  return min;
}
