import ipaddr from 'ipaddr.js';
import { isIP, isIPv4 } from 'node:net';

/** Returns the network that counts as one caller: an IPv4 address, or an IPv6 /64, which a single subscriber controls. */
export function addressGroup(address: string): string {
  if (isIP(address) !== 6) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return parsed.parts.slice(0, 4).join(':');
}

/**
 * Returns the networks that contain an address, the widest first: /32, /48 and /64 of IPv6; /16, /24 and the address itself of IPv4. The
 * many small networks that one operator controls are mostly within a few wide ones.
 */
export function networksOf(address: string): string[] {
  if (isIP(address) === 0) return [address];
  const parsed = ipaddr.process(address);
  const [parts, lengths] =
    parsed instanceof ipaddr.IPv6 ? [parsed.parts, [2, 3, 4]] : [parsed.toByteArray(), [2, 3, 4]];
  return lengths.map((length) => `${parsed.kind()} ${parts.slice(0, length).join('.')}`);
}

/** Returns whether a name or an address, as written in a URL or a setting, leads back to its own host. */
export function isLoopbackName(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    (isIPv4(name) && name.startsWith('127.'))
  );
}
