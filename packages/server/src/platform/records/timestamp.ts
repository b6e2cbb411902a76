/** RFC 3339 with `Z` or an offset. Temporal alone would also accept annotations, hours without minutes and a comma. */
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Returns milliseconds since the epoch, or NaN for anything but an RFC 3339 date-time with `Z` or an offset. */
export function parseTimestamp(text: string): number {
  if (!RFC_3339.test(text)) return Number.NaN;
  try {
    return Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    // A date or time that no calendar has, such as February 30 or hour 25, is not a time. The caller reports it.
    return Number.NaN;
  }
}
