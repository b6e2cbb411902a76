import ipaddr from 'ipaddr.js';

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
