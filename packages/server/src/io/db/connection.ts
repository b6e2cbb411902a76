import pg from 'pg';

/** Asked anew for every connection: the embedded database may have come back on another port. */
export type ConnectionSource = () => pg.ClientConfig;

export type PoolOptions = {
  max: number;
  name: string;
  /** Statements are sent without waiting for the one before; the server takes them in order. */
  pipeline?: boolean;
  /** The client gives a statement up after this long. That ends nothing in the database. */
  queryWithinMs?: number;
  /** PostgreSQL cancels a statement after this long. It is a start-up option, which a pooler refuses: leave it out behind one. */
  statementWithinMs?: number | undefined;
  /** How long a caller waits for a connection while all of them are in use. */
  waitMs?: number;
};

/**
 * A peer that is gone without a word (a machine that lost its power, a firewall that forgot the connection) is asked after ten
 * seconds of silence; the system's own two hours would be ours.
 */
export const PEER = { connectionTimeoutMillis: 5_000, keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** A pool whose every new connection asks the source where the database is now. */
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
  // An idle connection that dies is thrown away by the pool; without a listener Node would end the process.
  pool.on('error', () => {});
  // And so would a connection that dies in its holder's hands; the holder learns of it by the next statement.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

const INT8 = 20;

/** bigint columns hold ids, sequences and counts, all far below 2^53; a value beyond it is a defect and must not be rounded. */
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
