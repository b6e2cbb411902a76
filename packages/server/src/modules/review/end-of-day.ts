/** Returns the next midnight in the time zone. */
export function endOfDay(now: number, timeZone: string): number {
  const here = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone);
  return here.add({ days: 1 }).startOfDay().epochMilliseconds;
}
