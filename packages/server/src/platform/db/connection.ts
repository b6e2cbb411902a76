import pg from 'pg';

/** Called for every new connection, because the embedded database may have restarted on another port. */
export type ConnectionSource = () => pg.ClientConfig;

export type PoolOptions = {
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

/** bigint columns contain ids, sequences and counts, all far below 2^53. A larger value is a bug and must not be rounded. */
const TYPES: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (oid === INT8 && format !== 'binary') return parseSafeInteger;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint out of range: ${text}`);
  return value;
}
