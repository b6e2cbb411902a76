import pg from 'pg';
import { inject } from 'vitest';
import type { TestDatabase } from './database.ts';

/** Makes the database unavailable while `during` runs: it ends all connections and accepts no new ones. */
export async function withoutDatabase(database: TestDatabase, during: () => Promise<void>): Promise<void> {
  const name = new URL(database.url).pathname.slice(1);
  const admin = new pg.Client(inject('adminUrl'));
  await admin.connect();
  try {
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await throwOut(admin, name);
    await during();
  } finally {
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await admin.end();
  }
}

/** Waits until all connections have ended, because a terminated backend takes a moment. */
async function throwOut(admin: pg.Client, name: string): Promise<void> {
  for (let left = 1; left > 0;) {
    const { rowCount } = await admin.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
      [name],
    );
    left = rowCount ?? 0;
  }
}
