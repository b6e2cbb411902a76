import { isIP } from 'node:net';
import type { Resolver } from '../dns/resolver.ts';
import { isLoopbackName } from '../net/network-address.ts';
import { addressKind } from './check-url.ts';

/** Returns an address of a host that may be connected to. Throws if it has none. */
export type ResolveHost = (host: string) => Promise<string>;

/**
 * Resolves hosts that customers name, for connections that are not HTTP. Only addresses on the Internet are returned, or also private ones
 * with `allowPrivate`. The caller connects to this address, so that the name is not resolved twice.
 */
export function hostGuard(options: {
  allowPrivate: boolean;
  resolver: Pick<Resolver, 'addresses'>;
}): ResolveHost {
  const { allowPrivate, resolver } = options;

  async function addressesOf(host: string): Promise<string[]> {
    if (isIP(host) > 0) return [host];
    if (allowPrivate && isLoopbackName(host)) return ['127.0.0.1'];
    const reply = await resolver.addresses(host);
    if (reply.kind === 'found') return reply.values;
    throw new Error(`The DNS has no address for ${host} (${reply.code})`);
  }

  return async (host) => {
    const address = (await addressesOf(host)).find((candidate) => {
      const kind = addressKind(candidate);
      return kind === 'public' || (allowPrivate && kind === 'private');
    });
    if (address === undefined) throw new Error(`${host} has no public address`);
    return address;
  };
}
