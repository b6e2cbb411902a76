import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../../packages/server/testing/servers/free-port.ts';
import type { Spoiling, Wire } from '../fault.ts';

type Direction = 'up' | 'down';

/** One client and its connection to the server behind the proxy. */
type Connection = {
  client: Socket;
  behind: Socket;
  /** The client sent something that was not answered yet. */
  asked: boolean;
  /** Bytes of it were dropped. It can never be complete again, so it is reset when the wire is mended. */
  torn: boolean;
};

type State = { how: Spoiling | null; changed: PromiseWithResolvers<void>; connections: Set<Connection> };

const DRIPS_PER_SECOND = 10;
const GONE = new Error('the connection was reset');

/**
 * Opens a proxy on loopback in front of a server that listens already or will later. `spoil` applies to open connections too, in the middle
 * of their traffic. The proxy buffers nothing: a sender that is faster than the other side waits.
 */
export async function openWire(to: {
  port: number;
  host?: string;
}): Promise<Wire & { close(): Promise<void> }> {
  const port = await freePort();
  const state: State = { how: null, changed: Promise.withResolvers(), connections: new Set() };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    if (resetsNow(state.how)) client.resetAndDestroy();
    else carry(client, to, state);
  });
  const resetAll = (which: (one: Connection) => boolean): void =>
    state.connections.forEach((one) => {
      if (which(one)) reset(one);
    });
  const turn = (how: Spoiling | null): void => {
    state.how = how;
    state.changed.resolve();
    state.changed = Promise.withResolvers();
    if (how?.kind === 'refuse') server.close();
    else if (!server.listening) server.listen(port, '127.0.0.1');
  };
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port,
    spoil(how) {
      turn(how);
      if (how.kind === 'refuse' || resetsNow(how)) resetAll(() => true);
    },
    mend() {
      turn(null);
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

function carry(client: Socket, to: { port: number; host?: string }, state: State): void {
  const behind = connect({
    port: to.port,
    host: to.host ?? '127.0.0.1',
    allowHalfOpen: true,
    noDelay: true,
  });
  const connection: Connection = { client, behind, asked: false, torn: false };
  state.connections.add(connection);
  for (const socket of [client, behind]) {
    socket.on('error', () => {});
    socket.on('close', () => {
      if (client.destroyed && behind.destroyed) state.connections.delete(connection);
    });
  }
  void pump(connection, 'up', state);
  void pump(connection, 'down', state);
}

/** Passes all data and the end of one side to the other, as far as the current fault allows. */
async function pump(connection: Connection, direction: Direction, state: State): Promise<void> {
  const [from, to] =
    direction === 'up' ? [connection.client, connection.behind] : [connection.behind, connection.client];
  try {
    for await (const chunk of from.iterator({ destroyOnReturn: false }))
      await pass({ connection, direction, state, to }, chunk as Buffer);
    if (vanishes(direction, state.how)) connection.torn = true;
    else to.end();
  } catch {
    if (vanishes(direction, state.how)) connection.torn = true;
    else reset(connection);
  }
}

type Passing = { connection: Connection; direction: Direction; state: State; to: Socket };

async function pass(passing: Passing, chunk: Buffer): Promise<void> {
  const { connection, direction, state } = passing;
  const isReply = direction === 'down' && connection.asked;
  connection.asked = direction === 'up';
  for (let left = chunk; left.length > 0;) {
    const { how } = state;
    if (isReply && resetsAt('before-reply', how)) throw GONE;
    if (vanishes(direction, how)) {
      connection.torn = true;
      return;
    }
    left = await passSome(passing, left);
    if (isReply && resetsAt('after-reply', how)) throw GONE;
  }
}

/** Passes as much as the fault allows now. Returns the rest. */
async function passSome({ to, state }: Passing, left: Buffer): Promise<Buffer> {
  const { how } = state;
  if (how?.kind === 'delay' && !(await stays(state, how.ms))) return left;
  if (how?.kind !== 'drip') {
    await write(to, left);
    return left.subarray(left.length);
  }
  // Whole bytes, at most ten times per second.
  const bytes = Math.max(1, Math.floor(how.bytesPerSecond / DRIPS_PER_SECOND));
  if (!(await stays(state, (bytes * 1_000) / how.bytesPerSecond))) return left;
  await write(to, left.subarray(0, bytes));
  return left.subarray(bytes);
}

/** Returns false if the fault changed before the time was over. */
async function stays(state: State, ms: number): Promise<boolean> {
  const { how } = state;
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([over, state.changed.promise]);
  clearTimeout(timer);
  return state.how === how;
}

function write(to: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

function vanishes(direction: Direction, how: Spoiling | null): boolean {
  return how?.kind === 'half-open' && (how.direction === direction || how.direction === 'both');
}

function resetsAt(when: 'before-reply' | 'after-reply', how: Spoiling | null): boolean {
  return how?.kind === 'reset' && how.when === when;
}

function resetsNow(how: Spoiling | null): boolean {
  return how?.kind === 'reset' && how.when === 'now';
}

function reset({ client, behind }: Connection): void {
  client.resetAndDestroy();
  behind.resetAndDestroy();
}
