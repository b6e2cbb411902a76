import { describe, expect, test } from 'vitest';
import { fillText } from './recipient-texts.ts';
import { languageOfLocale, LANGUAGES } from './languages.ts';
import { negotiateLanguage } from './negotiate-language.ts';

describe('recipient texts', () => {
  test.each(Object.entries(LANGUAGES))('are complete in %s, with the placeholders of English', (_, texts) => {
    const shape = (value: object): [string, string[]][] =>
      Object.entries(value).map(([key, text]) => [
        key,
        String(text)
          .match(/\{\w+\}/g)
          ?.toSorted() ?? [],
      ]);
    expect(shape(texts)).toEqual(shape(LANGUAGES.en));
    expect(Object.values(texts).filter((text) => text.trim() === '')).toEqual([]);
  });

  test('are translated, so that none equals the English text', () => {
    const english = Object.entries(LANGUAGES.en).filter(([key]) => key !== 'dir');
    for (const [language, texts] of Object.entries(LANGUAGES).filter(([name]) => name !== 'en')) {
      const translations = new Map(Object.entries(texts));
      expect([language, english.filter(([key, text]) => translations.get(key) === text)]).toEqual([
        language,
        [],
      ]);
    }
  });
});

describe('fillText', () => {
  test('fills each placeholder, and inserts a value with `$` literally', () => {
    expect(fillText('{a} and {a}, {b}.', { a: '$&' })).toBe('$& and $&, .');
  });
});

describe('languageOfLocale', () => {
  test.each([
    ['de-AT', 'de'],
    ['zh-Hans-CN', null],
    ['__proto__', null],
  ])('returns for %s the language %s', (locale, language) => {
    expect(languageOfLocale(locale)).toBe(language);
  });
});

describe('negotiateLanguage', () => {
  const hints = { chosen: 'ja', userLocale: 'de-AT', accepted: 'fr-CH, es;q=0.5', projectLocale: 'it' };

  test('takes the selected language, then the user locale, the browser, the project, and English', () => {
    expect(negotiateLanguage(hints)).toBe('ja');
    expect(negotiateLanguage({ ...hints, chosen: 'xx' })).toBe('de');
    expect(negotiateLanguage({ ...hints, chosen: undefined, userLocale: 'pl' })).toBe('fr');
    expect(negotiateLanguage({ userLocale: null, accepted: 'pl', projectLocale: 'it' })).toBe('it');
    expect(negotiateLanguage({ projectLocale: 'pl' })).toBe('en');
  });
});
