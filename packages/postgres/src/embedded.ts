import { dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from './backoff.ts';
import { readFacts } from './facts.ts';
import { EmbeddedFailure } from './failure.ts';
import { holdArchiving, reportArchiving } from './hold-archiving.ts';
import { acquireHold, type Hold, joinRunning } from './hold.ts';
import { type Home, type HomeOptions, isInitialized, logPath, openHome } from './home.ts';
import { initializeCluster } from './initialize-cluster.ts';
import { readPidFile, sendSignal, findPostmaster, stopPostmaster } from './postmaster.ts';
import { isAlive } from './process-command.ts';
import { boundLog } from './start-postmaster.ts';
import { sweepDrafts } from './sweep-partials.ts';
import { requireOurVersion } from './upgrade/versions.ts';
import { waitUntil } from './wait-until.ts';

export type Embedded = {
  /** Returns the address for the next connection, read from disk at each call. Throws if none is known. */
  connection(): EmbeddedConnection;
  /** Makes this process *the* server of the directory and keeps PostgreSQL running. Throws if another process is the server. */
  becomeServer(): Promise<void>;
  /** Releases the share, and stops PostgreSQL if it has no other users. The caller closes its own connections first. */
  release(): Promise<void>;
};

const JOIN_FOR_STOP_MS = 5_000;
const RESTART_BACKOFF = { baseMs: 100, maxMs: 5_000 };

export async function openEmbedded(options: HomeOptions): Promise<Embedded> {
  const home = await openHome(options);
  const folders = [home.dataDir, home.data, dirname(home.data), dirname(home.native)];
  const removed = await sweepDrafts(folders, Date.now());
  if (removed.length > 0) home.log.info({ files: removed }, 'postgres.partial_files_removed');
  if (isInitialized(home.data)) await requireOurVersion(home);
  await initializeCluster(home);
  return keep(home, await holdArchiving(home));
}

type State = { home: Home; hold: Hold; isServer: boolean; ending: AbortController };

function keep(home: Home, hold: Hold): Embedded {
  const state: State = { home, hold, isServer: false, ending: new AbortController() };
  const keeping = keepHold(state);
  let released: Promise<void> | undefined;
  return {
    connection: () => followEmbedded(home.dataDir),
    becomeServer: () => becomeServer(state),
    release() {
      state.ending.abort();
      released ??= keeping.then(() => leave(state));
      return released;
    },
  };
}

async function becomeServer(state: State): Promise<void> {
  if (state.isServer) return;
  const other = await state.hold.findOtherServer();
  if (other !== undefined) {
    throw new EmbeddedFailure(
      'another_server',
      `Another ${state.home.product.title} server (${other}) runs on ${state.home.dataDir}`,
    );
  }
  state.isServer = true;
  watchPostmaster(state.home, { hold: () => state.hold, signal: state.ending.signal });
}

/** Runs as long as the process: acquires lost locks again, and restarts PostgreSQL if this process is the server. */
async function keepHold(state: State): Promise<void> {
  const { signal } = state.ending;
  const ended = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  while (!signal.aborted) {
    const why = await Promise.race([state.hold.lost, ended]);
    if (why !== undefined) await retakeHold(state, why);
  }
}

async function retakeHold(state: State, why: string): Promise<void> {
  const { home, ending } = state;
  const begun = performance.now();
  home.log.warn({ reason: why }, 'postgres.lost');
  for (let attempt = 0; !ending.signal.aborted; attempt += 1) {
    try {
      const hold = state.isServer ? await acquireHold(home, ending.signal) : await joinRunning(home);
      if (hold && (await isStillOurs(state, hold))) {
        state.hold = hold;
        if (state.isServer) await reportArchiving(home, hold);
        home.log.info({ ms: Math.round(performance.now() - begun), attempt }, 'postgres.recovered');
        return;
      }
    } catch (error) {
      if (!ending.signal.aborted) home.log.error({ err: error, attempt }, 'postgres.recovery_failed');
    }
    // The timer must not keep a command alive that is about to end.
    await pause(backoffMs(attempt, RESTART_BACKOFF), undefined, {
      signal: ending.signal,
      ref: state.isServer,
    }).catch(() => {});
  }
}

async function isStillOurs(state: State, hold: Hold): Promise<boolean> {
  const other = state.isServer ? await hold.findOtherServer() : undefined;
  if (other === undefined) return true;
  state.home.log.error({ server: other, data_dir: state.home.dataDir }, 'postgres.used_by_other_server');
  await hold.close();
  return false;
}

/** Only the last user stops PostgreSQL. A process that connects from then on waits for the end and starts it again. */
async function leave(state: State): Promise<void> {
  const { home } = state;
  const hold = state.hold.isLost() ? await joinForStop(home) : state.hold;
  if (!hold) return;
  try {
    if (await hold.becomeLastUser()) {
      const begun = performance.now();
      const signal = await stopPostmaster(home, hold.file.pid);
      home.log.info({ signal, ms: Math.round(performance.now() - begun) }, 'postgres.stopped');
    }
  } catch (error) {
    // The connection has just broken: PostgreSQL is gone, or the next user will adopt it.
    home.log.warn({ err: error }, 'postgres.not_stopped');
  }
  await hold.close();
}

/** Waits for a postmaster that is starting, perhaps by this process, because no other process may be there to stop it. */
async function joinForStop(home: Home): Promise<Hold | undefined> {
  const joined = await waitUntil(
    async () => {
      const hold = await joinRunning(home);
      return hold ?? ((await findPostmaster(home.data)).kind === 'running' ? undefined : 'none');
    },
    { everyMs: 50, forMs: JOIN_FOR_STOP_MS },
  );
  return joined === 'none' ? undefined : joined;
}

const LOOK_EVERY_MS = 1_000;
const BOUND_LOG_EVERY_LOOKS = 60;
/** After a lone SIGTERM, PostgreSQL would wait forever for its last client. A SIGTERM for the whole service leaves this long to drain. */
const STOPPING_MAX_LOOKS = 10;

type Watched = { hold: () => Hold; signal: AbortSignal; everyMs?: number };

/** The server's cheap check, for failures that the loss of the lock connection does not reveal immediately. */
export function watchPostmaster(home: Home, of: Watched): void {
  let looks = 0;
  let stoppingLooks = 0;
  const timer = setInterval(() => {
    looks += 1;
    if (looks % BOUND_LOG_EVERY_LOOKS === 0) {
      boundLog(logPath(home)).catch((error: unknown) =>
        home.log.warn({ err: error }, 'postgres.log_not_truncated'),
      );
    }
    const hold = of.hold();
    if (hold.isLost()) return;
    if (!isAlive(hold.file.pid)) return hold.drop('the postmaster is gone');
    stoppingLooks = readPidFile(home.data)?.status === 'stopping' ? stoppingLooks + 1 : 0;
    if (stoppingLooks === STOPPING_MAX_LOOKS) void sendSignal(home, { pid: hold.file.pid, signal: 'INT' });
  }, of.everyMs ?? LOOK_EVERY_MS);
  timer.unref();
  of.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

/** The address of PostgreSQL, in the form that `pg` accepts. */
export type EmbeddedConnection = {
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
  ssl: false;
};

/**
 * Returns the address of this directory's PostgreSQL from its files. The pid file of a running postmaster has the right port. Otherwise it
 * is the last known address, which refuses connections. For a caller that looks it up for each connection, and does not keep PostgreSQL
 * running.
 */
export function followEmbedded(dataDir: string): EmbeddedConnection {
  const facts = readFacts(dataDir);
  const port = (facts && readPidFile(resolve(dataDir, facts.data))?.port) || facts?.port;
  if (!facts || !port) {
    throw new EmbeddedFailure('not_known', `The address of PostgreSQL of ${dataDir} is unknown`);
  }
  const { user, password, database } = facts;
  return { host: '127.0.0.1', port, user, password, database, ssl: false };
}
