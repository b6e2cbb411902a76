import { type Language, LANGUAGES } from './words/index.ts';

/** In which language somebody reads: the one that they chose on the page, else the first of their browser's that we have. */
export function languageOf({
  chosen,
  accepted,
}: {
  chosen: unknown;
  accepted: string | undefined;
}): Language {
  if (isLanguage(chosen)) return chosen;
  const wishes = (accepted ?? '')
    .split(',', WISHES_MAX)
    .map(readWish)
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  return wishes.map(({ language }) => language).find(isLanguage) ?? FALLBACK;
}

export function isLanguage(text: unknown): text is Language {
  return typeof text === 'string' && Object.hasOwn(LANGUAGES, text);
}

const FALLBACK: Language = 'en';
/** Browsers send a handful. */
const WISHES_MAX = 20;
const WISH = /^\s*([a-z]{2,3})(?:-[a-z0-9-]{1,32})?\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?$/i;

/** Of `pt-BR;q=0.8` the language and how much it is wanted; where there is no sense in it, not at all. */
function readWish(text: string): { language: string; quality: number } {
  const [, language = '', quality = '1'] = WISH.exec(text) ?? [];
  return { language: language.toLowerCase(), quality: language === '' ? 0 : Number(quality) };
}
