import { parseInstant } from '../../base/instant.ts';

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const DATE = /^\d{4}-\d\d-\d\d$/;
/** A number below it would be a moment of 1973 in milliseconds, so it is taken for seconds. */
const SECONDS_BELOW = 100_000_000_000;
const DEFAULT_FORMAT = '%A, %-d %B';

/**
 * The day in words, such as `Friday, 5 June`, or as `format` has it. A date without a time is that day everywhere, so it
 * asks for no zone. Undefined for what is no date.
 */
export function dateInWords(value: unknown, format: unknown, zone: () => string): string | undefined {
  const ms = momentOf(value);
  if (Number.isNaN(ms)) return undefined;
  const moment = Temporal.Instant.fromEpochMilliseconds(ms);
  const local = moment.toZonedDateTimeISO(typeof value === 'string' && DATE.test(value) ? 'UTC' : zone());
  return (typeof format === 'string' ? format : DEFAULT_FORMAT).replace(/%-?[A-Za-z%]/g, (code) =>
    written(local, code),
  );
}

function momentOf(value: unknown): number {
  if (typeof value === 'string') return parseInstant(value);
  if (typeof value !== 'number') return Number.NaN;
  const ms = Math.trunc(Math.abs(value) < SECONDS_BELOW ? value * 1_000 : value);
  // What no calendar reaches is no moment either.
  return Math.abs(ms) <= 8_640_000_000_000_000 ? ms : Number.NaN;
}

type Local = Temporal.ZonedDateTime;

/** As `strftime` has them in English; those that a letter may need. */
const CODES: Record<string, (at: Local) => string> = {
  A: (at) => WEEKDAYS[at.dayOfWeek - 1] ?? '',
  a: (at) => (WEEKDAYS[at.dayOfWeek - 1] ?? '').slice(0, 3),
  B: (at) => MONTHS[at.month - 1] ?? '',
  b: (at) => (MONTHS[at.month - 1] ?? '').slice(0, 3),
  d: (at) => String(at.day).padStart(2, '0'),
  e: (at) => String(at.day),
  H: (at) => String(at.hour).padStart(2, '0'),
  I: (at) => String(at.hour % 12 || 12).padStart(2, '0'),
  M: (at) => String(at.minute).padStart(2, '0'),
  m: (at) => String(at.month).padStart(2, '0'),
  p: (at) => (at.hour < 12 ? 'AM' : 'PM'),
  Y: (at) => String(at.year),
  y: (at) => String(at.year % 100).padStart(2, '0'),
  Z: (at) => at.timeZoneId,
  '%': () => '%',
};

function written(at: Local, code: string): string {
  const letter = code.slice(-1);
  const text = Object.hasOwn(CODES, letter) ? CODES[letter]?.(at) : undefined;
  if (text === undefined) return code;
  return code.startsWith('%-') ? text.replace(/^0+(?=\d)/, '') : text;
}
