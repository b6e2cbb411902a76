import { randomBytes } from 'node:crypto';
import { type BigIntStats, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import type { Log, LogFields } from '../platform/log.ts';
import { closed } from './listening.ts';

export type LocalSocketOptions = {
  /** A path, or a named pipe of Windows. */
  path: string;
  /** A server for one listener. */
  createServer: () => Server;
  log: Log;
  /** How often to check who serves the socket. */
  everyMs?: number;
};

export type LocalSocket = { start(): Promise<void>; stop(): Promise<void> };

/** A process that ended is replaced within this time. */
const CHECK_EVERY_MS = 1_000;

type State = 'listening' | 'waiting' | 'unavailable';

/**
 * Serves the local socket as long as no other process does.
 *
 * Several processes may share a data directory: those of API_PROCESSES, or an old and a new one during a restart. Each
 * checks the socket every second. It listens if nothing answers there, and waits if another process does. A file that a
 * killed process left behind answers nothing, so it is replaced.
 */
export function serveLocalSocket({
  path,
  createServer,
  log,
  everyMs = CHECK_EVERY_MS,
}: LocalSocketOptions): LocalSocket {
  let listening: ListeningSocket | null = null;
  let state: State | null = null;
  let timer: NodeJS.Timeout | undefined;
  let checking: Promise<void> | null = null;
  let isStopped = false;

  const enter = (next: State, fields: LogFields = {}): void => {
    if (next === state) return;
    state = next;
    if (next === 'unavailable') log.warn({ path, ...fields }, 'local_shell.unavailable');
    else log.info({ path }, next === 'waiting' ? 'local_shell.waiting' : 'local_shell.listening');
  };
  const check = async (): Promise<void> => {
    if (listening?.isReachable()) return;
    const previous = listening;
    listening = null;
    if (previous) await previous.close();
    const found = statOf(path);
    if (await isServed(path)) return enter('waiting');
    // Another process may have come first while this one waited for the answer. The next check finds it.
    if (isStopped || !isSame(found, statOf(path))) return;
    listening = listen(path, createServer());
    enter('listening');
  };
  const run = async (): Promise<void> => {
    await check().catch((error: unknown) => enter('unavailable', { err: error }));
    if (!isStopped) timer = setTimeout(() => void (checking = run()), everyMs).unref();
  };
  return {
    start() {
      checking = run();
      return checking;
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await checking;
      await listening?.close();
    },
  };
}

type ListeningSocket = {
  /** The path still leads to this listener. */
  isReachable(): boolean;
  close(): Promise<void>;
};

function listen(path: string, server: Server): ListeningSocket {
  return isPipe(path) ? listenAtPipe(path, server) : listenAtPath(path, server);
}

/** Windows gives a pipe's name to one process at a time, and frees it when that process ends. */
function listenAtPipe(path: string, server: Server): ListeningSocket {
  listenNow(server, path);
  return { isReachable: () => server.listening, close: () => closed(server) };
}

/**
 * Binds under a temporary name and renames it, which replaces a stale file in one step. If two processes do so within the same
 * microseconds, the last one is reachable. The other closes when its next check finds that the path leads elsewhere.
 */
function listenAtPath(path: string, server: Server): ListeningSocket {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  requireNothingElse(path);
  // Not longer than the name itself, because the length of a socket's path is limited.
  const partial = join(dirname(path), `.sock-${randomBytes(3).toString('hex').slice(0, 5)}`);
  // Created with mode 0600, so there is no moment at which another account could connect.
  const mask = process.umask(0o177);
  try {
    listenNow(server, partial);
  } finally {
    process.umask(mask);
  }
  try {
    renameSync(partial, path);
  } catch (error) {
    rmSync(partial, { force: true });
    server.close();
    throw error;
  }
  const ownStat = statOf(path);
  const isReachable = (): boolean => ownStat !== undefined && isSame(ownStat, statOf(path));
  return {
    isReachable,
    close() {
      // Before it stops listening: until then no other process replaces the file.
      if (isReachable()) rmSync(path, { force: true });
      return closed(server);
    },
  };
}

/** Throws the system's error. Node binds a path synchronously, and reports a failure later. */
function listenNow(server: Server, path: string): void {
  let failure: unknown;
  server.once('error', (error) => (failure = error));
  server.listen({ path, exclusive: true });
  if (!server.listening) throw new Error(`Cannot listen on ${path}`, { cause: failure });
}

function requireNothingElse(path: string): void {
  const found = statOf(path);
  if (found && !found.isSocket()) throw new Error(`${path} is not a socket. Move it away`);
}

function statOf(path: string): BigIntStats | undefined {
  return isPipe(path) ? undefined : lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

function isSame(first: BigIntStats | undefined, second: BigIntStats | undefined): boolean {
  return first?.ino === second?.ino && first?.dev === second?.dev;
}

function isPipe(path: string): boolean {
  return path.startsWith('\\\\');
}

/** No process listens, or there is no file. */
const DEAD = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK']);
/** More callers wait than it has accepted. */
const BUSY = new Set(['EAGAIN', 'EBUSY']);

/** Returns whether a process serves this socket. Throws in unclear cases, as for the socket of another account. */
function isServed(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (DEAD.has(error.code ?? '')) resolve(false);
      else if (BUSY.has(error.code ?? '')) resolve(true);
      else reject(error);
    });
  });
}
