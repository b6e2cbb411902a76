/**
 * The health of an endpoint: rate limit tokens, a circuit breaker and the time of the first failure since the last success. The breaker
 * pauses the endpoint while nearly all attempts fail. All of it is decided here and stored in the endpoint's row.
 */
export type Health = {
  tokens: number;
  refilledAt: number;
  /** No attempts are made until then, and after that one attempt decides. Null: the circuit is closed, and all attempts are made. */
  openUntil: number | null;
  /** The results that the breaker counts, oldest first. */
  windows: HealthWindow[];
  /** The first failure since the last success. */
  failingSince: number | null;
  failures: number;
  warnedAt: number | null;
  succeededAt: number | null;
};

export type HealthWindow = { at: number; ok: number; failed: number };

/** The result of a request. */
export type HealthSample = { at: number; ok: boolean; isGone: boolean };

export const BREAKER = {
  windowMs: 30_000,
  countedMs: 5 * 60_000,
  requestsMin: 10,
  failedShare: 0.7,
  openMs: 30_000,
} as const;

const HOUR = 3_600_000;
const WARN_AFTER_MS = 24 * HOUR;
const DISABLE_AFTER_MS = 5 * 24 * HOUR;
/** A single event that always fails is not enough to disable an endpoint. */
const DISABLE_FAILURES_MIN = 10;

export function newHealth(perSecond: number, now: number): Health {
  return {
    tokens: burstOf(perSecond),
    refilledAt: now,
    openUntil: null,
    windows: [],
    failingSince: null,
    failures: 0,
    warnedAt: null,
    succeededAt: null,
  };
}

/** `event`: a change that members must be informed about. */
export type HealthChange = {
  health: Health;
  event: 'gone' | 'failing' | 'warned' | 'opened' | 'closed' | null;
};

/**
 * Returns the health after a result. Responses during the open period belong to earlier requests. Only a response after it can close the
 * circuit.
 */
export function applySample(health: Health, result: HealthSample): HealthChange {
  return result.ok ? succeeded(health, result) : failed(health, result);
}

function succeeded(health: Health, { at }: HealthSample): HealthChange {
  const isProbe = health.openUntil !== null && resultTime(health, at) >= health.openUntil;
  const windows = isProbe ? [] : counted(health.windows, { at, ok: true });
  const openUntil = isProbe ? null : health.openUntil;
  const after = { ...health, windows, openUntil, failingSince: null, failures: 0, warnedAt: null };
  return { health: { ...after, succeededAt: at }, event: isProbe ? 'closed' : null };
}

function failed(health: Health, { at, isGone }: HealthSample): HealthChange {
  const failingSince = health.failingSince ?? at;
  const failures = health.failures + 1;
  const windows = counted(health.windows, { at, ok: false });
  const after = { ...health, windows, failingSince, failures };
  if (isGone) return { health: after, event: 'gone' };
  const lasted = at - failingSince;
  if (lasted >= DISABLE_AFTER_MS && failures >= DISABLE_FAILURES_MIN)
    return { health: after, event: 'failing' };
  const opened = opens(after, at);
  if (lasted >= WARN_AFTER_MS && health.warnedAt === null)
    return { health: { ...opened, warnedAt: at }, event: 'warned' };
  const isNew = health.openUntil === null && opened.openUntil !== null;
  return { health: opened, event: isNew ? 'opened' : null };
}

/** Returns the time of a result, but never before the last refill. The clock may have been set back since. */
function resultTime({ refilledAt }: Health, at: number): number {
  return Math.max(at, refilledAt);
}

/** Opens the circuit. A failure after the open period starts a new one, and a failure within it changes nothing. */
function opens(health: Health, at: number): Health {
  const time = resultTime(health, at);
  if (health.openUntil !== null)
    return time >= health.openUntil ? { ...health, openUntil: time + BREAKER.openMs } : health;
  const total = { ok: 0, failed: 0 };
  for (const { ok, failed: f } of health.windows) {
    total.ok += ok;
    total.failed += f;
  }
  const requests = total.ok + total.failed;
  const trips = requests >= BREAKER.requestsMin && total.failed >= BREAKER.failedShare * requests;
  return trips ? { ...health, openUntil: at + BREAKER.openMs } : health;
}

function counted(windows: HealthWindow[], { at, ok }: { at: number; ok: boolean }): HealthWindow[] {
  const begins = at - (at % BREAKER.windowMs);
  const recent = windows.filter((window) => window.at > at - BREAKER.countedMs);
  const index = recent.findIndex((window) => window.at === begins);
  const window = recent[index] ?? { at: begins, ok: 0, failed: 0 };
  const updated = { at: begins, ok: window.ok + (ok ? 1 : 0), failed: window.failed + (ok ? 0 : 1) };
  return index === -1 ? [...recent, updated].toSorted((a, b) => a.at - b.at) : recent.with(index, updated);
}

export type Limits = { perSecond: number; inFlightMax: number };

/** Adds the tokens of the time since the last refill, up to one burst. */
export function refill(health: Health, { perSecond }: Limits, now: number): Health {
  const since = Math.max(0, now - health.refilledAt);
  const tokens = Math.min(burstOf(perSecond), health.tokens + (since / 1_000) * perSecond);
  return { ...health, tokens, refilledAt: Math.max(now, health.refilledAt) };
}

/** Tolerance for rounding errors in sums of fractional tokens. Without it, the calculated time of the next token could come too early. */
const HAIR = 1e-6;

/** Returns how many requests may start now, given those in flight. After an open period, it is a single probe. */
export function mayClaim(
  health: Health,
  { limits, inFlight, now }: { limits: Limits; inFlight: number; now: number },
): number {
  if (health.openUntil !== null && now < health.openUntil) return 0;
  const quota = health.openUntil === null ? limits.inFlightMax : 1;
  return Math.max(0, Math.min(quota - inFlight, Math.floor(health.tokens + HAIR)));
}

/** Returns the burst: the tokens of one second, but at least one request. */
export function burstOf(perSecond: number): number {
  return Math.max(1, perSecond);
}
