import type { ApiKey } from '@beckon/contract/dashboard';

type Traffic = ApiKey['traffic'];

/** The number of days, including today. */
export function requestsIn(traffic: Traffic, days: number): number {
  return traffic.slice(-days).reduce((sum, { requests }) => sum + requests, 0);
}

export type TrafficRow = { day: string } & Record<string, string | number>;

/** One row per day, with a column per key id. */
export function rowsOf(keys: ApiKey[]): TrafficRow[] {
  const days = keys[0]?.traffic.map(({ day }) => day) ?? [];
  return days.map((day, index) => ({
    day,
    ...Object.fromEntries(keys.map(({ id, traffic }) => [id, traffic[index]?.requests ?? 0])),
  }));
}

const TRAFFIC_MS = 14 * 86_400_000;

/** Active keys without requests in 14 days, which can be revoked. Keys created within that time may be in use soon. */
export function unusedKeys(keys: ApiKey[], now: number): ApiKey[] {
  return keys.filter(
    ({ created_at, traffic }) =>
      Date.parse(created_at) <= now - TRAFFIC_MS && requestsIn(traffic, traffic.length) === 0,
  );
}

/** The keys with the most requests, in the order of their creation: a key keeps its color while the numbers change. */
export function busiestKeys(keys: ApiKey[], max: number): ApiKey[] {
  return keys
    .toSorted((key, other) => requestsIn(other.traffic, 14) - requestsIn(key.traffic, 14))
    .slice(0, max)
    .toSorted((key, other) => Date.parse(key.created_at) - Date.parse(other.created_at));
}
