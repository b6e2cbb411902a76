/** A day in a text, as a reader would understand it. */
export type ToldDay = { weekday: string | null; day: number; month: string; year: number | null };

const WEEKDAYS = 'monday|tuesday|wednesday|thursday|friday|saturday|sunday';
const MONTHS =
  'january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec';
const BEFORE = `(?:\\b(${WEEKDAYS}),?\\s+)?(?:the\\s+)?`;
const YEAR = `(?:,?\\s+(\\d{4}))?`;
const DAY = `(\\d{1,2})(?:st|nd|rd|th)?`;
const DAY_FIRST = new RegExp(`${BEFORE}\\b${DAY}\\s+(?:of\\s+)?(${MONTHS})\\b\\.?${YEAR}`, 'gi');
const MONTH_FIRST = new RegExp(`${BEFORE}\\b(${MONTHS})\\b\\.?\\s+(?:the\\s+)?${DAY}\\b${YEAR}`, 'gi');
/** Days in digits are ambiguous: it is unknown which number is the month. */
const IN_FIGURES = /\b\d{1,4}[/.-]\d{1,2}(?:[/.-]\d{1,4})\b|\b\d{1,2}\/\d{1,2}\b/g;

export function daysIn(text: string): ToldDay[] {
  const dayFirst = [...text.matchAll(DAY_FIRST)].map(([, weekday, day, month, year]) =>
    toDay({ weekday, day, month, year }),
  );
  const monthFirst = [...text.matchAll(MONTH_FIRST)].map(([, weekday, month, day, year]) =>
    toDay({ weekday, day, month, year }),
  );
  return [...dayFirst, ...monthFirst];
}

/** Returns days that are written in digits only, as they are written. */
export function figuresIn(text: string): string[] {
  return text.match(IN_FIGURES) ?? [];
}

type Found = Record<'weekday' | 'day' | 'month' | 'year', string | undefined>;

function toDay({ weekday, day, month, year }: Found): ToldDay {
  return {
    weekday: weekday?.toLowerCase() ?? null,
    day: Number(day),
    month: (month ?? '').toLowerCase().slice(0, 3),
    year: year === undefined ? null : Number(year),
  };
}

/** Returns whether the known day confirms everything that the text says about a day. */
export function bearsOut(known: ToldDay, told: ToldDay): boolean {
  return (
    known.day === told.day &&
    known.month === told.month &&
    (told.weekday === null || told.weekday === known.weekday) &&
    (told.year === null || told.year === known.year)
  );
}

const CALENDAR = new RegExp(`^(?:${WEEKDAYS}|${MONTHS.replace('|may|', '|').replace('|march|', '|')})$`, 'i');

export function isOfCalendar(word: string): boolean {
  return CALENDAR.test(word);
}
