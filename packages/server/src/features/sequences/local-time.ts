/**
 * The next moment, this one included, at which it is so late in a zone on one of these days of the week (Monday is 1; none:
 * on any). A time that the clocks leave out comes as much later as they are put forward; one that they show twice means the
 * second. A date that a zone never had is passed over.
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

/** This day's time may be over, and the same day of the next week one that the zone never had. */
const DAYS_AHEAD_MAX = 15;
