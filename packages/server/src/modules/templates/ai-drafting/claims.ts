/**
 * Phrases that only the author of an email may use: promises, prices, law, pressure, and relative times, which are different when the email
 * is read. A model may use them if the author did.
 */
const CLAIMS = [
  /\bdiscount\w*/gi,
  /\brefund\w*/gi,
  /\bguarant\w*/gi,
  /\bwarrant\w*/gi,
  /\bpromis\w*/gi,
  /\bassur(?:e|es|ed|ance\w*)\b/gi,
  /\blegal\w*|\blaw(?:s|suit|suits|yer|yers|ful)?\b|\bsue[ds]?\b|\bcourts?\b|\bliab\w*/gi,
  /\bcompensat\w*|\breimburs\w*|\bmoney[\s-]back\b|\bcash\w*/gi,
  /\bcoupons?\b|\bvouchers?\b|\bpromo\w*|\bgift\w*|\bbonus\w*|\brewards?\b|\bprize\w*|\bwinner\w*/gi,
  /\b(?:special|limited|exclusive)\s+offers?\b|\bdeals?\b|\bbargain\w*|\bsale\b/gi,
  /\bfree\s+(?:of\s+charge|trial|month\w*|year\w*|week\w*|upgrade\w*|plan\w*|forever|access|account\w*)\b|\bfor\s+free\b|\bcomplimentary\b|\bno\s+(?:cost|charge)\b/gi,
  /\bpric\w*|\bcheap\w*|\bcosts?\b|\bfees?\b|\bsav(?:e|ings)\b|\binvoic\w*|\bbill(?:s|ed|ing)?\b|\bcharg(?:e|es|ed)\b|\bpay(?:s|ment|ments|ing)?\b|\bpaid\b/gi,
  /\bunlimited\b|\blifetime\b|\brisk[\s-]free\b|\bforever\b/gi,
  /\burgent\w*|\bimmediately\b|\bact\s+now\b|\bhurry\b|\blast\s+chance\b|\bfinal\s+(?:notice|warning|reminder)\b/gi,
  /\bsuspend\w*|\bterminat\w*|\bdelet\w*|\bdeactivat\w*|\bblock(?:ed|ing)?\b|\block(?:ed|ing)?\s+out\b/gi,
  /\bpasswords?\b|\bpasscodes?\b|\bpin\b|\bcredit\s+cards?\b|\bcredits?\b|\bcredentials?\b|\bbank\w*|\bssn\b|\bverify\b/gi,
  /\btoday\b|\btomorrow\b|\byesterday\b|\btonight\b|\bthis\s+(?:week|month|morning|afternoon|evening|weekend)\b|\b(?:next|last)\s+(?:week|month|year)\b/gi,
  /\bunsubscribe\w*|\bopt[\s-]out\b/gi,
  /\b(?:hiv|cancer|pregnan\w*|diagnos\w*|medical\w*|religio\w*|politic\w*)\b/gi,
  /\bas\s+an?\s+(?:ai|language\s+model|assistant)\b|\bsystem\s+prompt\b|\binstructions?\b/gi,
];

/** Returns the claims in lower case, each once, without those that the author makes too. */
export function claimsIn(text: string, authorText: string): string[] {
  const found = CLAIMS.flatMap((claim) => text.toLowerCase().match(claim) ?? []);
  return [...new Set(found)].filter((claim) => !authorText.includes(claim));
}

const SPELT: Record<string, number> = {
  half: 50,
  double: 2,
  twice: 2,
  triple: 3,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
  thirteen: 13,
  fourteen: 14,
  fifteen: 15,
  sixteen: 16,
  seventeen: 17,
  eighteen: 18,
  nineteen: 19,
  twenty: 20,
  thirty: 30,
  forty: 40,
  fifty: 50,
  sixty: 60,
  seventy: 70,
  eighty: 80,
  ninety: 90,
  hundred: 100,
  thousand: 1_000,
  million: 1_000_000,
  dozen: 12,
};
/** Words that name an amount on their own, whatever number precedes them. */
const UNITS = /\b(?:percent|per\s+cent|dollars?|euros?|pounds?|usd|eur|gbp|cents?|rupees?|yen)\b/gi;

/** Returns amounts in words. A unit without a number has the value NaN. */
export function quantitiesIn(text: string): { word: string; value: number }[] {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const numbers = words.flatMap((word) => {
    const value = Object.hasOwn(SPELT, word) ? SPELT[word] : undefined;
    return value === undefined ? [] : [{ word, value }];
  });
  const units = (text.match(UNITS) ?? []).map((word) => ({ word: word.toLowerCase(), value: Number.NaN }));
  return [...numbers, ...units];
}

/** A day in a text, as a reader would understand it. */
export type DayMention = { weekday: string | null; day: number; month: string; year: number | null };

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

export function daysIn(text: string): DayMention[] {
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

function toDay({ weekday, day, month, year }: Found): DayMention {
  return {
    weekday: weekday?.toLowerCase() ?? null,
    day: Number(day),
    month: (month ?? '').toLowerCase().slice(0, 3),
    year: year === undefined ? null : Number(year),
  };
}

/** Returns whether the known day confirms everything that the text says about a day. */
export function confirmsDay(fact: DayMention, mention: DayMention): boolean {
  return (
    fact.day === mention.day &&
    fact.month === mention.month &&
    (mention.weekday === null || mention.weekday === fact.weekday) &&
    (mention.year === null || mention.year === fact.year)
  );
}

const CALENDAR = new RegExp(`^(?:${WEEKDAYS}|${MONTHS.replace('|may|', '|').replace('|march|', '|')})$`, 'i');

export function isOfCalendar(word: string): boolean {
  return CALENDAR.test(word);
}
