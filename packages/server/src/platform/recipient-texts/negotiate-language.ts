import { isLanguage, type Language, languageOfLocale } from './languages.ts';

/** Facts about the reader of a page. Each entry may be missing. */
export type LanguageHints = {
  /** The language that the reader selected on the page. */
  chosen?: unknown;
  /** The locale of the user whom the email was sent to. */
  userLocale?: string | null | undefined;
  /** The header `Accept-Language`. */
  accepted?: string | undefined;
  /** The locale of the project. */
  projectLocale?: string | undefined;
};

/**
 * Returns the language of a page for recipients. The user's own locale precedes the browser's languages, so that the page has the language
 * of the email that linked to it.
 */
export function negotiateLanguage({ chosen, userLocale, accepted, projectLocale }: LanguageHints): Language {
  if (isLanguage(chosen)) return chosen;
  return (
    (userLocale ? languageOfLocale(userLocale) : null) ??
    acceptedLanguage(accepted ?? '') ??
    (projectLocale === undefined ? null : languageOfLocale(projectLocale)) ??
    'en'
  );
}

/** Browsers send fewer than ten. */
const ACCEPTED_MAX = 20;
const ACCEPTED = /^\s*([a-z]{2,3})(?:-[a-z0-9-]{1,32})?\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?$/i;

function acceptedLanguage(header: string): Language | undefined {
  return header
    .split(',', ACCEPTED_MAX)
    .map(readAccepted)
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality)
    .map(({ language }) => language)
    .find(isLanguage);
}

/** The language and weight of an entry such as `pt-BR;q=0.8`. A malformed entry has the weight 0. */
function readAccepted(text: string): { language: string; quality: number } {
  const [, language = '', quality = '1'] = ACCEPTED.exec(text) ?? [];
  return { language: language.toLowerCase(), quality: language === '' ? 0 : Number(quality) };
}
