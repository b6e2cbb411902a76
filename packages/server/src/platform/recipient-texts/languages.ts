import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import { nl } from './nl.ts';
import { pt } from './pt.ts';

/** To add a language, add a file and an entry here. */
export const LANGUAGES = { en, de, fr, es, nl, pt, it, ja, ar };
export type Language = keyof typeof LANGUAGES;

export function isLanguage(text: unknown): text is Language {
  return typeof text === 'string' && Object.hasOwn(LANGUAGES, text);
}

/** The language of a locale such as `de-AT`, if there are texts in it. */
export function languageOfLocale(locale: string): Language | null {
  const [language = ''] = locale.split('-', 1);
  return isLanguage(language) ? language : null;
}
