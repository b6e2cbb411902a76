import { createResolver, type Resolver } from '../../src/platform/dns/resolver.ts';
import type { DnsServer } from './dns-server.ts';

/**
 * Resolves names at a DNS server of the tests. An answer may take as long as a busy machine needs. Only a server that is silent for every
 * name is given up at once, because then each lookup can only time out.
 */
export function testResolver(dns: DnsServer): Resolver {
  const patient = createResolver({ servers: dns.servers, timeoutMs: 20_000, tries: 1 });
  const impatient = createResolver({ servers: dns.servers, timeoutMs: 50, tries: 1 });
  const current = (): Resolver => (dns.isSilent() ? impatient : patient);
  return {
    txt: (name) => current().txt(name),
    mx: (name) => current().mx(name),
    cname: (name) => current().cname(name),
    addresses: (name) => current().addresses(name),
  };
}
