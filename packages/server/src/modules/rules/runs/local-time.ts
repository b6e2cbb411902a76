/**
 * Returns the next occurrence of a local time on one of these weekdays (Monday is 1; none: any day). Now counts. A time that a clock change
 * skips occurs later by that change, and a time that occurs twice means its second occurrence. A date that a zone never had is skipped.
 */
export function nextLocalMoment(
  { weekdays, at }: { weekdays: number[]; at: string },
  { now, zone }: { now: number; zone: string },
): number {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).toPlainDate();
  const time = Temporal.PlainTime.from(at);
  for (let days = -1; days <= DAYS_AHEAD_MAX; days += 1) {
    const moment = today
      .add({ days })
      .toPlainDateTime(time)
      .toZonedDateTime(zone, { disambiguation: 'later' });
    const isWanted = weekdays.length === 0 || weekdays.includes(moment.dayOfWeek);
    if (isWanted && moment.epochMilliseconds >= now) return moment.epochMilliseconds;
  }
  throw new RangeError(`no day of the week matches ${weekdays.join(', ')}`);
}

/** Today's time may have passed, and the same weekday of the next week may be a date that the zone never had. */
const DAYS_AHEAD_MAX = 15;
