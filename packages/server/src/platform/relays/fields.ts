import type { RelayField, RelaySettings } from './adapter.ts';

/** The address of the API, for every kind whose provider has one address. */
export const API_URL: RelayField = {
  name: 'api_url',
  label: 'API URL',
  isSecret: false,
  isOptional: true,
  hint: 'Only for a proxy or a private endpoint. Leave it empty to use the address of the provider.',
};

/** Returns the address of the API without a slash at its end. */
export function apiUrl(settings: RelaySettings, standard: string): string {
  return (settings['api_url'] ?? standard).replace(/\/+$/, '');
}

/** Beckon generates it. It proves to Beckon that a request comes from the provider. */
export const HOOK_SECRET = 'hook_secret';

/** Returns a URL with the generated secret as its password, for providers that send basic authentication. */
export function urlWithPassword(hookUrl: string, settings: RelaySettings): string {
  const url = new URL(hookUrl);
  url.username = 'beckon';
  url.password = settings[HOOK_SECRET] ?? '';
  return url.href;
}

/**
 * The token of an email as a tag: some providers allow letters, digits, hyphens and underscores only. A token has one dot and no hyphen, so
 * that nothing is lost.
 */
export function tagOfToken(token: string): string {
  return token.replace('.', '-');
}

export function tokenOfTag(tag: string | null): string | null {
  return tag === null ? null : tag.replace('-', '.');
}
