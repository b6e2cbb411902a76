import { describe, expect, test } from 'vitest';
import { localeLabel } from './language-field.tsx';

describe('localeLabel', () => {
  test('names a locale in English, with its tag', () => {
    expect([localeLabel('de'), localeLabel('pt-PT')]).toEqual([
      'German (de)',
      'Portuguese (Portugal) (pt-PT)',
    ]);
  });
});
