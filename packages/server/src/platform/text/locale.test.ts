import { describe, expect, test } from 'vitest';
import { directionOf, findLocale, localeOf, namedLocale } from './locale.ts';

describe('localeOf', () => {
  test.each([
    ['de', 'de'],
    ['de-AT', 'de-AT'],
    ['de_DE', 'de-DE'],
    ['PT-br', 'pt-BR'],
    ['zh_Hans_CN', 'zh-Hans-CN'],
    ['iw', 'he'],
    ['ar-u-nu-latn', 'ar'],
  ])('reads %s as %s', (candidate, locale) => {
    expect(localeOf(candidate, 'en')).toEqual({ locale, invalid: null });
  });

  test.each([
    ['xx', 'xx'],
    ['xx-DE', 'xx-DE'],
    ['German', 'German'],
    ['de-', 'de-'],
    ['en_US.UTF-8', 'en_US.UTF-8'],
    ['__proto__', '__proto__'],
    [7, '7'],
    [['de'], '["de"]'],
    ['x'.repeat(100), `${'x'.repeat(64)}…`],
  ])('falls back for %j, and names it as invalid', (candidate, invalid) => {
    expect(localeOf(candidate, 'fr')).toEqual({ locale: 'fr', invalid });
  });

  test.each([undefined, null, ''])('falls back for %j without a warning', (candidate) => {
    expect(localeOf(candidate, 'fr')).toEqual({ locale: 'fr', invalid: null });
  });
});

describe('findLocale', () => {
  test('returns the same result for a value that it has seen', () => {
    expect([findLocale('fr_CA'), findLocale('fr_CA')]).toEqual(['fr-CA', 'fr-CA']);
    expect([findLocale('yy'), findLocale('yy')]).toEqual([null, null]);
  });
});

describe('namedLocale', () => {
  test('is null for a value that is not text', () => {
    expect([namedLocale('de'), namedLocale(7), namedLocale(undefined)]).toEqual(['de', null, null]);
  });
});

describe('directionOf', () => {
  test('follows the script of the locale', () => {
    expect(['ar-EG', 'he', 'fa', 'az-Arab', 'az', 'ja', 'de'].map(directionOf)).toEqual([
      'rtl',
      'rtl',
      'rtl',
      'rtl',
      'ltr',
      'ltr',
      'ltr',
    ]);
  });
});
