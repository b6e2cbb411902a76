import ipaddr from 'ipaddr.js';
import { isIP, isIPv4 } from 'node:net';

type CheckedUrl = { ok: true; url: URL } | { ok: false; why: string };
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

/**
 * The reach of an address. `public`: on the Internet. `private`: of this host or of its network. `closed`: never allowed for requests to
 * customers' URLs, even in development: cloud metadata, link-local, multicast, reserved, and addresses that embed another one.
 */
export type AddressKind = 'public' | 'private' | 'closed';

export function addressKind(text: string): AddressKind {
  // Only link-local addresses have a zone (`fe80::1%eth0`). The library reads `::8.8.8.8` as `::ffff:8.8.8.8`.
  if (text.includes('%') || COMPATIBLE_V4.test(text) || !ipaddr.isValid(text)) return 'closed';
  // The socket treats `::ffff:10.0.0.1` as 10.0.0.1.
  const address = ipaddr.process(text);
  if (isIn(address, METADATA)) return 'closed';
  if (isIn(address, PRIVATE)) return 'private';
  if (isIn(address, CLOSED)) return 'closed';
  return address.kind() === 'ipv4' || isIn(address, GLOBAL_V6) ? 'public' : 'closed';
}

const COMPATIBLE_V4 = /^::\d+\./;

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

const METADATA = ranges(
  // Azure's wire server, and the metadata services of Alibaba and Amazon, in ranges that look public or private.
  '168.63.129.16/32',
  '100.100.100.200/32',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
);

const PRIVATE = ranges(
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
);

const CLOSED = ranges(
  '0.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Within 2000::/3: protocol assignments (Teredo, ORCHID), documentation, 6to4, the old 6bone.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3ffe::/16',
  '3fff::/20',
);

/** All other ranges (`::a.b.c.d`, NAT64, discard, SRv6, site-local, link-local, multicast) are outside of it. */
const GLOBAL_V6 = ranges('2000::/3');

function ranges(...texts: string[]): Range[] {
  return texts.map((text) => ipaddr.parseCIDR(text));
}

function isIn(address: Address, list: Range[]): boolean {
  return list.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}
