const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNITS;
const DURATION = /^([1-9]\d{0,8})([smhd])$/;

export const DURATION_SYNTAX = 'a whole number and s, m, h or d, such as 90s, 15m, 2h or 7d';

/** Milliseconds of `90s`, `15m`, `2h`, `7d`; undefined for anything else, zero included. */
export function parseDuration(text: string): number | undefined {
  const parts = DURATION.exec(text);
  return parts ? Number(parts[1]) * UNITS[parts[2] as Unit] : undefined;
}

/** Returns the shortest equivalent form. One day stays `24h`, as people write a daily cap. */
export function printDuration(ms: number): string {
  if (ms % UNITS.d === 0 && ms >= 2 * UNITS.d) return `${ms / UNITS.d}d`;
  if (ms % UNITS.h === 0) return `${ms / UNITS.h}h`;
  return ms % UNITS.m === 0 ? `${ms / UNITS.m}m` : `${ms / UNITS.s}s`;
}
