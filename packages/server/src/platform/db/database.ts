import type pg from 'pg';
import { type Clock, systemClock } from '../time/clock.ts';
import type { FailpointHook } from '../failpoints.ts';
import type { Log } from '../log.ts';
import { CONNECTIONS, type ConnectionSource, openPool } from './connections.ts';
import { isDistributed as readDistribution } from './distribute.ts';
import {
  inTransaction,
  type StatementPool,
  openSession,
  type Session,
  statementsOf,
  type Tx,
} from './statements.ts';

export type Database = Tx & {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** `freshPlans`: no statement uses a plan from long ago, when tables may have been small. */
  session(options?: { freshPlans: boolean }): Promise<Session>;
  /** The given clock, corrected by the database's clock, so that all processes agree on the time. */
  clock: Clock;
  /** The additional offset of that clock for a project with a test clock; 0 otherwise. */
  aheadMs: number;
  /** The offset between the local clock and the database's; null before the first measurement. */
  offsetMs(): number | null;
  /** Called with the progress of its transactions, so that tests can stop one at a failpoint. */
  failpoint?: FailpointHook | undefined;
  /** Returns the same database through the dashboard connections, for one request. */
  forPages(request: PageRequest): Database;
  /** Returns the number of connections, and of callers that wait for one. */
  pools(): PoolFacts[];
  close(): Promise<void>;
};

/** Dashboard requests have their own connections, so that ingest, processing and sending never wait for them. */
export type PageRequest = {
  /** `heavy`: its cost depends on typed input or on the amount of stored data. Heavy requests share few connections. */
  cost: 'light' | 'heavy';
  /** Aborted when the request ends: its running statement is canceled, and no other begins. */
  signal?: AbortSignal;
  /** Waits for a turn before each connection that the request takes, and returns the function that ends the turn. */
  takeSlot?: () => Promise<() => void>;
};

export type PoolFacts = { name: string; total: number; idle: number; waiting: number };

export type DatabaseOptions = {
  connection: ConnectionSource;
  clock: Clock;
  log: Log;
  /** Connections for everything but batches and the dashboard, which have their own. */
  poolMax?: number;
  /** False behind a pooler in transaction mode, which does not support named statements and rejects startup options. */
  namedStatements?: boolean;
  /** A transaction without a statement for this long is ended, which releases its locks. */
  idleWithinMs?: number;
  /** A statement outside of batches is canceled after this long. */
  statementWithinMs?: number;
  /** The time that a light dashboard request waits for a connection. */
  pageWaitMs?: number;
  failpoint?: FailpointHook | undefined;
};

const OFFSET_EVERY_MS = 30_000;
/** No statement outside of batches takes a second. One that hangs must not keep its connection or the database's CPU. */
const STATEMENT_WITHIN_MS = 9_000;
/** Longer than the statement timeout, so that PostgreSQL ends the statement and reports why. Only a server that vanished reaches it. */
const CLIENT_WAITS_MORE_MS = 1_000;
/** A process that stalls or vanishes must not keep a project lock or a queue row. No process takes this long between two statements. */
const IDLE_WITHIN_MS = 10_000;
/** Less than the statement timeout, so that the database reports the lock as the reason. */
const LOCK_WITHIN_MS = 8_000;
/** Batches set thirty seconds themselves (`statement_timeout`). A server that vanished enforces no limit. */
const BATCH_STATEMENT_WITHIN_MS = 30_000;
const BATCH_QUERY_WITHIN_MS = 40_000;
/** Requests that have a turn never wait for long; a turn may need a second connection. */
const HEAVY_WAIT_MS = 30_000;

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const work = openWorkPool(options);
  const isDistributed = await readSwitch(work);
  const pools = { work, ...openOtherPools(options, isDistributed) };
  const priorities = prioritiesOf(options, pools, isDistributed);
  let offsetMs: number | null = null;
  const measure = async (): Promise<void> => {
    offsetMs = await measureOffset(statementsOf(priorities.work));
  };
  const timer = setInterval(() => {
    measure().catch((error: unknown) => options.log.warn({ err: error }, 'database.clock_unknown'));
  }, OFFSET_EVERY_MS);
  timer.unref();
  const close = async (): Promise<void> => {
    clearInterval(timer);
    await Promise.all(Object.values(pools).map((pool) => pool.end()));
  };
  try {
    await measure();
  } catch (error) {
    await close();
    throw explain(error);
  }
  const shared = {
    clock: { now: () => options.clock.now() + (offsetMs ?? 0) },
    aheadMs: 0,
    failpoint: options.failpoint,
    offsetMs: () => offsetMs,
    pools: () => [
      factsOf('general', pools.work),
      factsOf('batches', pools.batches),
      factsOf('dashboard', pools.light),
      factsOf('dashboard_heavy', pools.heavy),
    ],
    forPages: ({ cost, signal, takeSlot }: PageRequest): Database => {
      const slots = takeSlot && { wait: takeSlot, open: 0 };
      const priority = { ...priorities[cost], signal, slots };
      return { ...shared, ...accessOf(priority, priority) };
    },
    close,
  };
  return { ...shared, ...accessOf(priorities.work, priorities.batches) };
}

/**
 * Reads once whether the tables are distributed over several nodes. It decides only how work is grouped: every statement that runs in a
 * distributed database gives the same result in any other. `beckon-server distribute` asks for a restart, because it is read at the start.
 */
