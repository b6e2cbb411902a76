/**
 * The state of one bucket in this process: its unused leased tokens (`stock`), the waiting requests, and the last answer of the
 * database. All decisions here need no query.
 *
 * - `takeNow` returns a token of the stock, or the refusal that the last answer implies. Otherwise a query is required.
 * - `settle` applies an answer: the oldest waiters get tokens, the others are refused or keep waiting.
 * - `retire` returns tokens not used within LEASE_MS. So no answer is older than that, and all processes apply changed settings
 *   within a second.
 */
type LimitFacts = {
  /** Tokens per second. */
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
  /** The stock right after the last answer. Used or not, the refill in the database must leave space for it. */
  leased: number;
  /** Tokens to be returned to the database. */
  back: number;
  /** Tokens left in the database at `learntAt`. */
  remaining: number;
  learntAt: number;
  /** Below this stock more tokens are leased in advance. While the bucket is less than half full, it grants none in advance. */
  lowWater: number;
  waiting: Waiter[];
  /** The number of waiters that the running statement includes. */
  waitersSent: number;
  /** `queued`: waits for the next statement. `asking`: is part of the running one. */
  isQueued: boolean;
  isSent: boolean;
};

export type BucketGrant = { granted: number; remaining: number; rate: number; burst: number };

export const LEASE_MS = 1_000;
/** A stock in use is renewed after this time, so that requests need not wait when it retires. */
const RENEW_MS = 500;
/** The share of the burst that a process may hold unused. The statement in store.ts uses it too. */
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
    remaining: 0,
    learntAt: NEVER,
    lowWater: -1,
    waiting: [],
    waitersSent: 0,
    isQueued: false,
    isSent: false,
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

/** After a token was taken, returns whether to lease more before requests have to wait. */
export function runsLow(bucket: Bucket, now: number): boolean {
  return bucket.stock <= bucket.lowWater || now - bucket.learntAt >= RENEW_MS;
}

export function isIdle(bucket: Bucket): boolean {
  return !bucket.isQueued && !bucket.isSent && bucket.stock === 0 && bucket.waiting.length === 0;
}

/** A clock that went back makes an answer stale too, because otherwise a refusal could be remembered for hours. */
export function isFresh(bucket: Bucket, now: number): boolean {
  const age = now - bucket.learntAt;
  return age >= 0 && age < LEASE_MS;
}

export function retire(bucket: Bucket): void {
  bucket.back += bucket.stock;
  bucket.stock = 0;
}

/** `at`: the time used by the statement; `now` may be later. */
export function settle(bucket: Bucket, grant: BucketGrant, { at, now }: { at: number; now: number }): void {
  learn(bucket, grant, at);
  const served = Math.min(bucket.stock, bucket.waiting.length);
  // Waiters that the statement included and that got no token are refused. Later ones are refused only if no token can have been refilled
  // since.
  const decided = now < nextTokenAt(bucket) ? bucket.waiting.length : Math.max(served, bucket.waitersSent);
  bucket.waitersSent = 0;
  const leaving = bucket.waiting.splice(0, decided);
  for (const waiter of leaving.slice(0, served)) {
    bucket.stock -= 1;
    waiter.resolve(granted(bucket, now));
  }
  for (const waiter of leaving.slice(served)) waiter.resolve(refused(bucket, now));
  bucket.leased = bucket.stock;
}

export function fail(bucket: Bucket, error: unknown): void {
  bucket.waitersSent = 0;
  for (const waiter of bucket.waiting.splice(0)) waiter.reject(error);
}

function learn(bucket: Bucket, grant: BucketGrant, at: number): void {
  const changed = bucket.rate !== grant.rate || bucket.burst !== grant.burst;
  // A stock leased under other settings may exceed what the new ones ever allow.
  if (changed) retire(bucket);
  bucket.stock += grant.granted;
  bucket.remaining = grant.remaining;
  bucket.learntAt = at;
  bucket.lowWater = grant.remaining > grant.burst / 2 ? Math.floor(Math.ceil(grant.burst * AHEAD) / 2) : -1;
  if (!changed) return;
  bucket.rate = grant.rate;
  bucket.burst = grant.burst;
  bucket.stepS = Math.max(1, Math.ceil(1 / grant.rate));
}

/** Returns the whole millisecond at which the database has one token; a moment in the past if it already has one. */
function nextTokenAt(bucket: Bucket): number {
  if (bucket.remaining >= 1) return NEVER;
  return bucket.learntAt + Math.ceil(((1 - bucket.remaining) / bucket.rate) * 1_000);
}

function granted(bucket: Bucket, now: number): Grant {
  const refilled = bucket.remaining + ((now - bucket.learntAt) / 1_000) * bucket.rate;
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
