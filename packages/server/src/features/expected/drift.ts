/** What is odd about an event that somebody counts on. Moments are milliseconds. */
export type Drift =
  | { kind: 'stopped'; lastAt: number; usualEveryMs: number }
  | { kind: 'new_property'; property: string; since: number }
  | { kind: 'new_type'; property: string; type: string; since: number };

type Seen = {
  lastAt: number;
  /** So many came on each of the last 30 days, today the last. */
  days: number[];
  properties: { property: string; types: { type: string; firstAt: number }[] }[];
};

const DAY_MS = 86_400_000;
/** A quiet night is no alarm; nor is a gap that is not clearly longer than the usual one. */
const QUIET_MIN_MS = DAY_MS;
const QUIET_TIMES = 5;

/** Marked again, it is what it is by now that is expected. */
export function driftOf(since: number, seen: Seen, now: number): Drift[] {
  return [...stopped(seen, now), ...seen.properties.flatMap((property) => changed(property, since))];
}

/** Of an event that never came twice in a month nobody can tell when it should come again. */
function stopped({ lastAt, days }: Seen, now: number): Drift[] {
  const count = days.reduce((sum, one) => sum + one, 0);
  if (count < 2) return [];
  const first = days.findIndex((one) => one > 0);
  const span = Math.max(lastAt - (now - (days.length - first) * DAY_MS), DAY_MS);
  const usualEveryMs = Math.round(span / count);
  const isQuiet = now - lastAt > Math.max(QUIET_MIN_MS, usualEveryMs * QUIET_TIMES);
  return isQuiet ? [{ kind: 'stopped', lastAt, usualEveryMs }] : [];
}

/** A value that is sometimes missing says nothing about the type. */
function changed({ property, types }: Seen['properties'][number], since: number): Drift[] {
  const fresh = types.filter(({ firstAt }) => firstAt > since);
  const [first] = fresh;
  if (!first) return [];
  if (fresh.length === types.length)
    return [{ kind: 'new_property', property, since: Math.min(...fresh.map(({ firstAt }) => firstAt)) }];
  return fresh
    .filter(({ type }) => type !== 'null')
    .map(({ type, firstAt }) => ({ kind: 'new_type', property, type, since: firstAt }));
}
