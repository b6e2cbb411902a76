import type { ApiKey } from '@beckon/contract/dashboard';

type Traffic = ApiKey['traffic'];

/** Of the last so many days, today among them. */
export function requestsIn(traffic: Traffic, days: number): number {
  return traffic.slice(-days).reduce((sum, { requests }) => sum + requests, 0);
}

export type TrafficRow = { day: string } & Record<string, string | number>;

/** A row a day, with a column for each key by its id. */
export function rowsOf(keys: ApiKey[]): TrafficRow[] {
  const days = keys[0]?.traffic.map(({ day }) => day) ?? [];
  return days.map((day, index) => ({
    day,
    ...Object.fromEntries(keys.map(({ id, traffic }) => [id, traffic[index]?.requests ?? 0])),
  }));
}

/** Active keys that nothing comes by: they can go. */
export function unusedKeys(keys: ApiKey[]): ApiKey[] {
  return keys.filter(({ traffic }) => requestsIn(traffic, traffic.length) === 0);
}
