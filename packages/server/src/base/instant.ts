const DATE = /^\d{4}-\d\d-\d\d$/;
/** RFC 3339 with `Z` or an offset of less than 15 hours, which is more than any place on earth has. */
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:0\d|1[0-4]):[0-5]\d)$/;

/**
 * A moment as people write it in a trait: a date (its first moment in UTC) or an RFC 3339 time, in milliseconds since the
 * epoch; NaN for anything else. `beckon.instant` takes the same texts for the same moments.
 */
export function parseInstant(text: string): number {
  if (text.startsWith('0000')) return Number.NaN;
  const full = DATE.test(text) ? `${text}T00:00:00Z` : text;
  if (!DATE_TIME.test(full)) return Number.NaN;
  try {
    return Temporal.Instant.from(full).epochMilliseconds;
  } catch {
    // The thirtieth of February: a shape that no calendar has is no moment, and the caller says so.
    return Number.NaN;
  }
}

/** The furthest offsets that `parseInstant` takes: some moments have a year of four digits only there. */
const OFFSETS = ['Z', '-14:59', '+14:59'] as const;

/** A text that `parseInstant` reads as this moment. */
export function printInstant(ms: number): string {
  const instant = Temporal.Instant.fromEpochMilliseconds(ms);
  const texts = OFFSETS.map((offset) =>
    offset === 'Z' ? instant.toString() : instant.toString({ timeZone: offset }),
  );
  return texts.find((text) => parseInstant(text) === ms) ?? instant.toString();
}

const FIRST_MS = Date.parse('0000-12-31T00:00:00Z');
const LAST_MS = Date.parse('+010000-01-02T00:00:00Z');

/** Whether a row can have it: all that `parseInstant` takes lies between, and neither a Date nor PostgreSQL goes on for ever. */
export function isStorableMoment(ms: unknown): ms is number {
  return Number.isSafeInteger(ms) && (ms as number) >= FIRST_MS && (ms as number) <= LAST_MS;
}

/** A moment as PostgreSQL reads it. It knows no year 0 and no signs: an offset can put the first and the last day that we take beyond both. */
export function timestampText(ms: number): string {
  const text = new Date(ms).toISOString();
  if (text.startsWith('+')) return text.slice(2);
  return text.startsWith('0000') ? `0001${text.slice(4)} BC` : text;
}
