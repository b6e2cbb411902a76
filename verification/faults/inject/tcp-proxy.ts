import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../../packages/server/testing/servers/free-port.ts';
import type { WireFault, Wire } from '../fault.ts';

type Direction = 'up' | 'down';

/** One client and its connection to the server behind the proxy. */
type Connection = {
  client: Socket;
  upstream: Socket;
  /** The client sent something that was not answered yet. */
  awaitsReply: boolean;
  /** Bytes of it were dropped. It can never be complete again, so it is reset when the wire is restored. */
  torn: boolean;
};

type State = { fault: WireFault | null; changed: PromiseWithResolvers<void>; connections: Set<Connection> };

const DRIPS_PER_SECOND = 10;
const CONNECTION_RESET = new Error('the connection was reset');

/**
 * Opens a proxy on loopback in front of a server that listens already or will later. `inject` applies to open connections too, in the middle
 * of their traffic. The proxy buffers nothing: a sender that is faster than the other side waits.
 */
export async function openWire(to: {
  port: number;
  host?: string;
}): Promise<Wire & { close(): Promise<void> }> {
  const port = await freePort();
  const state: State = { fault: null, changed: Promise.withResolvers(), connections: new Set() };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    if (resetsNow(state.fault)) client.resetAndDestroy();
    else connectThrough(client, to, state);
  });
  const resetAll = (matches: (connection: Connection) => boolean): void =>
    state.connections.forEach((connection) => {
      if (matches(connection)) reset(connection);
    });
  const setFault = (fault: WireFault | null): void => {
    state.fault = fault;
    state.changed.resolve();
    state.changed = Promise.withResolvers();
    if (fault?.kind === 'refuse') server.close();
    else if (!server.listening) server.listen(port, '127.0.0.1');
  };
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port,
    inject(fault) {
      setFault(fault);
      if (fault.kind === 'refuse' || resetsNow(fault)) resetAll(() => true);
    },
    restore() {
      setFault(null);
      resetAll(({ torn }) => torn);
    },
    async close() {
      const closed = server.listening ? once(server, 'close') : null;
      server.close();
      resetAll(() => true);
      await closed;
    },
  };
}

function connectThrough(client: Socket, to: { port: number; host?: string }, state: State): void {
  const upstream = connect({
    port: to.port,
    host: to.host ?? '127.0.0.1',
    allowHalfOpen: true,
    noDelay: true,
  });
  const connection: Connection = { client, upstream, awaitsReply: false, torn: false };
  state.connections.add(connection);
  for (const socket of [client, upstream]) {
    socket.on('error', () => {});
    socket.on('close', () => {
      if (client.destroyed && upstream.destroyed) state.connections.delete(connection);
    });
  }
  void pump(connection, 'up', state);
  void pump(connection, 'down', state);
}

/** Passes all data and the end of one side to the other, as far as the current fault allows. */
async function pump(connection: Connection, direction: Direction, state: State): Promise<void> {
  const [from, to] =
    direction === 'up' ? [connection.client, connection.upstream] : [connection.upstream, connection.client];
  try {
    for await (const chunk of from.iterator({ destroyOnReturn: false }))
      await pass({ connection, direction, state, to }, chunk as Buffer);
    if (drops(direction, state.fault)) connection.torn = true;
    else to.end();
  } catch {
    if (drops(direction, state.fault)) connection.torn = true;
    else reset(connection);
  }
}

type Transfer = { connection: Connection; direction: Direction; state: State; to: Socket };

async function pass(transfer: Transfer, chunk: Buffer): Promise<void> {
  const { connection, direction, state } = transfer;
  const isReply = direction === 'down' && connection.awaitsReply;
  connection.awaitsReply = direction === 'up';
  for (let left = chunk; left.length > 0;) {
    const { fault } = state;
    if (isReply && resetsAt('before-reply', fault)) throw CONNECTION_RESET;
    if (drops(direction, fault)) {
      connection.torn = true;
      return;
    }
    left = await passSome(transfer, left);
    if (isReply && resetsAt('after-reply', fault)) throw CONNECTION_RESET;
  }
}

/** Passes as much as the fault allows now. Returns the rest. */
async function passSome({ to, state }: Transfer, left: Buffer): Promise<Buffer> {
  const { fault } = state;
  if (fault?.kind === 'delay' && !(await lastsUnchanged(state, fault.ms))) return left;
  if (fault?.kind !== 'drip') {
    await write(to, left);
    return left.subarray(left.length);
  }
  // Whole bytes, at most ten times per second.
  const bytes = Math.max(1, Math.floor(fault.bytesPerSecond / DRIPS_PER_SECOND));
  if (!(await lastsUnchanged(state, (bytes * 1_000) / fault.bytesPerSecond))) return left;
  await write(to, left.subarray(0, bytes));
  return left.subarray(bytes);
}

/** Returns false if the fault changed before the time was over. */
async function lastsUnchanged(state: State, ms: number): Promise<boolean> {
  const { fault } = state;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([timeout, state.changed.promise]);
  clearTimeout(timer);
  return state.fault === fault;
}

function write(to: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

function drops(direction: Direction, fault: WireFault | null): boolean {
  return fault?.kind === 'half-open' && (fault.direction === direction || fault.direction === 'both');
}

function resetsAt(when: 'before-reply' | 'after-reply', fault: WireFault | null): boolean {
  return fault?.kind === 'reset' && fault.when === when;
}

function resetsNow(fault: WireFault | null): boolean {
  return fault?.kind === 'reset' && fault.when === 'now';
}

function reset({ client, upstream }: Connection): void {
  client.resetAndDestroy();
  upstream.resetAndDestroy();
}
