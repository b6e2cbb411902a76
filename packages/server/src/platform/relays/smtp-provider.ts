import type { HttpRelayKind, RelayAdapter, RelaySettings, SmtpAddress, SpfNeed } from './adapter.ts';
import { RELAY_ADAPTERS } from './adapters.ts';

/** Returns the provider that an SMTP server belongs to, by its host. */
export function providerOfHost(host: string): RelayAdapter | undefined {
  return Object.values(RELAY_ADAPTERS).find(({ smtpHost }) => smtpHost?.test(host));
}

/** Returns the address in the settings of an SMTP relay. */
export function smtpAddressOf({ host = '', username }: RelaySettings): SmtpAddress {
  return { host, username: username ?? null };
}

/** Returns the address in `SMTP_URL`. */
export function smtpAddressOfUrl(url: string): SmtpAddress {
  const { hostname, username } = new URL(url);
  return { host: hostname, username: username === '' ? null : decodeURIComponent(username) };
}

/** Servers that keep the return path of an email, so that its SPF record must include theirs. */
const INCLUDES: readonly (readonly [RegExp, string])[] = [
  // https://support.google.com/a/answer/10684623
  [/^smtp(?:-relay)?\.gmail\.com$/i, '_spf.google.com'],
  // https://learn.microsoft.com/en-us/defender-office-365/email-authentication-spf-configure
  [/^smtp\.office365\.com$|\.mail\.protection\.outlook\.com$/i, 'spf.protection.outlook.com'],
];

/** Returns what SPF must allow for a relay. Null: nothing, or it is unknown. */
export function spfOfRelay(kind: 'smtp' | HttpRelayKind, settings: RelaySettings): SpfNeed | null {
  if (kind !== 'smtp') return RELAY_ADAPTERS[kind].spf(settings);
  const { spf_include: include } = settings;
  return include === undefined ? spfOfSmtp(smtpAddressOf(settings)) : { include, domain: null };
}

export function spfOfSmtp(address: SmtpAddress): SpfNeed | null {
  const provider = providerOfHost(address.host);
  if (provider) return provider.spf(provider.smtp?.settingsOf(address) ?? {});
  const include = INCLUDES.find(([host]) => host.test(address.host))?.[1];
  return include === undefined ? null : { include, domain: null };
}
