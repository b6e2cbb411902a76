import type { Socket } from 'node:net';
import type pg from 'pg';
import { cancelOnAbort } from './cancel.ts';
import { isPoolTimeout, isReadOnly, NoConnection } from './errors.ts';

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

/** A pool, and how statements are run on its connections. */
export type Priority = {
  pool: pg.Pool;
  /** False behind a pooler in transaction mode, where a named statement may meet another connection. */
  named: boolean;
  /** Begins a transaction and sets its bounds. */
  begin: string;
  /** The client gives a single statement, or one of a transaction, up after this long. */
  queryWithinMs: number;
  /** The client cancels a single statement after this long; null where PostgreSQL does, by `statement_timeout`. */
  cancelAfterMs: number | null;
  /** When it is given, the running statement is canceled and no other begins. */
  signal?: AbortSignal | undefined;
  turns?: Turns | undefined;
};

/** The turns of one request, each of which allows it to take one connection. */
export type Turns = {
  /** Waits for a turn and returns the function that ends it. */
  wait: () => Promise<() => void>;
  /** Transactions and sessions of the request that are open. */
  open: number;
};

export function statementsOf(priority: Priority): Tx {
  return {
    query: (text, values) => single(priority, (tx) => tx.query(text, values)) as never,
    prepared: (query) => single(priority, (tx) => tx.prepared(query)) as never,
  };
}

async function single<T>(priority: Priority, ask: (tx: Tx) => Promise<T>): Promise<T> {
  const { client, release } = await checkOut(priority);
  const stop = priority.cancelAfterMs === null ? nothing : cancelAfter(client, priority.cancelAfterMs);
  let isBroken = true;
  try {
    const rows = await ask(statementsOn(client, priority));
    isBroken = false;
    return rows;
  } finally {
    stop();
    release(isBroken);
  }
}

export async function inTransaction<T>(priority: Priority, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { client, release, keep } = await checkOutForLong(priority);
  try {
    await client.query(priority.begin);
    const result = await work(oneByOne(statementsOn(client, priority)));
    priority.signal?.throwIfAborted();
    // From here on the outcome has to be known, so nothing is canceled.
    keep();
    await client.query('COMMIT');
    release(false);
    return result;
  } catch (error) {
    if (priority.signal?.aborted) {
      // The server rolls back when the connection is gone.
      release(true);
      throw priority.signal.reason;
    }
    // A rollback that fails means a connection in an unknown state: the pool must not hand it out again.
    const broken = await client.query('ROLLBACK').then(
      () => false,
      () => true,
    );
    release(broken || isReadOnly(error));
    throw error;
  }
}

export async function openSession(priority: Priority, options?: { freshPlans: boolean }): Promise<Session> {
  const { client, release } = await checkOutForLong(priority);
  if (options?.freshPlans) freshen(client);
  // Batches bound their statements themselves, and the pool has the client's patience for them.
  const tx = statementsOn(client, { named: priority.named, signal: priority.signal });
  return {
    ...tx,
    async script<R extends object>(text: string): Promise<R[]> {
      priority.signal?.throwIfAborted();
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
    release: (broken = false) => release(broken),
  };
}

type Checkout = {
  client: pg.PoolClient;
  /** Once. A connection of a request that has ended is closed, whatever its state. */
  release: (isBroken: boolean) => void;
  /** Nothing is canceled from now on. */
  keep: () => void;
};

/** A checkout during which the request may run other statements. */
async function checkOutForLong(priority: Priority): Promise<Checkout> {
  const checkout = await checkOut(priority);
  const { turns } = priority;
  if (!turns) return checkout;
  turns.open += 1;
  return {
    ...checkout,
    release(isBroken) {
      turns.open -= 1;
      checkout.release(isBroken);
    },
  };
}

async function checkOut({ pool, signal, turns }: Priority): Promise<Checkout> {
  signal?.throwIfAborted();
  // A request with an open transaction never waits for another turn: two such requests would wait for each other.
  const leave = turns && turns.open === 0 ? await turns.wait() : nothing;
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
  // The signal may have been given while all connections were in use.
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

type On = { named: boolean; queryWithinMs?: number; signal?: AbortSignal | undefined };

function statementsOn(client: pg.PoolClient, { named, queryWithinMs, signal }: On): Tx {
  async function ask<R extends object>(query: {
    name?: string;
    text: string;
    values?: unknown[];
  }): Promise<R[]> {
    signal?.throwIfAborted();
    try {
      const { rows } = await client.query<R>({ ...query, query_timeout: queryWithinMs } as pg.QueryConfig);
      return rows;
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  }
  return {
    query: (text, values) => ask(values === undefined ? { text } : { text, values }) as never,
    prepared: ({ name, text, values }) => ask(named ? { name, text, values } : { text, values }) as never,
  };
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
const plannedAt = new WeakMap<pg.PoolClient, number>();

/**
 * A plan that is kept was made for the tables as they were: on the first day they were empty, and then every index looks
 * as good as any other. To make a dozen plans anew costs a millisecond or two.
 */
function freshen(client: pg.PoolClient): void {
  const now = performance.now();
  if (now - (plannedAt.get(client) ?? -Infinity) < PLANS_GOOD_FOR_MS) return;
  plannedAt.set(client, now);
  // It leaves in front of whatever comes next; a connection that cannot do this cannot do that either.
  client.query('DISCARD PLANS').catch(() => {});
}
