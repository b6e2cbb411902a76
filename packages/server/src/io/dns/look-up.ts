import { promises as dns } from 'node:dns';
import type { ResolverOptions } from './resolver.ts';

/** Records of any type, in the form in which Node's own resolver gives them; it rejects with Node's codes. */
export type LookUp = (name: string, type: string) => Promise<string[][] | string[]>;

const TIMEOUT_MS = 2_000;
const TRIES = 2;
/** Waits grow with each try and with each server: whatever they add up to, nobody waits longer for one answer. */
const WITHIN_TIMEOUTS = 4;

/** For those who judge mail by the DNS and want it raw. */
export function createLookUp(options: ResolverOptions = {}): LookUp {
  const { servers, timeoutMs: timeout = TIMEOUT_MS, tries = TRIES } = options;
  return async (name, type) => {
    const resolver = new dns.Resolver({ timeout, tries });
    if (servers) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), timeout * WITHIN_TIMEOUTS);
    try {
      return (await resolver.resolve(name, type)) as string[];
    } finally {
      clearTimeout(timer);
    }
  };
}
