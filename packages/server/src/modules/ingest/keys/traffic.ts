/** The requests of a day in UTC. */
export type DayOfTraffic = { day: string; requests: number };

/** The period that members check before they revoke a key. */
export const TRAFFIC_DAYS = 14;
const DAY_MS = 86_400_000;

export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Returns each of the last fourteen days, oldest first, including days without a request. */
export function filledDays(known: DayOfTraffic[], now: number): DayOfTraffic[] {
  const requests = new Map(known.map((one) => [one.day, one.requests]));
  return Array.from({ length: TRAFFIC_DAYS }, (_, index) => {
    const day = dayOf(now - (TRAFFIC_DAYS - 1 - index) * DAY_MS);
    return { day, requests: requests.get(day) ?? 0 };
  });
}
