import type { Socket } from 'node:net';
import type pg from 'pg';
import { cancelOnAbort } from './cancel.ts';
import { isPoolTimeout, isReadOnly, NoConnection } from './errors.ts';
import { nameProject } from './name-project.ts';

export type Query = { name: string; text: string; values: unknown[] };

/** The query interface of a store: a transaction or, for a single statement, the database itself. */
export type Tx = {
  query<R extends object>(text: string, values?: unknown[]): Promise<R[]>;
  /** Runs a hot statement, which is parsed once per connection. */
  prepared<R extends object>(query: Query): Promise<R[]>;
  /** True if rows of two projects may be on two nodes: then locks, and writes in bulk, are about one project each. */
  readonly isDistributed?: boolean | undefined;
};

/** A connection whose holder controls the transaction. Statements sent without awaiting share a packet. */
export type Session = Tx & {
  /** Runs several statements without parameters in one round trip; returns the rows of the last. */
  script<R extends object>(text: string): Promise<R[]>;
  /** Sends the statements that the callback starts without awaiting in one packet: one wake-up of the database instead of three. */
  together<T>(start: () => T): T;
  release(broken?: boolean): void;
};

/** A pool, and the settings for statements on its connections. */
export type StatementPool = {
  pool: pg.Pool;
  /** False behind a pooler in transaction mode, where a named statement may reach another connection. */
  named: boolean;
  isDistributed: boolean;
  /** Begins a transaction and sets its bounds. */
  begin: string;
  /** The client stops waiting for a statement, single or in a transaction, after this long. */
  queryWithinMs: number;
  /** The client cancels a single statement after this long; null if PostgreSQL does, by `statement_timeout`. */
  cancelAfterMs: number | null;
  /** When it aborts, the running statement is canceled and no other begins. */
  signal?: AbortSignal | undefined;
  slots?: RequestSlots | undefined;
};

/** The turns of one request. Each turn allows it to take one connection. */
export type RequestSlots = {
  /** Waits for a turn and returns the function that ends it. */
  wait: () => Promise<() => void>;
  /** Transactions and sessions of the request that are open. */
  open: number;
};

export function statementsOf(priority: StatementPool): Tx {
  return {
    isDistributed: priority.isDistributed,
    query: (text, values) => single(priority, (tx) => tx.query(text, values)) as never,
    prepared: (query) => single(priority, (tx) => tx.prepared(query)) as never,
  };
}

async function single<T>(priority: StatementPool, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { client, release } = await checkOut(priority);
  const stop = priority.cancelAfterMs === null ? nothing : cancelAfter(client, priority.cancelAfterMs);
  let isBroken = true;
  try {
    const rows = await work(statementsOn(client, priority));
    isBroken = false;
    return rows;
  } finally {
    stop();
    release(isBroken);
  }
}

export async function inTransaction<T>(priority: StatementPool, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { client, release, keep } = await checkOutForLong(priority);
  try {
    await client.query(priority.begin);
    const result = await work(serialized(statementsOn(client, priority)));
    priority.signal?.throwIfAborted();
    // The outcome of the commit must be known, so nothing is canceled from here on.
    keep();
    await client.query('COMMIT');
    release(false);
    return result;
  } catch (error) {
    if (priority.signal?.aborted) {
      // The server rolls back when the connection closes.
      release(true);
      throw priority.signal.reason;
    }
    // After a failed rollback the state of the connection is unknown, so the pool must not reuse it.
    const broken = await client.query('ROLLBACK').then(
      () => false,
      () => true,
    );
    release(broken || isReadOnly(error));
    throw error;
  }
}

export async function openSession(
  priority: StatementPool,
  options?: { freshPlans: boolean },
): Promise<Session> {
  const { client, release } = await checkOutForLong(priority);
  if (options?.freshPlans) freshen(client);
  // Batches limit their statements themselves, and the pool sets the client's time limit for them.
  const { named, isDistributed, signal } = priority;
  const tx = statementsOn(client, { named, isDistributed, signal });
  return {
    ...tx,
    async script<R extends object>(text: string): Promise<R[]> {
      priority.signal?.throwIfAborted();
      // One statement returns one result, several return a list: node-postgres types only the first case.
      const results = [(await client.query(text)) as unknown].flat() as pg.QueryResult<R>[];
      return results.at(-1)?.rows ?? [];
    },
    together(start) {
      const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
      stream.cork();
      try {
        return start();
      } finally {
        stream.uncork();
      }
    },
    release: (broken = false) => release(broken),
  };
}

