import type { Tx } from './statements.ts';

/**
 * How many connections a process opens at most. Who plans a database for several of them counts with these; they are opened when they
 * are needed, and closed after half a minute without work.
 */
export const CONNECTIONS = {
  /** For everything but batches and the dashboard: keys, rate limits, claims of background work, recipient pages. */
  pool: 8,
  /** Live and bulk flushes, the digest, the builder, the three commits of the sender, and some to spare while a broken one is replaced. */
  batches: 10,
  /** For dashboard requests: three by turns, two per project, and one for access checks and audit entries. */
  pages: 4,
  /** For dashboard requests whose cost depends on typed input or on the amount of stored data: three at a time, and three backtests. */
  heavyPages: 6,
  /** Of who answers requests: for sign-ins, past a pooler. */
  signIn: 4,
  /** Of a worker: it listens, past a pooler. */
  listener: 1,
} as const;

/** As many as whoever is no superuser may open in this database, all together. */
export async function connectionsAllowed(tx: Tx): Promise<number> {
  const rows = await tx.query<{ allowed: number }>(
    `SELECT sum(CASE name WHEN 'max_connections' THEN setting::int ELSE -setting::int END)::int AS allowed FROM pg_settings
     WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections')`,
  );
  return rows[0]?.allowed ?? 0;
}

type Need = { pooled: number; direct: number };

/** `direct`: past a pooler, to `ADMIN_DATABASE_URL`. */
export function connectionsOf(roles: ReadonlySet<string>): Need {
  const { pool, batches, pages, heavyPages, signIn, listener } = CONNECTIONS;
  const isApi = roles.has('api');
  return {
    pooled: pool + batches + (isApi ? pages + heavyPages : 0),
    direct: (isApi ? signIn : 0) + (roles.has('worker') ? listener : 0),
  };
}
