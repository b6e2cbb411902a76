import { getDomain } from 'tldts';
import type { Renderer } from '../rendering/index.ts';
import type { Signers } from '../sending/index.ts';
import { recentMap } from '../../platform/async/recent-map.ts';
import type { Resolver } from '../../platform/dns/resolver.ts';
import type { Outlet } from './gate/facts.ts';

/** The services that an installation sends with, apart from the transport. */
export type SendServices = {
  outlet: Outlet;
  signers: Signers;
  providers: Providers;
  /** Renders and checks emails, within bounds. */
  renderer: Renderer;
};

/**
 * Returns the provider of a mailbox by the MX hosts of its domain, because a few large providers host most companies. The lookup runs in
 * the background, and sending never waits for it: until then, a domain counts as its own provider.
 */
type Providers = { of(domain: string): string };

type CachedProvider = { provider: string; until: number };
const CACHE_MAX = 20_000;
const CACHE_MS = 24 * 3_600_000;
const RETRY_MS = 10 * 60_000;
const LOOKUPS_MAX = 10;

export function createProviders(resolver: Pick<Resolver, 'mx'>, now: () => number): Providers {
  const cache = recentMap<CachedProvider>(CACHE_MAX);
  const pending = new Set<string>();

  async function lookUp(domain: string): Promise<void> {
    pending.add(domain);
    try {
      const reply = await resolver.mx(domain);
      // Values look like `10 mail.example.com`, with the most preferred first.
      const host = reply.kind === 'found' ? reply.values[0]?.split(' ')[1] : undefined;
      const provider = (host && getDomain(host)) || domain;
      const cacheMs = reply.kind === 'failed' ? RETRY_MS : CACHE_MS;
      cache.set(domain, { provider: provider.toLowerCase(), until: now() + cacheMs });
    } finally {
      pending.delete(domain);
    }
  }

  return {
    of(domain) {
      const entry = cache.get(domain);
      const isStale = !entry || entry.until <= now();
      if (isStale && pending.size < LOOKUPS_MAX && !pending.has(domain)) void lookUp(domain).catch(() => {});
      return entry?.provider ?? domain;
    },
  };
}

/** For installations that only use the test inbox: providers do not matter, and no name server is queried. */
export const NO_PROVIDERS: Providers = { of: (domain) => domain };
