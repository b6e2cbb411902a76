/**
 * The transport and the client of a connection, decided without side effects. `X-Forwarded-*` is an unproven claim unless the peer is a
 * listed proxy. `Host` is always a claim, and grants nothing.
 */

import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type TransportRules = {
  /** `https://beckon.example`, without a path. */
  publicOrigin: string;
  /** The public address is https: requests over plain HTTP are redirected. */
  httpsOnly: boolean;
  isTrusted(address: string): boolean;
};

/** The parts of a request that these decisions read. */
export type PeerRequest = {
  headers: IncomingHttpHeaders;
  socket: { remoteAddress?: string | undefined; encrypted?: unknown };
};

export function transportRules(config: { publicUrl: string; trustProxy: readonly string[] }): TransportRules {
  const publicUrl = new URL(config.publicUrl);
  return {
    publicOrigin: publicUrl.origin,
    httpsOnly: publicUrl.protocol === 'https:',
    isTrusted: trustedPeers(config.trustProxy),
  };
}

/** Returns a function that checks whether an address is one of these, or in one of these ranges. */
export function trustedPeers(ranges: readonly string[]): (address: string) => boolean {
  return trustedBy(ranges.map(parseRange));
}

export function transportOf(rules: TransportRules, request: PeerRequest): 'https' | 'plain' {
  if (request.socket.encrypted) return 'https';
  if (!rules.isTrusted(request.socket.remoteAddress ?? '')) return 'plain';
  const [first = ''] = headerText(request.headers['x-forwarded-proto']).split(',', 1);
  return first.trim().toLowerCase() === 'https' ? 'https' : 'plain';
}

/**
 * Returns the nearest address that is not one of our proxies. It goes from the right, where our own proxies wrote: the first other client
 * may have made up everything to the left of its address.
 */
export function clientAddress(rules: TransportRules, request: PeerRequest): string {
  let address = plainAddress(request.socket.remoteAddress ?? '');
  let claims = headerText(request.headers['x-forwarded-for']);
  while (claims !== '' && rules.isTrusted(address)) {
    const comma = claims.lastIndexOf(',');
    const claimed = claimedAddress(claims.slice(comma + 1).trim());
    if (claimed === null) return address;
    address = claimed;
    claims = comma < 0 ? '' : claims.slice(0, comma);
  }
  return address;
}

/** Returns our origin with the requested path and query. An absolute target (`GET http://elsewhere/x`) is reduced to its path. */
export function redirectLocation(rules: TransportRules, target: string): string {
  return rules.publicOrigin + originForm(target).replace(/[^\x21-\x7e]/g, percentByte);
}

/** Returns the path and query of a request target; HTTP allows a whole address there. */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const path = target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');
  if (path.startsWith('/')) return path;
  return path.startsWith('?') ? `/${path}` : '/';
}

/** Node returns a header's bytes as Latin-1, one character per byte. */
function percentByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

type Range = { network: ipaddr.IPv4 | ipaddr.IPv6; bits: number };

function parseRange(entry: string): Range {
  const [address = '', prefix, ...rest] = entry.trim().split('/');
  const family = isIP(address);
  const bitsMax = family === 4 ? 32 : 128;
  const bits = prefix === undefined ? bitsMax : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (family === 0 || rest.length > 0 || !(bits <= bitsMax)) {
    throw new Error(`Not an address or CIDR range: ${JSON.stringify(entry)}`);
  }
  const network = ipaddr.parse(address);
  if (network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && bits >= 96) {
    return { network: network.toIPv4Address(), bits: bits - 96 };
  }
  return { network, bits };
}

/** The size of the cache: a server has few proxies, and a flood of unknown peers must not fill the memory. */
const TRUST_CACHE_MAX = 1_024;

function trustedBy(ranges: Range[]): (address: string) => boolean {
  if (ranges.length === 0) return () => false;
  const trustCache = new Map<string, boolean>();
  return function isTrusted(address) {
    const cached = trustCache.get(address);
    if (cached !== undefined) return cached;
    const isTrusted = isIP(address) !== 0 && inAny(ranges, ipaddr.process(address));
    if (trustCache.size >= TRUST_CACHE_MAX) trustCache.clear();
    trustCache.set(address, isTrusted);
    return isTrusted;
  };
}

function inAny(ranges: Range[], address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return ranges.some(
    ({ network, bits }) => network.kind() === address.kind() && address.match(network, bits),
  );
}

/** `::ffff:192.0.2.1` is how a dual-stack socket spells 192.0.2.1. */
function plainAddress(address: string): string {
  return address.includes(':') && isIP(address) !== 0 ? ipaddr.process(address).toString() : address;
}

/** Some proxies write the port as well: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function claimedAddress(text: string): string | null {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return isIP(bare) === 0 ? null : plainAddress(bare);
}

function headerText(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(',') : (value ?? '');
}
