import { recentMap } from '../async/recent-map.ts';

/** The trait that names a user's locale. */
export const LOCALE_TRAIT = 'locale';

/** Longer than any locale in use. */
const TAG_MAX = 35;
/** An invalid value is shown up to this length. */
const EXCERPT_MAX = 64;
/** About 1,000 locales are in use. The bound limits the memory that invented ones can take. */
const CACHE_MAX = 4_096;

const localeCache = recentMap<{ locale: string | null }>(CACHE_MAX);

/**
 * Returns the candidate if it is a locale, otherwise the fallback. `invalid` is the candidate as text if it is present and not a locale, so
 * that the caller can show a warning. Missing and empty candidates are not invalid.
 */
export function localeOf(candidate: unknown, fallback: string): { locale: string; invalid: string | null } {
  if (candidate === undefined || candidate === null || candidate === '')
    return { locale: fallback, invalid: null };
  const locale = namedLocale(candidate);
  return locale === null ? { locale: fallback, invalid: shorten(candidate) } : { locale, invalid: null };
}

/** Returns the locale that a value names; null if it is not a locale. */
export function namedLocale(candidate: unknown): string | null {
  return typeof candidate === 'string' ? findLocale(candidate) : null;
}

/**
 * Returns the canonical form of a BCP 47 language tag; `de_DE` is accepted too. Null if the tag is malformed, or if the ICU data of Node.js
 * does not contain its language. Extensions such as `-u-nu-latn` are dropped, and so are variants, because a tag may name any number of
 * them.
 */
export function findLocale(text: string): string | null {
  if (text.length > TAG_MAX) return null;
  const before = localeCache.get(text);
  if (before) return before.locale;
  const locale = readLocale(text.replaceAll('_', '-'));
  localeCache.set(text, { locale });
  return locale;
}

function readLocale(tag: string): string | null {
  try {
    const { language, script, region } = new Intl.Locale(tag);
    const locale = [language, script, region].filter((part) => part !== undefined).join('-');
    return Intl.DateTimeFormat.supportedLocalesOf(locale).length > 0 ? locale : null;
  } catch {
    return null;
  }
}

/** The scripts of living languages that are written from right to left. */
const RTL_SCRIPTS = new Set(['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Samr', 'Syrc', 'Thaa']);

/** Finding the script takes 5 µs, a sixth of what rendering an email takes. */
const directions = recentMap<'ltr' | 'rtl'>(CACHE_MAX);

export function directionOf(locale: string): 'ltr' | 'rtl' {
  let direction = directions.get(locale);
  if (direction === undefined) {
    direction = RTL_SCRIPTS.has(new Intl.Locale(locale).maximize().script ?? '') ? 'rtl' : 'ltr';
    directions.set(locale, direction);
  }
  return direction;
}

function shorten(candidate: unknown): string {
  const text = typeof candidate === 'string' ? candidate : JSON.stringify(candidate);
  return text.length > EXCERPT_MAX ? `${text.slice(0, EXCERPT_MAX)}…` : text;
}
