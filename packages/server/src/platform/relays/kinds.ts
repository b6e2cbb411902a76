import type { RelayAdapter, RelayField, RelaySettings, SmtpAddress } from './adapter.ts';
import type { RelayKindInfo } from './kind-info.ts';
import { withoutSecrets } from './redact.ts';
import {
  PROVIDER,
  type Reporter,
  reporterWith,
  smtpKindOf,
  smtpReporter,
  smtpUrlKindOf,
} from './reporter.ts';
import { SMTP_KIND } from './smtp.ts';
import { smtpAddressOf, smtpAddressOfUrl } from './smtp-provider.ts';

/** The kinds of relays that can be set up. */
export type RelayKinds = {
  list: readonly RelayKindInfo[];
  /** With the settings of an SMTP relay, its fields include those for the feedback of the provider that its host belongs to. */
  of(kind: string, settings?: RelaySettings): RelayKindInfo | undefined;
  /** Undefined for the kinds that send by SMTP. */
  adapterOf(kind: string): RelayAdapter | undefined;
  /** Returns the provider that reports the outcomes of a relay. Undefined: they arrive by email only. */
  reporterOf(kind: string, settings: RelaySettings): Reporter | undefined;
  /** The provider that the host of `SMTP_URL` belongs to. Null: it is unknown, or `SMTP_URL` is not set. */
  smtpUrlProvider: RelayAdapter | null;
};

/** `smtpUrl`: `SMTP_URL`, if it is set. Its kind is there if its host belongs to a provider. */
export function relayKinds(adapters: readonly RelayAdapter[], smtpUrl: string | null = null): RelayKinds {
  const safe = adapters.map(withoutSecrets);
  const providerAt = ({ host }: SmtpAddress): RelayAdapter | undefined =>
    safe.find(({ smtp, smtpHost }) => smtp !== null && smtpHost?.test(host));
  const urlAddress = smtpUrl === null ? null : smtpAddressOfUrl(smtpUrl);
  const urlProvider = (urlAddress && providerAt(urlAddress)) ?? null;
  const list: RelayKindInfo[] = [
    ...safe,
    SMTP_KIND,
    ...(urlAddress && urlProvider ? [smtpUrlKindOf(urlProvider, urlAddress)] : []),
  ];
  return {
    list,
    smtpUrlProvider: urlProvider,
    of(kind, settings) {
      const info = list.find((known) => known.kind === kind);
      if (kind !== 'smtp' || !settings) return info;
      const address = smtpAddressOf(settings);
      const provider = providerAt(address);
      return provider ? smtpKindOf(provider, address) : info;
    },
    adapterOf: (kind) => safe.find((adapter) => adapter.kind === kind),
    reporterOf(kind, settings) {
      if (kind === 'smtp_url')
        return urlAddress && urlProvider && settings[PROVIDER] === urlProvider.kind
          ? smtpReporter(urlProvider, urlAddress, settings)
          : undefined;
      if (kind !== 'smtp') {
        const adapter = safe.find((known) => known.kind === kind);
        return adapter && reporterWith(adapter, settings);
      }
      const address = smtpAddressOf(settings);
      const provider = providerAt(address);
      return provider && smtpReporter(provider, address, settings);
    },
  };
}

/** Splits values into those that are shown, and those that are encrypted. */
export function splitSecrets(
  fields: readonly RelayField[],
  values: Readonly<Record<string, string>>,
): { settings: Record<string, string>; secrets: Record<string, string> } {
  const shown = new Set(fields.flatMap(({ name, isSecret }) => (isSecret ? [] : [name])));
  const entries = Object.entries(values);
  return {
    settings: Object.fromEntries(entries.filter(([name]) => shown.has(name))),
    // A value without a field, such as a generated secret, is not shown either.
    secrets: Object.fromEntries(entries.filter(([name]) => !shown.has(name))),
  };
}
