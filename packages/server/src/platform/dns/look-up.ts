import { promises as dns } from 'node:dns';
import type { ResolverOptions } from './resolver.ts';

/** Looks up records of any type, and returns them in the form of Node's own resolver. Rejects with Node's codes. */
export type LookUp = (name: string, type: string) => Promise<string[][] | string[]>;

const TIMEOUT_MS = 2_000;
const TRIES = 2;
/** Timeouts grow with each try and with each server. This bounds the total time of one lookup. */
const WITHIN_TIMEOUTS = 4;

/** For checks of email by DNS that need the raw records. */
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
