import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { ConnectionSource } from './connections.ts';

export type Scratch = { connection: ConnectionSource; drop(): Promise<void> };

const PREFIX = 'beckon_scratch_';
const LEFT_AFTER_MS = 86_400_000;

/**
 * Creates an empty database beside ours, for work that must be isolated; `drop` deletes it. A database left by a killed process is dropped
 * with the next creation after a day: its name contains its creation time.
 */
export async function createScratch(admin: ConnectionSource, now: number): Promise<Scratch> {
  await dropLeft(admin, now);
  const name = `${PREFIX}${now}_${randomBytes(6).toString('hex')}`;
  await once(admin, `CREATE DATABASE ${name}`).catch((error: unknown) => {
    throw new Error('A temporary database could not be created. The role needs CREATEDB', {
      cause: error,
    });
  });
  return {
    connection: () => inDatabase(admin(), name),
    drop: async () => void (await once(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

async function dropLeft(admin: ConnectionSource, now: number): Promise<void> {
  const rows = await once<{ name: string }>(
    admin,
    `SELECT datname AS name FROM pg_database d WHERE starts_with(datname, '${PREFIX}')
     AND NOT EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.datid = d.oid)`,
  );
  for (const { name } of rows) {
    const madeAt = Number(/^beckon_scratch_(\d+)_/.exec(name)?.[1]);
    // On a shared server, a database of another installation is for its owner to drop.
    if (madeAt < now - LEFT_AFTER_MS)
      await once(admin, `DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)}`).catch(() => {});
  }
}

function inDatabase(config: pg.ClientConfig, name: string): pg.ClientConfig {
  if (config.connectionString === undefined) return { ...config, database: name };
  const url = new URL(config.connectionString);
  url.pathname = name;
  return { ...config, connectionString: url.href };
}

async function once<R extends pg.QueryResultRow>(admin: ConnectionSource, statement: string): Promise<R[]> {
  const client = new pg.Client(admin());
  await client.connect();
  try {
    return (await client.query<R>(statement)).rows;
  } finally {
    await client.end();
  }
}
