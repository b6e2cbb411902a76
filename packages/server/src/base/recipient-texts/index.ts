export { isLanguage, type Language, languageOfLocale, LANGUAGES } from './languages.ts';
export { negotiateLanguage } from './negotiate-language.ts';
export { fillText, type RecipientTexts } from './recipient-texts.ts';
