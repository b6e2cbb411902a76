import net from 'node:net';
import { createReader } from './response.ts';

/** One keep-alive connection with at most one request under way. It comes back by itself when it breaks. */
export type Connection = {
  send(request: Buffer): void;
  /** For whoever sends: when the request was meant to go, and when it went; 0 while none is under way. */
  intendedAt: number;
  sentAt: number;
  /** A request that takes too long is given up with its connection. */
  abandon(): void;
  close(): void;
};

export type Loss = 'refused' | 'reset' | 'timeout' | 'unreadable';

export type ConnectionEvents = {
  /** Ready for a request: connected, or connected again. */
  onReady(connection: Connection): void;
  onAnswer(connection: Connection, status: number): void;
  /** The request under way, or an attempt to connect, came to nothing; null where the server ended a connection that was idle. */
  onLoss(connection: Connection, why: Loss | null): void;
};

export type Target = { host: string; port: number };

/** All sockets read into one buffer: what it holds is used up before the next read. */
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
    // Nothing was asked: a server that has had enough of an idle connection says so before it closes it.
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
    // A server that is away must not be asked thousands of times a second.
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
