import pg from 'pg';
import type { Tx } from './statements.ts';
import { parseJson } from '../text/parse-json.ts';

/**
 * The maximum number of connections that a process opens. Use them to size a database for several processes. Connections open on demand,
 * and close after 30 seconds without use.
 */
export const CONNECTIONS = {
  /** For everything but batches and the dashboard: keys, rate limits, claims of background work, recipient pages. */
  pool: 8,
  /**
   * Live and bulk flushes, processing, the draft builder, the three commits of the sender, and some spare ones while a broken connection is
   * replaced.
   */
  batches: 10,
  /** The same in a distributed database, where live records of the projects are flushed by eight flushers. */
  batchesDistributed: 17,
  /** For dashboard requests: three by round-robin, two per project, and one for access checks and audit entries. */
  pages: 4,
  /** For dashboard requests whose cost depends on typed input or on the amount of stored data: three at a time, and three backtests. */
  heavyPages: 6,
  /** For sign-ins, in a process that serves requests; bypasses a pooler. */
  signIn: 4,
  /** For the listener of a worker; bypasses a pooler. */
  listener: 1,
} as const;

/** Returns the number of connections that all non-superusers together may open in this database. */
export async function connectionsAllowed(tx: Tx): Promise<number> {
  const rows = await tx.query<{ allowed: number }>(
    `SELECT sum(CASE name WHEN 'max_connections' THEN setting::int ELSE -setting::int END)::int AS allowed FROM pg_settings
     WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections')`,
  );
  return rows[0]?.allowed ?? 0;
}

type Need = { pooled: number; direct: number };

/** `direct`: connections that bypass a pooler, to `ADMIN_DATABASE_URL`. */
export function connectionsOf(roles: ReadonlySet<string>): Need {
  const { pool, batches, pages, heavyPages, signIn, listener } = CONNECTIONS;
  const isApi = roles.has('api');
  return {
    pooled: pool + batches + (isApi ? pages + heavyPages : 0),
    direct: (isApi ? signIn : 0) + (roles.has('worker') ? listener : 0),
  };
}

/** Called for every new connection, because the embedded database may have restarted on another port. */
export type ConnectionSource = () => pg.ClientConfig;

type PoolOptions = {
  max: number;
  name: string;
  /** Sends statements without waiting for the previous one; the server executes them in order. */
  pipeline?: boolean;
  /** The client stops waiting for a statement after this long. That does not end it in the database. */
  queryWithinMs?: number;
  /** PostgreSQL cancels a statement after this long. It is a startup option, which a pooler rejects: omit it behind one. */
  statementWithinMs?: number | undefined;
  /** The time that a caller waits for a connection while all of them are in use. */
  waitMs?: number;
};

/**
 * Probes a silent peer after ten seconds, because it may have vanished (a host lost power, a firewall dropped the connection). The default
 * of the system would be two hours.
 */
export const PEER = { connectionTimeoutMillis: 5_000, keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** Opens a pool that gets the address of the database from the source for every new connection. */
export function openPool(source: ConnectionSource, options: PoolOptions): pg.Pool {
  class Client extends pg.Client {
    constructor() {
      super({
        ...source(),
        application_name: `beckon ${options.name}`,
        ...PEER,
        types: TYPES,
        pipeline: options.pipeline ?? false,
        query_timeout: options.queryWithinMs,
        ...(options.statementWithinMs === undefined ? {} : { statement_timeout: options.statementWithinMs }),
      });
    }
  }
  const pool = new pg.Pool({
    Client: Client as unknown as typeof pg.Client,
    max: options.max,
    idleTimeoutMillis: 30_000,
    connectionTimeoutMillis: options.waitMs ?? PEER.connectionTimeoutMillis,
  });
  // The pool discards an idle connection that fails. Without a listener Node.js would end the process.
  pool.on('error', () => {});
  // The same holds for a connection that fails while in use; its holder learns it from the next statement.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

const INT8 = 20;
const JSON_TEXT = 114;
const JSONB = 3802;

/** bigint columns contain ids, sequences and counts, all far below 2^53. A larger value is a bug and must not be rounded. */
const TYPES: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (oid === INT8 && format !== 'binary') return parseSafeInteger;
    if ((oid === JSON_TEXT || oid === JSONB) && format !== 'binary') return parseJson;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint out of range: ${text}`);
  return value;
}
