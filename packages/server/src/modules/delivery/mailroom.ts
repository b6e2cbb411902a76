import { getDomain } from 'tldts';
import type { Renderer } from '../rendering/index.ts';
import type { Outlet, Signers } from '../sending/index.ts';
import { recentMap } from '../../platform/async/recent-map.ts';
import type { Resolver } from '../../platform/dns/resolver.ts';

/** The services that an installation sends with, apart from the transport. */
export type Mailroom = {
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

type Known = { provider: string; until: number };
const KNOWN_MAX = 20_000;
const KEPT_MS = 24 * 3_600_000;
const ASK_AGAIN_MS = 10 * 60_000;
const ASKED_MAX = 10;

export function createProviders(resolver: Pick<Resolver, 'mx'>, now: () => number): Providers {
  const known = recentMap<Known>(KNOWN_MAX);
  const asked = new Set<string>();

  async function ask(domain: string): Promise<void> {
    asked.add(domain);
    try {
      const answer = await resolver.mx(domain);
      // Values look like `10 mail.example.com`, with the most preferred first.
      const host = answer.kind === 'found' ? answer.values[0]?.split(' ')[1] : undefined;
      const provider = (host && getDomain(host)) || domain;
      const keptMs = answer.kind === 'trouble' ? ASK_AGAIN_MS : KEPT_MS;
      known.set(domain, { provider: provider.toLowerCase(), until: now() + keptMs });
    } finally {
      asked.delete(domain);
    }
  }

  return {
    of(domain) {
      const entry = known.get(domain);
      const isStale = !entry || entry.until <= now();
      if (isStale && asked.size < ASKED_MAX && !asked.has(domain)) void ask(domain).catch(() => {});
      return entry?.provider ?? domain;
    },
  };
}

/** For installations that only use the test inbox: providers do not matter, and no name server is queried. */
export const NO_PROVIDERS: Providers = { of: (domain) => domain };
