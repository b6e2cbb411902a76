import pg from 'pg';
import { realpath } from 'node:fs/promises';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from './backoff.ts';
import { ensureRunning, type RunningPostmaster } from './ensure-running.ts';
import { type ClusterFacts, readFacts } from './facts.ts';
import { codeOf, EmbeddedFailure } from './failure.ts';
import type { Home } from './home.ts';
import { lockClass, type Product } from './product.ts';
import { isLocked, lockedBy } from './lock-cluster.ts';
import { type PidFile, readPidFile, removeStalePidFile, findPostmaster } from './postmaster.ts';
import { START_MAX_MS } from './start-postmaster.ts';

const REACH_MAX_MS = 20_000;
const REACH_BACKOFF = { baseMs: 20, maxMs: 500 };
/** A process that cannot be inspected and rejects our login for this long is not our postmaster. */
const UNSURE_MAX_MS = 10_000;
/** PostgreSQL fills its pid file immediately after it creates it. An empty one is left over from a power failure. */
const EMPTY_MAX_MS = 2_000;
const STARTING_UP = '57P03';

/**
 * Acquires a share in the users' lock of a running PostgreSQL, which no other process may then stop. If PostgreSQL is being stopped, it
 * waits for the end and starts it again.
 */
export async function acquireHold(home: Home, signal?: AbortSignal): Promise<Hold> {
  const begun = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    const running = await ensureRunning(home, signal);
    const holdAttempt = await takeHold(home, running);
    if (holdAttempt.kind === 'held') return holdAttempt.hold;
    const elapsedMs = performance.now() - begun;
    const why = holdAttempt.kind === 'later' ? holdAttempt.why : 'another PostgreSQL answers on its port';
    if (holdAttempt.kind === 'foreign' || isForeign(running, { elapsedMs, why }))
      await forgetForeign(home, running);
    if (elapsedMs > (codeOf(why) === STARTING_UP ? START_MAX_MS : REACH_MAX_MS)) {
      throw new EmbeddedFailure(
        'cannot_start',
        `PostgreSQL of ${home.dataDir} cannot be reached: ${String(why)}`,
        why,
      );
    }
    await pause(backoffMs(attempt, REACH_BACKOFF), undefined, { signal });
  }
}

/** Tries once to join a running PostgreSQL; returns undefined if that is impossible now. */
export async function joinRunning(home: Home): Promise<Hold | undefined> {
  const seen = await findPostmaster(home.data);
  if (seen.kind !== 'running' || seen.file.status !== 'ready') return undefined;
  const holdAttempt = await takeHold(home, seen);
  return holdAttempt.kind === 'held' ? holdAttempt.hold : undefined;
}

function isForeign(running: RunningPostmaster, seen: { elapsedMs: number; why: unknown }): boolean {
  if (running.sure || codeOf(seen.why) === STARTING_UP) return false;
  return seen.elapsedMs > (running.file.pid === 0 ? EMPTY_MAX_MS : UNSURE_MAX_MS);
}

async function forgetForeign(home: Home, running: RunningPostmaster): Promise<void> {
  if (await isLocked(home)) throw lockedBy(home.data);
  home.log.warn({ pid: running.file.pid, data_dir: home.data }, 'postgres.stale_pid_removed');
  removeStalePidFile(home.data, running.file);
}

/**
 * A separate connection that holds this process's share in the locks. It uses the database `postgres`, so that the product's own can be dropped,
 * restored and cloned while a process holds one.
 */
export type Hold = {
  file: PidFile;
  /** Resolves with the reason when the connection is lost, and the locks with it. */
  lost: Promise<string>;
  isLost(): boolean;
  /** Makes this process the server and returns undefined, or returns the name of the other server. */
  findOtherServer(): Promise<string | undefined>;
  /** Releases the share. Returns true if no other process has one: new users wait from then on. */
  becomeLastUser(): Promise<boolean>;
  /** Returns how the WAL is archived; `isOperators` if it was set with ALTER SYSTEM. */
  readArchiving(): Promise<{ mode: string; command: string; isOperators: boolean }>;
  drop(why: string): void;
  close(): Promise<void>;
};

type HoldAttempt =
  | { kind: 'held'; hold: Hold }
  /** PostgreSQL is starting, stopping, or out of connections. */
  | { kind: 'later'; why: unknown }
  /** A PostgreSQL of another folder. */
  | { kind: 'foreign' };

const MAINTENANCE_DATABASE = 'postgres';
const usersLock = (product: Product): string => `${lockClass(product)}, 1`;
const serverLock = (product: Product): string => `${lockClass(product)}, 2`;
/** Longer than a stop by SIGINT takes. A process that waits for a stop is woken by the end of the connection, not by this timeout. */
const USERS_LOCK_MS = 60_000;
/** The session of a server killed a moment ago may still exist. */
const SERVER_LOCK_MS = 2_000;
const CONNECT_MS = 10_000;