async function readSwitch(pool: pg.Pool): Promise<boolean> {
  try {
    return await readDistribution(async (text, values) => (await pool.query(text, values)).rows as never);
  } catch (error) {
    await pool.end();
    throw explain(error);
  }
}

function accessOf(
  priority: StatementPool,
  batches: StatementPool,
): Tx & Pick<Database, 'transaction' | 'session'> {
  return {
    ...statementsOf(priority),
    transaction: (work) => inTransaction(priority, work),
    session: (options) => openSession(batches, options),
  };
}

type Pools = Record<'work' | 'batches' | 'light' | 'heavy', pg.Pool>;

function openWorkPool(options: DatabaseOptions): pg.Pool {
  const { connection, poolMax, statementWithinMs: withinMs = STATEMENT_WITHIN_MS } = options;
  return openPool(connection, {
    max: poolMax ?? CONNECTIONS.pool,
    name: 'general',
    queryWithinMs: withinMs + CLIENT_WAITS_MORE_MS,
    statementWithinMs: onServer(options, withinMs),
  });
}

/** A pooler in transaction mode rejects the startup option. */
function onServer({ namedStatements = true }: DatabaseOptions, ms: number): number | undefined {
  return namedStatements ? ms : undefined;
}

function openOtherPools(options: DatabaseOptions, isDistributed: boolean): Omit<Pools, 'work'> {
  const { connection, statementWithinMs: withinMs = STATEMENT_WITHIN_MS } = options;
  const sessions = { pipeline: true, queryWithinMs: BATCH_QUERY_WITHIN_MS };
  const pages = { ...sessions, statementWithinMs: onServer(options, withinMs) };
  return {
    batches: openPool(connection, {
      ...sessions,
      max: isDistributed ? CONNECTIONS.batchesDistributed : CONNECTIONS.batches,
      name: 'batches',
      statementWithinMs: onServer(options, BATCH_STATEMENT_WITHIN_MS),
    }),
    light: openPool(connection, {
      ...pages,
      max: CONNECTIONS.pages,
      name: 'dashboard',
      ...(options.pageWaitMs === undefined ? {} : { waitMs: options.pageWaitMs }),
    }),
    heavy: openPool(connection, {
      ...pages,
      max: CONNECTIONS.heavyPages,
      name: 'dashboard_heavy',
      waitMs: HEAVY_WAIT_MS,
    }),
  };
}

function prioritiesOf(
  options: DatabaseOptions,
  pools: Pools,
  isDistributed: boolean,
): Record<keyof Pools, StatementPool> {
  const { namedStatements: named = true, idleWithinMs = IDLE_WITHIN_MS } = options;
  const { statementWithinMs: withinMs = STATEMENT_WITHIN_MS } = options;
  const priority = {
    named,
    isDistributed,
    begin: beginOf(idleWithinMs, named ? null : withinMs),
    queryWithinMs: withinMs + CLIENT_WAITS_MORE_MS,
    cancelAfterMs: named ? null : withinMs,
  };
  return {
    work: { ...priority, pool: pools.work },
    batches: { ...priority, pool: pools.batches },
    light: { ...priority, pool: pools.light },
    heavy: { ...priority, pool: pools.heavy },
  };
}

/** An undeclared pooler rejects the startup option, with an error that does not mention DATABASE_URL. */
function explain(error: unknown): unknown {
  const text = error instanceof Error ? error.message : '';
  if (!text.includes('unsupported startup parameter')) return error;
  return new Error(
    `DATABASE_URL leads through a pooler (${text}). Set DATABASE_POOLER=transaction, and ADMIN_DATABASE_URL to the database itself`,
    { cause: error },
  );
}

function factsOf(name: string, { totalCount, idleCount, waitingCount }: pg.Pool): PoolFacts {
  return { name, total: totalCount, idle: idleCount, waiting: waitingCount };
}

/** Returns the same connections with a clock that is ahead of real time, to work in a project's own time. */
export function databaseAhead(db: Database, aheadMs: number): Database {
  const further = aheadMs - db.aheadMs;
  if (further === 0) return db;
  const forPages = (request: PageRequest): Database => databaseAhead(db.forPages(request), aheadMs);
  return { ...db, forPages, aheadMs, clock: { now: () => db.clock.now() + further } };
}

/** In one packet, and for this transaction only: behind a pooler another client uses the connection afterwards. */
function beginOf(idleWithinMs: number, statementWithinMs: number | null): string {
  const bound = statementWithinMs === null ? '' : `; SET LOCAL statement_timeout = ${statementWithinMs}`;
  return `BEGIN ISOLATION LEVEL READ COMMITTED;
    SET LOCAL idle_in_transaction_session_timeout = ${idleWithinMs}; SET LOCAL lock_timeout = ${LOCK_WITHIN_MS}${bound}`;
}

/** Subtracts half of the round trip, as NTP does. Both sides are real time, regardless of the caller's clock. */
async function measureOffset(db: Tx): Promise<number> {
  const before = systemClock.now();
  const rows = await db.query<{ ms: number }>(
    `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms`,
  );
  const after = systemClock.now();
  const offset = Math.round((rows[0]?.ms ?? after) - (before + after) / 2);
  // An offset smaller than the round trip cannot be measured, so it is not corrected.
  return Math.abs(offset) <= Math.max(5, after - before) ? 0 : offset;
}
