import http from 'node:http';
import https from 'node:https';
import { promises as dns } from 'node:dns';
import { isIPv6, type LookupFunction, type Socket } from 'node:net';
import { callbackify } from 'node:util';
import type { Resolver } from '../dns/resolver.ts';
import { isLoopbackName } from '../net/network-address.ts';
import { type AddressKind, addressKind } from './check-url.ts';
import { blocked, type Phase, OutboundError } from './failure.ts';

export type Agents = {
  /** `fresh`: on a separate connection that is not kept. */
  of(protocol: string, fresh: boolean): http.Agent;
  /** Stops reusing the kept connections of this pool, because a failure of one may affect all. */
  forget(pool: string): void;
  close(): void;
};

export type AgentRules = {
  allowPrivate: boolean;
  resolver: Pick<Resolver, 'addresses'> | null;
  ca: string | Buffer | undefined;
  connectMs: number;
  idleMs: number;
};

/** The name of a request's pool, besides its host. (`key` would be the private key of TLS.) */
export type Pooled = { pool: string };

/** Callers limit the concurrent requests to an endpoint far below this. */
const SOCKETS_MAX = 256;
const FREE_SOCKETS_MAX = 32;
const SESSIONS_MAX = 1_000;
/** An unreachable address of one family delays the next address only this long. */
const ADDRESS_MS = 1_000;

/** Two for each scheme, regardless of the number of endpoints: an agent has a pool for each name, and unused pools disappear. */
export function createAgents(rules: AgentRules): Agents {
  const kept = { keepAlive: true, timeout: rules.idleMs, maxSockets: SOCKETS_MAX };
  const secure = agentOptions(
    rules,
    (kind) => kind === 'public' || (rules.allowPrivate && kind === 'private'),
  );
  const plain = agentOptions(rules, (kind) => rules.allowPrivate && kind === 'private');
  const agents = {
    'https:': [new SecureAgent(secure, kept), new SecureAgent(secure, {})],
    'http:': [new PlainAgent(plain, kept), new PlainAgent(plain, {})],
  } as const;
  return {
    of: (protocol, fresh) => agents[protocol === 'http:' ? 'http:' : 'https:'][fresh ? 1 : 0],
    forget(pool) {
      for (const [agent] of Object.values(agents))
        for (const [name, sockets = []] of Object.entries(agent.freeSockets))
          if (name.startsWith(`${pool}\n`)) for (const socket of sockets) socket.destroy();
    },
    close() {
      for (const agent of Object.values(agents).flat()) agent.destroy();
    },
  };
}

type Guard = { isAllowedAddress: (address: string | undefined) => boolean; connectMs: number };
type GuardedOptions = { guard: Guard; options: https.AgentOptions & { lookup: LookupFunction } };

function agentOptions(rules: AgentRules, isAllowed: (kind: AddressKind) => boolean): GuardedOptions {
  const { allowPrivate, resolver, ca, connectMs } = rules;
  const isAllowedAddress = (address: string | undefined): boolean =>
    address !== undefined && isAllowed(addressKind(address));
  return {
    guard: { isAllowedAddress, connectMs },
    options: {
      lookup: createLookup({ resolver, allowPrivate, isAllowedAddress }),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_MS,
      maxFreeSockets: FREE_SOCKETS_MAX,
      maxCachedSessions: SESSIONS_MAX,
      minVersion: 'TLSv1.2',
      rejectUnauthorized: true,
      ...(ca === undefined ? {} : { ca }),
    },
  };
}

class SecureAgent extends https.Agent {
  readonly #guard: Guard;

  constructor({ guard, options }: GuardedOptions, more: https.AgentOptions) {
    super({ ...options, ...more });
    this.#guard = guard;
  }

  override createConnection(...args: Parameters<https.Agent['createConnection']>) {
    const socket = super.createConnection(...args);
    if (socket) watch(socket as Socket, 'secureConnect', this.#guard);
    return socket;
  }

  override getName(options: https.RequestOptions & Partial<Pooled>): string {
    return `${options.pool}\n${super.getName(options)}`;
  }
}

class PlainAgent extends http.Agent {
  readonly #guard: Guard;

  constructor({ guard, options }: GuardedOptions, more: http.AgentOptions) {
    super({ ...options, ...more });
    this.#guard = guard;
  }

  override createConnection(...args: Parameters<http.Agent['createConnection']>) {
    const socket = super.createConnection(...args);
    if (socket) watch(socket as Socket, 'connect', this.#guard);
    return socket;
  }

  override getName(options: http.ClientRequestArgs & Partial<Pooled>): string {
    return `${options.pool}\n${super.getName(options)}`;
  }
}

const phases = new WeakMap<Error, Phase>();

/** Returns the phase of the connection in which an error occurred; the last phase for errors from elsewhere. */
export function phaseOf(error: Error): Phase {
  return phases.get(error) ?? 'open';
}

const openSockets = new WeakSet<object>();

/** Returns whether a connection, including its TLS session, was ever open. Nothing is sent before that. */
export function isOpen(socket: object | null | undefined): boolean {
  return socket !== null && socket !== undefined && openSockets.has(socket);
}

/** Attached before any other listener, so that a forbidden peer is disconnected before TLS, or a request, begins. */
function watch(socket: Socket, openEvent: 'connect' | 'secureConnect', guard: Guard): void {
  let phase: Phase = 'connect';
  const timer = setTimeout(() => {
    socket.destroy(new OutboundError('timeout', `No connection within ${guard.connectMs / 1_000} s`));
  }, guard.connectMs);
  socket.prependOnceListener('connect', () => {
    phase = 'tls';
    if (!guard.isAllowedAddress(socket.remoteAddress)) socket.destroy(blocked());
  });
  socket.once(openEvent, () => {
    phase = 'open';
    openSockets.add(socket);
    clearTimeout(timer);
  });
  socket.prependListener('error', (error) => phases.set(error, phase));
  socket.once('close', () => clearTimeout(timer));
}

type LookupRules = {
  resolver: Pick<Resolver, 'addresses'> | null;
  allowPrivate: boolean;
  isAllowedAddress: (address: string) => boolean;
};

/** More than any host has; of a name with a thousand addresses only the first ones are tried. */
const ADDRESSES_MAX = 8;

/** For `net.connect`: returns those addresses of a name that may be reached, or else a refusal. */
function createLookup(rules: LookupRules): LookupFunction {
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
    .filter((address) => rules.isAllowedAddress(address))
    .slice(0, ADDRESSES_MAX)
    .map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
}

async function resolve({ resolver, allowPrivate }: LookupRules, name: string): Promise<string[]> {
  if (allowPrivate && isLoopbackName(name)) return ['127.0.0.1', '::1'];
  if (!resolver) return lookUpLocally(name);
  const reply = await resolver.addresses(name);
  switch (reply.kind) {
    case 'found':
      return reply.values;
    case 'none':
      // Local names that no name server has are for development.
      return allowPrivate ? lookUpLocally(name) : unknown(reply.code);
    case 'failed':
      return unknown(reply.code);
    default:
      return reply satisfies never;
  }
}

async function lookUpLocally(name: string): Promise<string[]> {
  try {
    return (await dns.lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN';
    return unknown(code);
  }
}

function unknown(code: string): never {
  throw new OutboundError('dns', `The DNS has no address for its host (${code})`);
}
