import { isIP, isIPv4 } from 'node:net';
import { addressKind } from './address.ts';

export type CheckedUrl = { ok: true; url: URL } | { ok: false; why: string };
export type UrlRules = {
  /** For development: also allows loopback and private addresses, and plain http to them. */
  allowPrivate: boolean;
};

/**
 * Returns whether a customer's URL may be requested. A name alone does not show its target: each address that it resolves to is checked
 * again on connection.
 */
export function checkUrl(text: string, rules: UrlRules): CheckedUrl {
  if (text.length > URL_MAX) return refuse(`It is longer than ${URL_MAX} characters`);
  // The parser drops some of these and turns others into slashes, so that the requested URL would differ from the one that people read.
  if (HIDDEN.test(text)) return refuse('It contains spaces, control characters or backslashes');
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url) return refuse('It is not a URL. Use the form https://example.com/webhooks');
  const why =
    schemeFault(url, rules) ?? credentialsFault(url) ?? portFault(url, rules) ?? hostFault(url, text, rules);
  return why === null ? { ok: true, url } : refuse(why);
}

/** Returns the host without the brackets that IPv6 has in a URL. */
export function bareHost({ hostname }: Pick<URL, 'hostname'>): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

const URL_MAX = 2_048;
// oxlint-disable-next-line no-control-regex
const HIDDEN = /[\s\\\x00-\x1f\x7f-\x9f]/;
const NAME_MAX = 253;

function refuse(why: string): CheckedUrl {
  return { ok: false, why };
}

function schemeFault({ protocol }: URL, { allowPrivate }: UrlRules): string | null {
  if (protocol === 'https:' || (protocol === 'http:' && allowPrivate)) return null;
  return 'It must start with https://';
}

function credentialsFault({ username, password }: URL): string | null {
  return username || password ? 'It must not contain a user name or a password' : null;
}

const PORT_MIN = 1_024;

/** Ports of services other than web servers: a request to one is an attack or a mistake. */
const PORTS_DENIED = new Set([
  1433, 1434, 1521, 1719, 1720, 1723, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 3659, 4045, 4190, 5060,
  5061, 5432, 5672, 5900, 5984, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 7000, 7001, 8086,
  8125, 8500, 9042, 9092, 9160, 9200, 9300, 10080, 10250, 10255, 11211, 15672, 27017, 27018,
]);

/** The default port of the scheme is empty. */
function portFault({ port }: URL, { allowPrivate }: UrlRules): string | null {
  if (port === '') return null;
  const number = Number(port);
  if (number >= PORT_MIN && !PORTS_DENIED.has(number)) return null;
  return allowPrivate && number === HTTP_PORT
    ? null
    : `Port ${port} is not allowed for webhooks. Omit it, or use one from ${PORT_MIN} that is not reserved for another service`;
}

const HTTP_PORT = 80;

function hostFault(url: URL, text: string, rules: UrlRules): string | null {
  const host = bareHost(url);
  return isIP(host) === 0 ? nameFault(host, rules) : literalFault(url, text, rules);
}

/** The parser normalizes all spellings of an address. A URL with another spelling hides something. */
function literalFault(url: URL, text: string, { allowPrivate }: UrlRules): string | null {
  const host = bareHost(url);
  const kind = addressKind(host);
  if (kind === 'closed' || (kind === 'private' && !allowPrivate)) return PRIVATE_ADDRESS;
  if (url.protocol === 'http:' && kind !== 'private')
    return 'Plain http is allowed for private addresses only';
  const isPlain = !isIPv4(host) || isWritten(text, host);
  return isPlain ? null : 'Its IP address has an unusual form. Write it as four numbers';
}

const PRIVATE_ADDRESS = 'It points to an address that is not public';

function isWritten(text: string, host: string): boolean {
  const [, authority = ''] = /^[^:]+:\/\/([^/?#]*)/.exec(text) ?? [];
  return authority === host || authority.startsWith(`${host}:`);
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Names that have a meaning only within a network or a host. */
const INNER_NAMES =
  /(?:^|\.)(?:internal|local|localhost|localdomain|home\.arpa|in-addr\.arpa|ip6\.arpa|onion)$/;

function nameFault(host: string, { allowPrivate }: UrlRules): string | null {
  if (host.endsWith('.')) return 'Its host name ends with a dot. Remove the dot';
  const labels = host.split('.');
  if (host.length > NAME_MAX || !labels.every((label) => LABEL.test(label)))
    return 'Its host name is not valid';
  if (allowPrivate) return null;
  if (labels.length < 2) return 'Its host name must be fully qualified, such as hooks.example.com';
  return INNER_NAMES.test(host) ? 'Its host name belongs to a private network' : null;
}
