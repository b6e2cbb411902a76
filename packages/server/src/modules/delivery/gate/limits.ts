import type { ThrottleBucket } from '../../sending/index.ts';

/** A draft that competes for an address. `deadlineAt` is the time at which it is due, if no deadline was set. */
export type Contender = { id: string; priority: number; deadlineAt: number };

/** Drafts for one address that are due within this time are considered together. */
export const CONTEND_WITHIN_MS = 2 * 3_600_000;

/** Orders drafts that compete for slots: higher priority, then earlier deadline, then smaller id. */
export function slotOrder(a: Contender, b: Contender): number {
  return b.priority - a.priority || a.deadlineAt - b.deadlineAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/**
 * Returns, by the id of each draft that has to wait, the draft that takes the last slot before it. Without any slot no draft yields,
 * because the cap holds all of them. Emails that do not count towards caps do not compete.
 */
export function findYields<C extends Contender>(contenders: C[], slots: number): Map<string, C> {
  const inOrder = contenders.toSorted(slotOrder);
  const last = inOrder[slots - 1];
  return last === undefined ? new Map() : new Map(inOrder.slice(slots).map(({ id }) => [id, last]));
}

/**
 * The throttle of a project is a token bucket. It fills at the configured rate up to one second's worth, and every email takes one token.
 * The capacity is one second's worth for rates per minute or hour too: a whole period at once is the burst that the throttle prevents.
 */
export type Throttle = { emails: number; perMs: number };

/** `nextAt`: when a whole token is available, which is now if one is left. `bucket` is null if no throttle is set. */
type Refilled = { remaining: number; nextAt: number; bucket: ThrottleBucket | null };

const SECOND_MS = 1_000;
/** Sums of fractions miss a whole number by less than this, and an email must not wait for that. */
const ROUNDING = 1e-9;

/** A null bucket was never used, so it is full. */
export function refill(bucket: ThrottleBucket | null, throttle: Throttle | null, now: number): Refilled {
  if (!throttle) return { remaining: Infinity, nextAt: now, bucket: null };
  const capacity = capacityOf(throttle);
  const before = bucket ?? { tokens: capacity, refilledAt: now };
  // Another worker's clock may be ahead: time that was paid out once is not paid out again.
  const refilledAt = Math.max(before.refilledAt, now);
  const gained = ((refilledAt - before.refilledAt) * throttle.emails) / throttle.perMs;
  const tokens = Math.min(capacity, before.tokens + gained);
  const remaining = Math.floor(tokens + ROUNDING);
  const nextAt = remaining > 0 ? now : refilledAt + waitMs(tokens, throttle);
  return { remaining, nextAt, bucket: { tokens, refilledAt } };
}

export function takeTokens(bucket: ThrottleBucket | null, emails: number): ThrottleBucket | null {
  return bucket && { ...bucket, tokens: Math.max(0, bucket.tokens - emails) };
}

function capacityOf({ emails, perMs }: Throttle): number {
  return Math.max(1, Math.ceil((emails * SECOND_MS) / perMs));
}

function waitMs(tokens: number, { emails, perMs }: Throttle): number {
  return Math.max(1, Math.ceil(((1 - ROUNDING / 2 - tokens) * perMs) / emails));
}

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
const SAMPLE_MIN = 20;
const BOUNCED_MAX = 0.05;
const COMPLAINED_MAX = 0.001;

/**
 * Returns how many more emails may be claimed today. If too many bounced or were complained about, the limit is not above yesterday's
 * volume.
 */
export function remainingWarmup(emails: number, counts: WarmupCounts): number {
  const { today, yesterday } = counts;
  return (hasWarmupProblems(counts) ? Math.min(emails, Math.max(FIRST_DAY, yesterday)) : emails) - today;
}

/** Returns whether too many emails bounced or were complained about. */
export function hasWarmupProblems({ today, yesterday, bounced, complained }: WarmupCounts): boolean {
  const all = today + yesterday;
  return all >= SAMPLE_MIN && (bounced / all > BOUNCED_MAX || complained / all > COMPLAINED_MAX);
}

type WarmupDay = {
  /** The first day is 1. */
  day: number;
  /** How many emails may be claimed on this day. Null: the warm-up has ended. */
  emails: number | null;
  startsAt: number;
  endsAt: number;
};

export function warmupDay(from: number, now: number): WarmupDay {
  const day = Math.max(0, Math.floor((now - from) / DAY_MS));
  const emails = Math.floor(FIRST_DAY * GROWTH ** day);
  const startsAt = from + day * DAY_MS;
  return { day: day + 1, emails: emails >= FULL ? null : emails, startsAt, endsAt: startsAt + DAY_MS };
}
