import net from 'node:net';
import { createReader } from './response.ts';

/** One keep-alive connection with at most one request under way. It reconnects automatically when it breaks. */
export type Connection = {
  send(request: Buffer): void;
  /** Set by the sender: when the request was intended to be sent, and when it was sent. 0 while no request is under way. */
  intendedAt: number;
  sentAt: number;
  /** Abandons a request that takes too long, together with its connection. */
  abandon(): void;
  close(): void;
};

export type Loss = 'refused' | 'reset' | 'timeout' | 'unreadable';

export type ConnectionEvents = {
  /** Called when the connection is ready for a request, also after a reconnect. */
  onReady(connection: Connection): void;
  onAnswer(connection: Connection, status: number): void;
  /** Called when the request under way or a connection attempt failed. `why` is null if the server closed an idle connection. */
  onLoss(connection: Connection, why: Loss | null): void;
};

export type Target = { host: string; port: number };

/** All sockets read into one buffer: its content is consumed before the next read. */
const READ_BYTES = 64 * 1024;
const RECONNECT_MS = 50;

export function createConnections(target: Target, events: ConnectionEvents): () => Connection {
  const shared = Buffer.allocUnsafe(READ_BYTES);
  return () => openConnection(target, events, shared);
}

function openConnection(target: Target, events: ConnectionEvents, shared: Buffer): Connection {
  const reader = createReader();
  let socket: net.Socket;
  let closed = false;
  let connected = false;

  const connection: Connection = {
    intendedAt: 0,
    sentAt: 0,
    send(request) {
      socket.write(request);
    },
    abandon: () => lose('timeout'),
    close() {
      closed = true;
      socket.destroy();
    },
  };

  function read(length: number): boolean {
    // No request is under way: a server that closes an idle connection may send a response first.
    if (connection.sentAt === 0) {
      lose(null);
      return true;
    }
    const status = reader.read(shared, length);
    if (status === 0) return true;
    if (status < 0) lose('unreadable');
    else {
      events.onAnswer(connection, status);
      connection.sentAt = 0;
      if (reader.closing) reconnect();
      else events.onReady(connection);
    }
    return true;
  }

  function lose(why: Loss | null): void {
    events.onLoss(connection, why);
    connection.sentAt = 0;
    reconnect();
  }

  function reconnect(): void {
    socket.removeAllListeners();
    socket.on('error', () => {});
    socket.destroy();
    if (closed) return;
    // A server that is down must not get thousands of connection attempts per second.
    if (connected) connect();
    else setTimeout(() => closed || connect(), RECONNECT_MS);
  }

  function connect(): void {
    connected = false;
    reader.reset();
    socket = net.connect({
      ...target,
      noDelay: true,
      onread: { buffer: shared, callback: (length: number) => read(length) },
    });
    socket.on('connect', () => {
      connected = true;
      events.onReady(connection);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      if (closed) return;
      if (!connected) lose('refused');
      else lose(connection.sentAt > 0 ? 'reset' : null);
    });
  }
  connect();
  return connection;
}
