import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import type { SettingField } from '../../parts/policy-fields.tsx';

/** The locales that the footer of emails is translated for, with the variants in which dates and numbers differ most. */
const LOCALES = 'en en-GB en-IN de de-AT de-CH fr fr-CA fr-CH es es-MX nl pt pt-PT it ja ar ar-EG'.split(' ');
const NAMES = new Intl.DisplayNames('en', { type: 'language', languageDisplay: 'standard' });

/** The language of emails to users without a locale of their own. */
export function LanguageField({ text, onText, fault, disabled = false }: SettingField): ReactNode {
  // The command line accepts every locale, so the stored one may be missing in the list.
  const locales = LOCALES.includes(text) ? LOCALES : [text, ...LOCALES];
  return (
    <NativeSelect
      label="Language"
      description="The language of the footer, dates and numbers of emails. The trait “locale” of a user takes precedence."
      maw={320}
      data={locales.map((locale) => ({ value: locale, label: localeLabel(locale) }))}
      value={text}
      disabled={disabled}
      error={fault}
      onChange={(event) => onText(event.currentTarget.value)}
    />
  );
}

export function localeLabel(locale: string): string {
  return `${NAMES.of(locale) ?? locale} (${locale})`;
}
