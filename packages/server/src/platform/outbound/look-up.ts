import { promises as dns } from 'node:dns';
import { isIPv6, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { isLoopbackName } from '../net/loopback.ts';
import type { Resolver } from '../dns/resolver.ts';
import { blocked, Refusal } from './failure.ts';

export type LookupRules = {
  resolver: Pick<Resolver, 'addresses'> | null;
  allowPrivate: boolean;
  mayReach: (address: string) => boolean;
};

/** More than any host has; of a name with a thousand addresses only the first ones are tried. */
const ADDRESSES_MAX = 8;

/** For `net.connect`: returns those addresses of a name that may be reached, or else a refusal. */
export function createLookup(rules: LookupRules): LookupFunction {
  const look = callbackify((name: string) => addressesOf(rules, name));
  return (name, { all }, callback) => {
    look(name, (error, found) => {
      const [first] = found ?? [];
      if (error || !first) callback(error ?? blocked(), '');
      else if (all) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}

async function addressesOf(rules: LookupRules, name: string): Promise<{ address: string; family: number }[]> {
  const addresses = await resolve(rules, name);
  return addresses
    .filter((address) => rules.mayReach(address))
    .slice(0, ADDRESSES_MAX)
    .map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
}

async function resolve({ resolver, allowPrivate }: LookupRules, name: string): Promise<string[]> {
  if (allowPrivate && isLoopbackName(name)) return ['127.0.0.1', '::1'];
  if (!resolver) return askMachine(name);
  const answer = await resolver.addresses(name);
  switch (answer.kind) {
    case 'found':
      return answer.values;
    case 'none':
      // Local names that no name server has are for development.
      return allowPrivate ? askMachine(name) : unknown(answer.code);
    case 'trouble':
      return unknown(answer.code);
    default:
      return answer satisfies never;
  }
}

async function askMachine(name: string): Promise<string[]> {
  try {
    return (await dns.lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN';
    return unknown(code);
  }
}

function unknown(code: string): never {
  throw new Refusal('dns', `The DNS has no address for its host (${code})`);
}
