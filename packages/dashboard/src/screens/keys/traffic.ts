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

/** Active keys without requests, which can be revoked. */
export function unusedKeys(keys: ApiKey[]): ApiKey[] {
  return keys.filter(({ traffic }) => requestsIn(traffic, traffic.length) === 0);
}
