/**
 * A domain without sending history starts with few emails and half as many more each day, so that mailbox providers learn to trust it. A
 * day is 24 hours from the time at which it was verified.
 */
const FIRST_DAY = 100;
const GROWTH = 1.5;
const FULL = 10_000;
const DAY_MS = 86_400_000;

/** Counts of a domain's emails today, so far, and on the day before, and of their outcomes. */
export type WarmupCounts = { today: number; yesterday: number; bounced: number; complained: number };

/** A smaller sample is not significant. */
const TELLING = 20;
const BOUNCED_MAX = 0.05;
const COMPLAINED_MAX = 0.001;

/**
 * Returns how many more emails may be claimed today. If too many bounced or were complained about, the limit is not above yesterday's
 * volume.
 */
export function warmupLeft(letters: number, counts: WarmupCounts): number {
  const { today, yesterday } = counts;
  return (warmupTroubled(counts) ? Math.min(letters, Math.max(FIRST_DAY, yesterday)) : letters) - today;
}

/** Returns whether too many emails bounced or were complained about. */
export function warmupTroubled({ today, yesterday, bounced, complained }: WarmupCounts): boolean {
  const all = today + yesterday;
  return all >= TELLING && (bounced / all > BOUNCED_MAX || complained / all > COMPLAINED_MAX);
}

export type WarmupDay = {
  /** The first day is 1. */
  day: number;
  /** How many emails may be claimed on this day. Null: the warm-up has ended. */
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
