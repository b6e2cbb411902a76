import http from 'node:http';
import https from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { Resolver } from '../dns/resolver.ts';
import { type AddressKind, addressKind } from './address.ts';
import { blocked, type Phase, Refusal } from './failure.ts';
import { createLookup } from './look-up.ts';

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

type Guard = { mayReach: (address: string | undefined) => boolean; connectMs: number };
type GuardedOptions = { guard: Guard; options: https.AgentOptions & { lookup: LookupFunction } };

function agentOptions(rules: AgentRules, isAllowed: (kind: AddressKind) => boolean): GuardedOptions {
  const { allowPrivate, resolver, ca, connectMs } = rules;
  const mayReach = (address: string | undefined): boolean =>
    address !== undefined && isAllowed(addressKind(address));
  return {
    guard: { mayReach, connectMs },
    options: {
      lookup: createLookup({ resolver, allowPrivate, mayReach }),
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

  override createConnection(...given: Parameters<https.Agent['createConnection']>) {
    const socket = super.createConnection(...given);
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

  override createConnection(...given: Parameters<http.Agent['createConnection']>) {
    const socket = super.createConnection(...given);
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

/** Attached before any other listener, so that a forbidden peer is disconnected before TLS, or a request, begins. */
function watch(socket: Socket, openEvent: 'connect' | 'secureConnect', guard: Guard): void {
  let phase: Phase = 'connect';
  const timer = setTimeout(() => {
    socket.destroy(new Refusal('timeout', `No connection within ${guard.connectMs / 1_000} s`));
  }, guard.connectMs);
  socket.prependOnceListener('connect', () => {
    phase = 'tls';
    if (!guard.mayReach(socket.remoteAddress)) socket.destroy(blocked());
  });
  socket.once(openEvent, () => {
    phase = 'open';
    clearTimeout(timer);
  });
  socket.prependListener('error', (error) => phases.set(error, phase));
  socket.once('close', () => clearTimeout(timer));
}
