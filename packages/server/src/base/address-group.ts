import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** One subscriber commands a whole /64 of IPv6, so that is counted as one address. */
export function addressGroup(address: string): string {
  if (isIP(address) !== 6) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return parsed.parts.slice(0, 4).join(':');
}
