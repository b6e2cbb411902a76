/**
 * One bucket as this process sees it: tokens leased from the database and not used yet (`stock`), those who wait for
 * one, and what the last answer of the database said. Everything here is decided without asking anybody.
 *
 *   takeNow   a token of the stock, or the refusal that the last answer implies; else the database must be asked
 *   settle    an answer has come: tokens go to those who waited longest, the others hear a refusal or wait on
 *   retire    what was not used within LEASE_MS goes back, so no answer is older than that and changed settings
 *             are known everywhere within a second
 */
type LimitFacts = {
  /** Tokens a second. */
  rate: number;
  burst: number;
  remaining: number;
  /** Whole seconds until there is one more token than now. */
  resetS: number;
};

/** `retryAfterS`: whole seconds, at least 1, never earlier than `resetS`. */
export type Grant = { ok: true; limit: LimitFacts } | { ok: false; retryAfterS: number; limit: LimitFacts };

export type Waiter = { resolve(grant: Grant): void; reject(error: unknown): void };

export type Bucket = {
  readonly projectId: number;
  readonly name: string;
  rate: number;
  burst: number;
  /** Seconds from one token to the next, rounded up. */
  stepS: number;
  stock: number;
  /** The stock right after the last answer: used or not, it is what the refill in the database has to leave room for. */
  leased: number;
  /** On the way back to the database. */
  back: number;
  /** Tokens that were left in the database at `learntAt`. */
  left: number;
  learntAt: number;
  /** Below this stock more is asked for ahead; none while the bucket is half empty and gives nothing ahead. */
  lowWater: number;
  waiting: Waiter[];
  /** Of those waiting, how many the statement under way asks for. */
  asked: number;
  /** In line for the next statement; part of the one under way. */
  queued: boolean;
  asking: boolean;
};

export type Answer = { granted: number; left: number; rate: number; burst: number };

export const LEASE_MS = 1_000;
/** A stock in use is renewed by then, so that its requests meet no wait when it retires. */
const RENEW_MS = 500;
/** What a process may hold unused, of the burst. The statement in store.ts says the same. */
export const AHEAD = 0.02;
const NEVER = Number.NEGATIVE_INFINITY;

export function newBucket(projectId: number, name: string): Bucket {
  return {
    projectId,
    name,
    rate: 0,
    burst: 0,
    stepS: 1,
    stock: 0,
    leased: 0,
    back: 0,
    left: 0,
    learntAt: NEVER,
    lowWater: -1,
    waiting: [],
    asked: 0,
    queued: false,
    asking: false,
  };
}

export function takeNow(bucket: Bucket, now: number): Grant | undefined {
  if (!isFresh(bucket, now)) return undefined;
  if (bucket.stock > 0) {
    bucket.stock -= 1;
    return granted(bucket, now);
  }
  return now < nextTokenAt(bucket) ? refused(bucket, now) : undefined;
}

/** After a token was taken: is it time to ask for more, before somebody has to wait? */
export function runsLow(bucket: Bucket, now: number): boolean {
  return bucket.stock <= bucket.lowWater || now - bucket.learntAt >= RENEW_MS;
}

export function isIdle(bucket: Bucket): boolean {
  return !bucket.queued && !bucket.asking && bucket.stock === 0 && bucket.waiting.length === 0;
}

/** A clock that went back makes an answer stale too: otherwise a refusal could be remembered for hours. */
export function isFresh(bucket: Bucket, now: number): boolean {
  const age = now - bucket.learntAt;
  return age >= 0 && age < LEASE_MS;
}

export function retire(bucket: Bucket): void {
  bucket.back += bucket.stock;
  bucket.stock = 0;
}

/** `at`: the time that the statement went by; `now` may be later. */
export function settle(bucket: Bucket, answer: Answer, { at, now }: { at: number; now: number }): void {
  learn(bucket, answer, at);
  const served = Math.min(bucket.stock, bucket.waiting.length);
  // Whoever was asked for and got nothing is refused; those who came later, only if no token can have come since.
  const decided = now < nextTokenAt(bucket) ? bucket.waiting.length : Math.max(served, bucket.asked);
  bucket.asked = 0;
  const leaving = bucket.waiting.splice(0, decided);
  for (const waiter of leaving.slice(0, served)) {
    bucket.stock -= 1;
    waiter.resolve(granted(bucket, now));
  }
  for (const waiter of leaving.slice(served)) waiter.resolve(refused(bucket, now));
  bucket.leased = bucket.stock;
}

export function fail(bucket: Bucket, error: unknown): void {
  bucket.asked = 0;
  for (const waiter of bucket.waiting.splice(0)) waiter.reject(error);
}

function learn(bucket: Bucket, answer: Answer, at: number): void {
  const changed = bucket.rate !== answer.rate || bucket.burst !== answer.burst;
  // A stock leased under other settings may be more than the new ones ever allow.
  if (changed) retire(bucket);
  bucket.stock += answer.granted;
  bucket.left = answer.left;
  bucket.learntAt = at;
  bucket.lowWater = answer.left > answer.burst / 2 ? Math.floor(Math.ceil(answer.burst * AHEAD) / 2) : -1;
  if (!changed) return;
  bucket.rate = answer.rate;
  bucket.burst = answer.burst;
  bucket.stepS = Math.max(1, Math.ceil(1 / answer.rate));
}

/** The whole millisecond at which the database holds one token; past, where it holds one already. */
function nextTokenAt(bucket: Bucket): number {
  if (bucket.left >= 1) return NEVER;
  return bucket.learntAt + Math.ceil(((1 - bucket.left) / bucket.rate) * 1_000);
}

function granted(bucket: Bucket, now: number): Grant {
  const refilled = bucket.left + ((now - bucket.learntAt) / 1_000) * bucket.rate;
  const remaining = Math.max(0, Math.min(bucket.burst, Math.floor(bucket.stock + refilled)));
  return { ok: true, limit: { rate: bucket.rate, burst: bucket.burst, remaining, resetS: bucket.stepS } };
}

function refused(bucket: Bucket, now: number): Grant {
  const resetS = Math.max(1, Math.ceil((nextTokenAt(bucket) - now) / 1_000));
  return {
    ok: false,
    retryAfterS: resetS,
    limit: { rate: bucket.rate, burst: bucket.burst, remaining: 0, resetS },
  };
}
