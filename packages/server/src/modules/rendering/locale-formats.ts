import { recentMap } from '../../platform/async/recent-map.ts';
import { parseInstant } from '../../platform/time/time-text.ts';

const DATE = /^\d{4}-\d\d-\d\d$/;
/** As milliseconds, a smaller number would be a time before 1973, so it is read as seconds. */
const SECONDS_BELOW = 100_000_000_000;
/** One day less than the range of dates in JavaScript, so that the local time of every zone is within it. */
const MOMENT_MAX = 8_640_000_000_000_000 - 86_400_000;

/**
 * Formats a date for people, such as `Friday, June 5`, or in the given `strftime` format. A date without a time is the same day in every
 * zone, so it does not read the zone. Returns undefined if the value is not a date.
 */
export function formatDate(
  value: unknown,
  format: unknown,
  { formats, zone }: { formats: () => LocaleFormats; zone: () => string },
): string | undefined {
  const ms = momentOf(value);
  if (Number.isNaN(ms)) return undefined;
  const moment = Temporal.Instant.fromEpochMilliseconds(ms);
  const at = moment.toZonedDateTimeISO(typeof value === 'string' && DATE.test(value) ? 'UTC' : zone());
  if (typeof format !== 'string') return formats().day(wallTime(at));
  // A code has the same text at each of its places, and a name takes some microseconds.
  const texts = new Map<string, string>();
  return format.replace(/%-?[A-Za-z%]/g, (code) => {
    const text = texts.get(code) ?? formatCode(at, code, formats);
    texts.set(code, text);
    return text;
  });
}

function momentOf(value: unknown): number {
  if (typeof value === 'string') return parseInstant(value);
  if (typeof value !== 'number') return Number.NaN;
  const ms = Math.trunc(Math.abs(value) < SECONDS_BELOW ? value * 1_000 : value);
  return Math.abs(ms) <= MOMENT_MAX ? ms : Number.NaN;
}

type Local = Temporal.ZonedDateTime;

/** Returns the local time as if it were UTC, so that the formatters of a locale work for all time zones. */
function wallTime(at: Local): number {
  return at.epochMilliseconds + at.offsetNanoseconds / 1_000_000;
}

/** Numeric codes of `strftime`, which are the same in every locale. */
const NUMBERS: Record<string, (at: Local) => string> = {
  d: (at) => String(at.day).padStart(2, '0'),
  e: (at) => String(at.day),
  H: (at) => String(at.hour).padStart(2, '0'),
  I: (at) => String(at.hour % 12 || 12).padStart(2, '0'),
  M: (at) => String(at.minute).padStart(2, '0'),
  m: (at) => String(at.month).padStart(2, '0'),
  Y: (at) => String(at.year),
  y: (at) => String(at.year % 100).padStart(2, '0'),
  Z: (at) => at.timeZoneId,
  '%': () => '%',
};

/** Name codes of `strftime`, which depend on the locale. */
const NAMES: Record<string, (formats: LocaleFormats, at: number) => string> = {
  A: (formats, at) => formats.weekday(at, 'long'),
  a: (formats, at) => formats.weekday(at, 'short'),
  B: (formats, at) => formats.month(at, 'long'),
  b: (formats, at) => formats.month(at, 'short'),
  p: (formats, at) => formats.dayPeriod(at),
};

function formatCode(at: Local, code: string, formats: () => LocaleFormats): string {
  const directive = code.slice(-1);
  const name = Object.hasOwn(NAMES, directive) ? NAMES[directive] : undefined;
  if (name !== undefined) return name(formats(), wallTime(at));
  const text = Object.hasOwn(NUMBERS, directive) ? NUMBERS[directive]?.(at) : undefined;
  if (text === undefined) return code;
  return code.startsWith('%-') ? text.replace(/^0+(?=\d)/, '') : text;
}

/** The Gregorian calendar and Latin digits, because the digits of a `strftime` format are those too. */
const STRFTIME = { calendar: 'gregory', numberingSystem: 'latn', timeZone: 'UTC' } as const;

/** A formatter takes about 0.3 ms and 26 kB, so each is created on first use and then kept. */
class LocaleFormats {
  readonly #locale: string;
  #day: Intl.DateTimeFormat | undefined;
  #number: Intl.NumberFormat | undefined;
  #dayPeriod: Intl.DateTimeFormat | undefined;
  readonly #weekdays = new Map<string, Intl.DateTimeFormat>();
  readonly #months = new Map<string, Intl.DateTimeFormat[]>();

  constructor(locale: string) {
    this.#locale = locale;
  }

  /** Formats the default of the filter `date`, such as `Friday, June 5`. `at` is the local time, written as if it were UTC. */
  day(at: number): string {
    this.#day ??= this.#formatter({ weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' });
    return this.#day.format(at);
  }

  number(value: number): string {
    this.#number ??= new Intl.NumberFormat(this.#locale, { maximumFractionDigits: 2 });
    return this.#number.format(value);
  }

  weekday(at: number, width: 'long' | 'short'): string {
    let format = this.#weekdays.get(width);
    if (format === undefined) {
      format = this.#formatter({ ...STRFTIME, weekday: width });
      this.#weekdays.set(width, format);
    }
    return format.format(at);
  }

  /** Returns the form used next to a day. Some languages inflect it, such as Polish: `5 czerwca`, not `5 czerwiec`. */
  month(at: number, width: 'long' | 'short'): string {
    let formats = this.#months.get(width);
    if (formats === undefined) {
      formats = [
        this.#formatter({ ...STRFTIME, month: width, day: 'numeric' }),
        this.#formatter({ ...STRFTIME, month: width }),
      ];
      this.#months.set(width, formats);
    }
    const [withDay, alone] = formats;
    const name = withDay?.formatToParts(at).find(({ type }) => type === 'month')?.value ?? '';
    // In Japanese, Chinese and Korean that part is a plain number.
    return /\p{L}/u.test(name) ? name : (alone?.format(at) ?? name);
  }

  /** Returns AM or PM. */
  dayPeriod(at: number): string {
    this.#dayPeriod ??= this.#formatter({ ...STRFTIME, hour: 'numeric', hour12: true });
    return this.#dayPeriod.formatToParts(at).find(({ type }) => type === 'dayPeriod')?.value ?? '';
  }

  #formatter(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
    return new Intl.DateTimeFormat(this.#locale, options);
  }
}

export type { LocaleFormats };

/** All formatters of one locale take up to 200 kB, so this bounds them to 20 MB. */
const LOCALES_MAX = 100;
const formats = recentMap<LocaleFormats>(LOCALES_MAX);

/** `onCreate`: called when the formatters of the locale are not cached, so that their creation can be counted. */
export function formatsOf(locale: string, onCreate: () => void = () => {}): LocaleFormats {
  let found = formats.get(locale);
  if (found === undefined) {
    onCreate();
    found = new LocaleFormats(locale);
    formats.set(locale, found);
  }
  return found;
}
