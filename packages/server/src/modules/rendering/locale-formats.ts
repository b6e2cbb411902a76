import { recentMap } from '../../platform/async/recent-map.ts';

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
