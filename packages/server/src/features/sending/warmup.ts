/**
 * A domain that nobody has had letters from yet begins with a few, and each day half as many more, so that mailbox providers
 * learn to know it. A day is 24 hours from the moment at which it was verified.
 */
const FIRST_DAY = 100;
const GROWTH = 1.5;
const FULL = 10_000;
const DAY_MS = 86_400_000;

/** What became of a domain's letters today, so far, and on the day before. */
export type WarmupCounts = { today: number; yesterday: number; bounced: number; complained: number };

/** Of fewer letters nothing can be told. */
const TELLING = 20;
const BOUNCED_MAX = 0.05;
const COMPLAINED_MAX = 0.001;

/** How many letters more may be claimed today: where too many came back or annoyed somebody, it grows no further than it went yesterday. */
export function warmupLeft(letters: number, counts: WarmupCounts): number {
  const { today, yesterday } = counts;
  return (warmupTroubled(counts) ? Math.min(letters, Math.max(FIRST_DAY, yesterday)) : letters) - today;
}

/** Too many came back, or annoyed somebody. */
export function warmupTroubled({ today, yesterday, bounced, complained }: WarmupCounts): boolean {
  const all = today + yesterday;
  return all >= TELLING && (bounced / all > BOUNCED_MAX || complained / all > COMPLAINED_MAX);
}

export type WarmupDay = {
  /** The first is 1. */
  day: number;
  /** How many letters may be claimed on it; null: the warm-up is over. */
  letters: number | null;
  startsAt: number;
  endsAt: number;
};

export function warmupDay(from: number, now: number): WarmupDay {
  const day = Math.max(0, Math.floor((now - from) / DAY_MS));
  const letters = Math.floor(FIRST_DAY * GROWTH ** day);
  const startsAt = from + day * DAY_MS;
  return { day: day + 1, letters: letters >= FULL ? null : letters, startsAt, endsAt: startsAt + DAY_MS };
}
