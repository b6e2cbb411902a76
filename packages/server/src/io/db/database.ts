import type { Socket } from 'node:net';
import type pg from 'pg';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { Reach } from '../../base/crash-points.ts';
import type { Log } from '../../base/log.ts';
import { CONNECTIONS } from './budget.ts';
import { type ConnectionSource, openPool } from './connection.ts';
import { isReadOnly } from './errors.ts';

export type Query = { name: string; text: string; values: unknown[] };

/** What a store needs: inside a transaction or, for a single statement, the database itself. */
export type Tx = {
  query<R extends object>(text: string, values?: unknown[]): Promise<R[]>;
  /** A hot statement: parsed once a connection. */
  prepared<R extends object>(query: Query): Promise<R[]>;
};

/** A connection whose transaction its holder conducts by hand; what is asked without waiting travels together. */
export type Session = Tx & {
  /** Several statements in one round trip, without parameters; the rows of the last. */
  script<R extends object>(text: string): Promise<R[]>;
  /** What is asked inside, without waiting, leaves in one packet: a wake-up of the database instead of three. */
  together<T>(ask: () => T): T;
  release(broken?: boolean): void;
};

export type Database = Tx & {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** `freshPlans`: no statement of it is run by a plan that was made long ago, when tables may have been small. */
  session(options?: { freshPlans: boolean }): Promise<Session>;
  /** The clock given, moved by what the database's clock says, so that all processes agree on the time. */
  clock: Clock;
  /** How far that clock is moved ahead besides, for a project whose time is not the real one; 0 everywhere else. */
  aheadMs: number;
  /** How far this machine's clock is from the database's; null before the first measurement. */
  offsetMs(): number | null;
  /** Told how far its transactions have come, for who tests what becomes of one that comes no further. */
  reach?: Reach | undefined;
  /** How many connections there are, and who waits for one. */
  pools(): PoolFacts[];
  close(): Promise<void>;
};

export type PoolFacts = { name: string; total: number; idle: number; waiting: number };

export type DatabaseOptions = {
  connection: ConnectionSource;
  clock: Clock;
  log: Log;
  /** Connections for everything but the accept flushes, which have their own. */
  poolMax?: number;
  /** False behind a pooler in transaction mode, where a named statement may meet another connection. */
  namedStatements?: boolean;
  /** After so long without a statement a transaction is over, and what it held is free. */
  idleWithinMs?: number;
  reach?: Reach | undefined;
};

const OFFSET_EVERY_MS = 30_000;
/** No statement outside the flushes takes a second; one that hangs must not keep its connection for ever. */
const QUERY_WITHIN_MS = 10_000;
/** Whoever stands still, or is gone without a word, must not keep a turn or a lane: nothing of ours is done so long between two statements. */
const IDLE_WITHIN_MS = 10_000;
/** Less than the statement's own, so that the database says what it was that took so long. */
const LOCK_WITHIN_MS = 9_000;
/** Batches ask for thirty seconds themselves (`statement_timeout`). A server that is gone without a word keeps to no limit. */
const BATCH_QUERY_WITHIN_MS = 40_000;

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const pool = openPool(options.connection, {
    max: options.poolMax ?? CONNECTIONS.pool,
    name: 'pool',
    queryWithinMs: QUERY_WITHIN_MS,
  });
  const sessions = openPool(options.connection, {
    max: CONNECTIONS.batches,
    name: 'accept',
    pipeline: true,
    queryWithinMs: BATCH_QUERY_WITHIN_MS,
  });
  const named = options.namedStatements ?? true;
  const wrap = (client: pg.Pool | pg.PoolClient): Tx => queries(client, named);
  const begin = beginOf(options.idleWithinMs ?? IDLE_WITHIN_MS);
  const plannedAt = new WeakMap<pg.PoolClient, number>();
  let offsetMs: number | null = null;
  const measure = async (): Promise<void> => {
    offsetMs = await measureOffset(wrap(pool));
  };
  const timer = setInterval(() => {
    measure().catch((error: unknown) => options.log.warn({ err: error }, 'database.clock_unknown'));
  }, OFFSET_EVERY_MS);
  timer.unref();
  try {
    await measure();
  } catch (error) {
    clearInterval(timer);
    await Promise.all([pool.end(), sessions.end()]);
    throw error;
  }
  return {
    ...wrap(pool),
    transaction: async (work) => inTransaction(await pool.connect(), work, { begin, wrap }),
    async session(wanted) {
      const client = await sessions.connect();
      if (wanted?.freshPlans) freshen(client, plannedAt);
      return openSession(client, wrap);
    },
    clock: { now: () => options.clock.now() + (offsetMs ?? 0) },
    aheadMs: 0,
    reach: options.reach,
    offsetMs: () => offsetMs,
    pools: () => [factsOf('everything', pool), factsOf('batches', sessions)],
    async close() {
      clearInterval(timer);
      await Promise.all([pool.end(), sessions.end()]);
    },
  };
}

