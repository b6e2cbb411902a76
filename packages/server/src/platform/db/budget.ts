import type { Tx } from './statements.ts';

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
