/**
 * A date, or an RFC 3339 time with `Z` or an offset of less than 15 hours, which covers every time zone. The groups are year, month, day,
 * hour, minute, second, fraction, and the sign, hours and minutes of the offset.
 */
const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt](\d\d):(\d\d):([0-5]\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(0\d|1[0-4]):([0-5]\d)))?$/;

/**
 * Parses a moment in a trait: a date (its first moment in UTC) or an RFC 3339 time. Returns milliseconds since the epoch, and NaN for
 * anything else. `beckon.instant` accepts the same texts for the same moments. It runs for every uploaded user with a sign-up date, so it
 * does without Temporal, which takes several times as long.
 */
export function parseInstant(text: string): number {
  const parts = INSTANT.exec(text);
  if (!parts) return Number.NaN;
  const date = dateOf(Number(parts[1]), Number(parts[2]), Number(parts[3]));
  return parts[4] === undefined ? date : date + timeOf(parts) - offsetOf(parts);
}

/** A date that no calendar has, such as February 30, is not a moment. The caller reports it. */
function dateOf(year: number, month: number, day: number): number {
  if (year === 0 || day === 0 || day > daysIn(year, month)) return Number.NaN;
  const date = new Date(0);
  // Date.UTC would read the years 1 to 99 as years of the twentieth century.
  return date.setUTCFullYear(year, month - 1, day);
}

function timeOf([, , , , hour, minute, second, fraction]: string[]): number {
  if (Number(hour) > 23 || Number(minute) > 59) return Number.NaN;
  const ms = fraction === undefined ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'));
  return (Number(hour) * 60 + Number(minute)) * MINUTE_MS + Number(second) * 1_000 + ms;
}

function offsetOf(parts: string[]): number {
  if (parts[8] === undefined) return 0;
  const offset = (Number(parts[9]) * 60 + Number(parts[10])) * MINUTE_MS;
  return parts[8] === '-' ? -offset : offset;
}

const MINUTE_MS = 60_000;

/** Returns the number of days of a month, and 0 if there is no such month. */
function daysIn(year: number, month: number): number {
  if (month !== 2) return DAYS[month] ?? 0;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

const DAYS = [0, 31, 0, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The largest offsets that `parseInstant` accepts: some moments have a four-digit year only there. */
const OFFSETS = ['Z', '-14:59', '+14:59'] as const;

/** Returns a text that `parseInstant` parses to this moment. */
export function printInstant(ms: number): string {
  const instant = Temporal.Instant.fromEpochMilliseconds(ms);
  const texts = OFFSETS.map((offset) =>
    offset === 'Z' ? instant.toString() : instant.toString({ timeZone: offset }),
  );
  return texts.find((text) => parseInstant(text) === ms) ?? instant.toString();
}

const FIRST_MS = Date.parse('0000-12-31T00:00:00Z');
const LAST_MS = Date.parse('+010000-01-02T00:00:00Z');

/** Returns whether a row can store the moment: Date and PostgreSQL are bounded. All results of `parseInstant` are within the range. */
export function isStorableMoment(ms: unknown): ms is number {
  return Number.isSafeInteger(ms) && (ms as number) >= FIRST_MS && (ms as number) <= LAST_MS;
}

/**
 * Formats a moment for PostgreSQL, which accepts neither a year 0 nor signed years. An offset can move the first and the last accepted day
 * beyond both limits.
 */
export function timestampText(ms: number): string {
  const text = new Date(ms).toISOString();
  if (text.startsWith('+')) return text.slice(2);
  return text.startsWith('0000') ? `0001${text.slice(4)} BC` : text;
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNITS;
const DURATION = /^([1-9]\d{0,8})([smhd])$/;

export const DURATION_SYNTAX = 'a whole number and s, m, h or d, such as 90s, 15m, 2h or 7d';

/** Milliseconds of `90s`, `15m`, `2h`, `7d`; undefined for anything else, zero included. */
export function parseDuration(text: string): number | undefined {
  const parts = DURATION.exec(text);
  return parts ? Number(parts[1]) * UNITS[parts[2] as Unit] : undefined;
}

/** Returns the shortest equivalent form. One day stays `24h`, as people write a daily cap. */
export function printDuration(ms: number): string {
  if (ms % UNITS.d === 0 && ms >= 2 * UNITS.d) return `${ms / UNITS.d}d`;
  if (ms % UNITS.h === 0) return `${ms / UNITS.h}h`;
  return ms % UNITS.m === 0 ? `${ms / UNITS.m}m` : `${ms / UNITS.s}s`;
}