function factsOf(name: string, { totalCount, idleCount, waitingCount }: pg.Pool): PoolFacts {
  return { name, total: totalCount, idle: idleCount, waiting: waitingCount };
}

/** The same connections, with a clock that is so far ahead of real time: what is done by it is done in a project's own time. */
export function movedAhead(db: Database, aheadMs: number): Database {
  const further = aheadMs - db.aheadMs;
  return further === 0 ? db : { ...db, aheadMs, clock: { now: () => db.clock.now() + further } };
}

function queries(client: pg.Pool | pg.PoolClient, named: boolean): Tx {
  return {
    async query<R extends object>(text: string, values?: unknown[]): Promise<R[]> {
      const result = await client.query<R>(text, values);
      return result.rows;
    },
    async prepared<R extends object>(query: Query): Promise<R[]> {
      const result = await client.query<R>(named ? query : { text: query.text, values: query.values });
      return result.rows;
    },
  };
}

/** In one packet, and for this transaction alone: behind a pooler the connection is somebody else's afterwards. */
function beginOf(idleWithinMs: number): string {
  return `BEGIN ISOLATION LEVEL READ COMMITTED;
    SET LOCAL idle_in_transaction_session_timeout = ${idleWithinMs}; SET LOCAL lock_timeout = ${LOCK_WITHIN_MS}`;
}

async function inTransaction<T>(
  client: pg.PoolClient,
  work: (tx: Tx) => Promise<T>,
  { begin, wrap }: { begin: string; wrap: (client: pg.PoolClient) => Tx },
): Promise<T> {
  try {
    await client.query(begin);
    const result = await work(oneByOne(wrap(client)));
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    // A rollback that fails means a connection in an unknown state: the pool must not hand it out again.
    const broken = await client.query('ROLLBACK').then(
      () => false,
      () => true,
    );
    client.release(broken || isReadOnly(error));
    throw error;
  }
}

/** What is asked at once leaves one behind the other: a connection that is no pipeline takes no second statement. */
function oneByOne(tx: Tx): Tx {
  let last: Promise<unknown> = Promise.resolve();
  function queued<T>(ask: () => Promise<T>): Promise<T> {
    const answer = last.then(ask, ask);
    last = answer.catch(() => {});
    return answer;
  }
  return {
    query: (text, values) => queued(() => tx.query(text, values)) as never,
    prepared: (query) => queued(() => tx.prepared(query)) as never,
  };
}

const PLANS_GOOD_FOR_MS = 10_000;

/**
 * A plan that is kept was made for the tables as they were: on the first day they were empty, and then every index looks
 * as good as any other. To make a dozen plans anew costs a millisecond or two.
 */
function freshen(client: pg.PoolClient, plannedAt: WeakMap<pg.PoolClient, number>): void {
  const now = performance.now();
  if (now - (plannedAt.get(client) ?? -Infinity) < PLANS_GOOD_FOR_MS) return;
  plannedAt.set(client, now);
  // It leaves in front of whatever comes next; a connection that cannot do this cannot do that either.
  client.query('DISCARD PLANS').catch(() => {});
}

function openSession(client: pg.PoolClient, wrap: (client: pg.PoolClient) => Tx): Session {
  return {
    ...wrap(client),
    async script<R extends object>(text: string): Promise<R[]> {
      // One statement gives one result, several give a list: node-postgres types only the first case.
      const results = [(await client.query(text)) as unknown].flat() as pg.QueryResult<R>[];
      return results.at(-1)?.rows ?? [];
    },
    together(ask) {
      const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
      stream.cork();
      try {
        return ask();
      } finally {
        stream.uncork();
      }
    },
    release: (broken = false) => client.release(broken),
  };
}

/** Half the round trip is taken off, as NTP does; both sides are real time, whatever clock the caller holds. */
async function measureOffset(db: Tx): Promise<number> {
  const before = systemClock.now();
  const rows = await db.query<{ ms: number }>(
    `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms`,
  );
  const after = systemClock.now();
  const offset = Math.round((rows[0]?.ms ?? after) - (before + after) / 2);
  // Within what a round trip can hide there is nothing to correct.
  return Math.abs(offset) <= Math.max(5, after - before) ? 0 : offset;
}
