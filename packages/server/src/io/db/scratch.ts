import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { ConnectionSource } from './connection.ts';

export type Scratch = { connection: ConnectionSource; drop(): Promise<void> };

/** A database beside ours, empty, for work that nobody else may see or be in the way of; gone when it is dropped. */
export async function createScratch(admin: ConnectionSource): Promise<Scratch> {
  const name = `beckon_scratch_${randomBytes(6).toString('hex')}`;
  await once(admin, `CREATE DATABASE ${name}`).catch((error: unknown) => {
    throw new Error(
      'A database beside ours is needed for a while, and could not be made: the role needs CREATEDB',
      {
        cause: error,
      },
    );
  });
  return {
    connection: () => inDatabase(admin(), name),
    drop: () => once(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

function inDatabase(config: pg.ClientConfig, name: string): pg.ClientConfig {
  if (config.connectionString === undefined) return { ...config, database: name };
  const url = new URL(config.connectionString);
  url.pathname = name;
  return { ...config, connectionString: url.href };
}

async function once(admin: ConnectionSource, statement: string): Promise<void> {
  const client = new pg.Client(admin());
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