async function takeHold(home: Home, running: RunningPostmaster): Promise<HoldAttempt> {
  const facts = readFacts(home.dataDir);
  if (!facts || running.file.port === 0) return { kind: 'later', why: 'no port is known yet' };
  const { client, socket } = makeClient(home, facts, running.file.port);
  // Both listeners before the first byte, because an unhandled error would end the process.
  const lost = new Promise<string>((resolve) => {
    client.on('error', (error) => resolve(error.message));
    client.on('end', () => resolve('the connection ended'));
  });
  try {
    await client.connect();
    if (!(await servesOurFolder(client, home))) {
      socket.destroy();
      return { kind: 'foreign' };
    }
    await client.query(`SELECT pg_advisory_lock_shared(${usersLock(home.product)})`);
    // The lock of a stopping process is released with its session, just before ours ends: then the share is worthless.
    const now = readPidFile(home.data);
    if (now?.pid !== running.file.pid || now.status !== 'ready') throw new Error('PostgreSQL is stopping');
    await makeDatabase(client, facts.database);
  } catch (error) {
    socket.destroy();
    return explain(error, running.sure, home);
  }
  return { kind: 'held', hold: wrap(client, { product: home.product, socket, lost, file: running.file }) };
}

function makeClient(
  { product }: Home,
  facts: ClusterFacts,
  port: number,
): { client: pg.Client; socket: Socket } {
  // Uses its own socket, because only that allows closing a connection whose peer no longer responds.
  const socket = new Socket();
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: facts.user,
    password: facts.password,
    database: MAINTENANCE_DATABASE,
    application_name: `${sessionPrefix(product)} ${process.pid}`,
    options: `-c lock_timeout=${USERS_LOCK_MS} -c statement_timeout=0 -c idle_session_timeout=0`,
    ssl: false,
    connectionTimeoutMillis: CONNECT_MS,
    stream: () => socket,
  });
  return { client, socket };
}

/** The password alone does not prove it, because a copied DATA_DIR has the same one. */
async function servesOurFolder(client: pg.Client, home: Home): Promise<boolean> {
  const { rows } = await client.query<{ data: string }>(`SELECT current_setting('data_directory') AS data`);
  const theirs = rows[0]?.data ?? '';
  return (await realpath(theirs).catch(() => theirs)) === (await realpath(home.data));
}

/** Names the sessions that hold a share. The pid of the process follows. */
function sessionPrefix({ name }: Product): string {
  return `${name} hold`;
}

const DUPLICATE = ['42P04', '23505'];

async function makeDatabase(client: pg.Client, name: string): Promise<void> {
  const existing = await client.query(`SELECT FROM pg_database WHERE datname = $1`, [name]);
  if (existing.rowCount) return;
  await client
    .query(`CREATE DATABASE ${pg.escapeIdentifier(name)} TEMPLATE template0`)
    .catch((error: unknown) => {
      if (!DUPLICATE.includes(codeOf(error))) throw error;
    });
}

function explain(error: unknown, sure: boolean, home: Home): HoldAttempt {
  if (!codeOf(error).startsWith('28')) return { kind: 'later', why: error };
  if (!sure) return { kind: 'foreign' };
  throw new EmbeddedFailure(
    'not_known',
    `PostgreSQL of ${home.dataDir} rejects the password in postgres.json. Restore that file from a backup`,
    error,
  );
}

type HeldConnection = { product: Product; socket: Socket; lost: Promise<string>; file: PidFile };

function wrap(client: pg.Client, of: HeldConnection): Hold {
  let isLost = false;
  let declareLost: (why: string) => void = () => {};
  const declared = new Promise<string>((resolve) => (declareLost = resolve));
  const lost = Promise.race([of.lost, declared]);
  void lost.then(() => (isLost = true));
  const tryLock = async (statement: string): Promise<boolean> => {
    const { rows } = await client.query<{ got: boolean }>(`SELECT ${statement} AS got`);
    return rows[0]?.got ?? false;
  };
  return {
    file: of.file,
    lost,
    isLost: () => isLost,
    findOtherServer: () => findOtherServer(client, of.product),
    async becomeLastUser() {
      // Unlocks first, then tries to lock. Otherwise two processes that leave together would each see the other's share, and neither would
      // stop PostgreSQL.
      await tryLock(`pg_advisory_unlock_shared(${usersLock(of.product)})`);
      return tryLock(`pg_try_advisory_lock(${usersLock(of.product)})`);
    },
    readArchiving: () => readArchiving(client),
    drop(why) {
      declareLost(why);
      of.socket.destroy();
    },
    async close() {
      if (!isLost) await Promise.race([client.end(), lost]);
      of.socket.destroy();
    },
  };
}

async function readArchiving(client: pg.Client): ReturnType<Hold['readArchiving']> {
  const { rows } = await client.query<{ name: string; setting: string; operators: boolean }>(
    `SELECT name, setting, coalesce(sourcefile LIKE '%/postgresql.auto.conf', false) AS operators
     FROM pg_settings WHERE name IN ('archive_mode', 'archive_command')`,
  );
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]));
  return {
    mode: settings.get('archive_mode') ?? '',
    command: settings.get('archive_command') ?? '',
    isOperators: rows.some(({ operators }) => operators),
  };
}

async function findOtherServer(client: pg.Client, product: Product): Promise<string | undefined> {
  await client.query(`SET lock_timeout = ${SERVER_LOCK_MS}`);
  try {
    await client.query(`SELECT pg_advisory_lock(${serverLock(product)})`);
    return undefined;
  } catch (error) {
    if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error;
  }
  const { rows } = await client.query<{ name: string }>(
    `SELECT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND (classid, objid) = (${serverLock(product)})`,
  );
  return rows[0]?.name.replace(sessionPrefix(product), 'process') ?? 'a process that has just ended';
}

const LOCK_NOT_AVAILABLE = '55P03';
