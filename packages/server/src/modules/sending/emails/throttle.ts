/**
 * The throttle of a project is a token bucket. It fills at the configured rate up to one second's worth, and every email takes one token.
 * The capacity is one second's worth for rates per minute or hour too: a whole period at once is the burst that the throttle prevents.
 */
export type Throttle = { letters: number; perMs: number };
export type Bucket = { tokens: number; refilledAt: number };

/** `nextAt`: when a whole token is available, which is now if one is left. `bucket` is null if no throttle is set. */
export type Refilled = { left: number; nextAt: number; bucket: Bucket | null };

const SECOND_MS = 1_000;
/** Sums of fractions miss a whole number by less than this, and an email must not wait for that. */
const ROUNDING = 1e-9;

/** A null bucket was never used, so it is full. */
export function refill(bucket: Bucket | null, throttle: Throttle | null, now: number): Refilled {
  if (!throttle) return { left: Infinity, nextAt: now, bucket: null };
  const capacity = capacityOf(throttle);
  const before = bucket ?? { tokens: capacity, refilledAt: now };
  // Another worker's clock may be ahead: time that was paid out once is not paid out again.
  const refilledAt = Math.max(before.refilledAt, now);
  const gained = ((refilledAt - before.refilledAt) * throttle.letters) / throttle.perMs;
  const tokens = Math.min(capacity, before.tokens + gained);
  const left = Math.floor(tokens + ROUNDING);
  const nextAt = left > 0 ? now : refilledAt + waitMs(tokens, throttle);
  return { left, nextAt, bucket: { tokens, refilledAt } };
}

export function takeTokens(bucket: Bucket | null, letters: number): Bucket | null {
  return bucket && { ...bucket, tokens: Math.max(0, bucket.tokens - letters) };
}

function capacityOf({ letters, perMs }: Throttle): number {
  return Math.max(1, Math.ceil((letters * SECOND_MS) / perMs));
}

function waitMs(tokens: number, { letters, perMs }: Throttle): number {
  return Math.max(1, Math.ceil(((1 - ROUNDING / 2 - tokens) * perMs) / letters));
}
