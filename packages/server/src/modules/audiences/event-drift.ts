/** A deviation of an expected event. Times are in milliseconds. */
export type Drift =
  | { kind: 'stopped'; lastAt: number; usualEveryMs: number }
  | { kind: 'new_property'; property: string; since: number }
  | { kind: 'new_type'; property: string; type: string; since: number };

type Seen = {
  lastAt: number;
  /** The number of events on each of the last 30 days, ending today. */
  days: number[];
  properties: { property: string; types: { type: string; firstAt: number }[] }[];
};

const DAY_MS = 86_400_000;
/** Neither a quiet night nor a gap close to the usual one is an alarm. */
const QUIET_MIN_MS = DAY_MS;
const QUIET_TIMES = 5;

/** Lists deviations since the event was marked as expected. Marking it again makes its current form the expected one. */
export function driftOf(since: number, seen: Seen, now: number): Drift[] {
  return [...stopped(seen, now), ...seen.properties.flatMap((property) => changed(property, since))];
}

/** Reports nothing for an event with fewer than two occurrences in a month, because it has no usual interval. */
function stopped({ lastAt, days }: Seen, now: number): Drift[] {
  const count = days.reduce((sum, one) => sum + one, 0);
  if (count < 2) return [];
  const first = days.findIndex((one) => one > 0);
  const span = Math.max(lastAt - (now - (days.length - first) * DAY_MS), DAY_MS);
  const usualEveryMs = Math.round(span / count);
  const isQuiet = now - lastAt > Math.max(QUIET_MIN_MS, usualEveryMs * QUIET_TIMES);
  return isQuiet ? [{ kind: 'stopped', lastAt, usualEveryMs }] : [];
}

/** A value that is sometimes missing does not count as another type. */
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
