import type { FieldError, RelayAdapter, RelayField, RelaySettings, SmtpAddress } from './adapter.ts';
import type { RelayKindInfo } from './kind-info.ts';
import { SMTP_KIND } from './smtp.ts';

/** The provider that reports the outcomes of a relay, and the settings for it. */
export type Reporter = {
  adapter: RelayAdapter;
  settings: RelaySettings;
  /** The labels of the settings that requests to its API need, and that are missing. Webhooks work without them. */
  apiNeeds: string[];
};

export function reporterWith(adapter: RelayAdapter, settings: RelaySettings): Reporter {
  const apiNeeds = adapter.fields
    .filter(({ name, isOptional, values }) => !isOptional && !values && settings[name] === undefined)
    .map(({ label }) => label);
  return { adapter, settings, apiNeeds };
}

/** Returns the provider of an SMTP server with what its address says. */
export function smtpReporter(adapter: RelayAdapter, address: SmtpAddress, settings: RelaySettings): Reporter {
  return reporterWith(adapter, { ...impliedBy(adapter, address), ...settings });
}

function impliedBy({ smtp }: RelayAdapter, address: SmtpAddress): RelaySettings {
  return smtp?.settingsOf(address) ?? {};
}

/** Returns the fields for the feedback of a provider whose emails are sent by SMTP. All are optional: a webhook needs no API. */
function feedbackFields(adapter: RelayAdapter, address: SmtpAddress): RelayField[] {
  const implied = impliedBy(adapter, address);
  return adapter.fields
    .filter(({ name }) => implied[name] === undefined)
    .map((field) => ({ ...field, isOptional: true }));
}

/** The kind of an SMTP relay whose host belongs to a provider. */
export function smtpKindOf(adapter: RelayAdapter, address: SmtpAddress): RelayKindInfo {
  return {
    ...SMTP_KIND,
    title: `${adapter.title} by SMTP`,
    fields: [...SMTP_KIND.fields, ...feedbackFields(adapter, address)],
    checkSettings: (settings) => [
      ...(SMTP_KIND.checkSettings?.(settings) ?? []),
      ...checkFeedback(adapter, address, settings),
    ],
  };
}

/** The feedback of the relay of `SMTP_URL`. The provider is stored, because another `SMTP_URL` may name another one. */
export function smtpUrlKindOf(adapter: RelayAdapter, address: SmtpAddress): RelayKindInfo {
  return {
    kind: 'smtp_url',
    title: `${adapter.title} by SMTP_URL`,
    smtpHost: null,
    fields: [
      { name: PROVIDER, label: 'Provider', isSecret: false, values: [adapter.kind] },
      ...feedbackFields(adapter, address),
    ],
    checkSettings: (settings) => checkFeedback(adapter, address, settings),
  };
}

export const PROVIDER = 'provider';

/** Checks the values that were entered. The provider would require more of them to send emails. */
function checkFeedback(adapter: RelayAdapter, address: SmtpAddress, settings: RelaySettings): FieldError[] {
  const errors = adapter.checkSettings?.({ ...impliedBy(adapter, address), ...settings }) ?? [];
  return errors.filter(({ field }) => settings[field] !== undefined);
}
