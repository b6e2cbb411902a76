import { promises as dns } from 'node:dns';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The result of a DNS lookup. `none`: there is no such record, which counts against a domain. `trouble`: there was no answer, for example
 * after a timeout or from a broken name server, and that has no effect.
 */
export type DnsReply =
  | { kind: 'found'; values: string[] }
  | { kind: 'none'; code: string }
  | { kind: 'failed'; code: string };

export type Resolver = {
  /** Joins the strings of each record, as its readers do. */
  txt(name: string): Promise<DnsReply>;
  /** Formatted like `10 mail.example.com`, the most preferred first. */
  mx(name: string): Promise<DnsReply>;
  cname(name: string): Promise<DnsReply>;
  /** Includes both families. */
  addresses(name: string): Promise<DnsReply>;
};

type ResolverOptions = {
  /** With ports; defaults to the servers of the system. */
  servers?: string[];
  timeoutMs?: number;
  tries?: number;
};

const TIMEOUT_MS = 2_000;
const TRIES = 2;
/** Timeouts grow with each try and with each server. This bounds the total time of one lookup. */
const WITHIN_TIMEOUTS = 4;
/** More than any name needs for our purposes. It keeps a zone with thousands of records from filling memory. */
const VALUES_MAX = 100;
const VALUE_MAX = 4_096;

const NOT_FOUND_CODES: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

export function createResolver(options: ResolverOptions = {}): Resolver {
  const { servers, timeoutMs: timeout = TIMEOUT_MS, tries = TRIES } = options;

  async function lookUp(look: (resolver: dns.Resolver) => Promise<string[]>): Promise<DnsReply> {
    // One resolver per lookup, so that canceling a lookup affects no other, and no answer is cached.
    const resolver = new dns.Resolver({ timeout, tries });
    if (servers) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), timeout * WITHIN_TIMEOUTS);
    try {
      const values = await look(resolver);
      if (values.length === 0) return { kind: 'none', code: 'ENODATA' };
      return { kind: 'found', values: values.slice(0, VALUES_MAX).map((value) => value.slice(0, VALUE_MAX)) };
    } catch (error) {
      const code = codeOf(error);
      return NOT_FOUND_CODES.has(code) ? { kind: 'none', code } : { kind: 'failed', code };
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    txt: (name) =>
      lookUp(async (resolver) => (await resolver.resolveTxt(name)).map((parts) => parts.join(''))),
    mx: (name) =>
      lookUp(async (resolver) => {
        const records = await resolver.resolveMx(name);
        const sorted = records.toSorted((a, b) => a.priority - b.priority);
        return sorted.map(({ priority, exchange }) => `${priority} ${exchange}`);
      }),
    cname: (name) => lookUp((resolver) => resolver.resolveCname(name)),
    addresses: (name) => lookUp((resolver) => bothFamilies(resolver, name)),
  };
}

/** Some name servers never answer for a family in which they have no records. */
const OTHER_FAMILY_MS = 250;

async function bothFamilies(resolver: dns.Resolver, name: string): Promise<string[]> {
  const first = resolver.resolve4(name);
  const second = resolver.resolve6(name);
  const enough = first.then(
    () => sleep(OTHER_FAMILY_MS, [], { ref: false }),
    () => second,
  );
  const looks = await Promise.allSettled([first, Promise.race([second, enough])]);
  const found = looks.flatMap((look) => (look.status === 'fulfilled' ? look.value : []));
  if (found.length > 0) return found;
  const reasons: unknown[] = looks.flatMap((look) => (look.status === 'rejected' ? [look.reason] : []));
  throw reasons.find((reason) => !NOT_FOUND_CODES.has(codeOf(reason))) ?? reasons[0];
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // Only the timer cancels a lookup.
  if (code === 'ECANCELLED') return 'ETIMEOUT';
  return typeof code === 'string' ? code : 'EUNKNOWN';
}

/** Looks up records of any type, and returns them in the form of Node's own resolver. Rejects with Node's codes. */
export type LookUp = (name: string, type: string) => Promise<string[][] | string[]>;

const LOOK_UP_TIMEOUT_MS = 2_000;
const LOOK_UP_TRIES = 2;
/** Timeouts grow with each try and with each server. This bounds the total time of one lookup. */
const LOOK_UP_WITHIN_TIMEOUTS = 4;

/** For checks of email by DNS that need the raw records. */
export function createLookUp(options: ResolverOptions = {}): LookUp {
  const { servers, timeoutMs: timeout = LOOK_UP_TIMEOUT_MS, tries = LOOK_UP_TRIES } = options;
  return async (name, type) => {
    const resolver = new dns.Resolver({ timeout, tries });
    if (servers) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), timeout * LOOK_UP_WITHIN_TIMEOUTS);
    try {
      return (await resolver.resolve(name, type)) as string[];
    } finally {
      clearTimeout(timer);
    }
  };
}
