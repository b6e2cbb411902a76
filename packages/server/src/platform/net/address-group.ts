import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

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