type Checkout = {
  client: pg.PoolClient;
  /** Call it once. The connection of an ended request is closed regardless of its state. */
  release: (isBroken: boolean) => void;
  /** Disables cancellation from now on. */
  keep: () => void;
};

/** A checkout during which the request may run other statements. */
async function checkOutForLong(priority: StatementPool): Promise<Checkout> {
  const checkout = await checkOut(priority);
  const { slots } = priority;
  if (!slots) return checkout;
  slots.open += 1;
  return {
    ...checkout,
    release(isBroken) {
      slots.open -= 1;
      checkout.release(isBroken);
    },
  };
}

async function checkOut({ pool, signal, slots }: StatementPool): Promise<Checkout> {
  signal?.throwIfAborted();
  // A request with an open transaction never waits for another turn, because two such requests would wait for each other.
  const leave = slots && slots.open === 0 ? await slots.wait() : nothing;
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    leave();
    throw isPoolTimeout(error) ? new NoConnection(error) : error;
  }
  const keep = signal ? cancelOnAbort(client, signal) : nothing;
  function release(isBroken: boolean): void {
    keep();
    client.release(isBroken || signal?.aborted === true);
    leave();
  }
  // The signal may have aborted while all connections were in use.
  if (signal?.aborted) {
    release(false);
    throw signal.reason;
  }
  return { client, release, keep };
}

function nothing(): void {}

function cancelAfter(client: pg.PoolClient, ms: number): () => void {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ms);
  const stop = cancelOnAbort(client, late.signal);
  return () => {
    clearTimeout(timer);
    stop();
  };
}

type StatementOptions = Pick<StatementPool, 'named' | 'isDistributed' | 'signal'> & {
  queryWithinMs?: number;
};

function statementsOn(
  client: pg.PoolClient,
  { named, isDistributed, queryWithinMs, signal }: StatementOptions,
): Tx {
  async function run<R extends object>(query: {
    name?: string;
    text: string;
    values?: unknown[];
  }): Promise<R[]> {
    signal?.throwIfAborted();
    const statement = isDistributed ? nameProject(query) : query;
    try {
      const { rows } = await client.query<R>({
        ...statement,
        query_timeout: queryWithinMs,
      } as pg.QueryConfig);
      return rows;
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  }
  return {
    isDistributed,
    query: (text, values) => run(values === undefined ? { text } : { text, values }) as never,
    prepared: ({ name, text, values }) => run(named ? { name, text, values } : { text, values }) as never,
  };
}

/** Sends concurrent statements one after the other, because a connection without pipelining accepts only one at a time. */
function serialized(tx: Tx): Tx {
  let last: Promise<unknown> = Promise.resolve();
  function enqueue<T>(statement: () => Promise<T>): Promise<T> {
    const result = last.then(statement, statement);
    last = result.catch(() => {});
    return result;
  }
  return {
    isDistributed: tx.isDistributed,
    query: (text, values) => enqueue(() => tx.query(text, values)) as never,
    prepared: (query) => enqueue(() => tx.prepared(query)) as never,
  };
}

const PLANS_GOOD_FOR_MS = 10_000;
const plannedAt = new WeakMap<pg.PoolClient, number>();

/**
 * A cached plan fits the tables as they were when it was made. On the first day they were empty, and every index looked equally good.
 * Planning a dozen statements again costs a millisecond or two.
 */
function freshen(client: pg.PoolClient): void {
  const now = performance.now();
  if (now - (plannedAt.get(client) ?? -Infinity) < PLANS_GOOD_FOR_MS) return;
  plannedAt.set(client, now);
  // It precedes the next statement. A connection that cannot run it cannot run that one either.
  client.query('DISCARD PLANS').catch(() => {});
}
