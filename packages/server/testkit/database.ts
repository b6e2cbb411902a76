import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import type { ConnectionSource } from '../src/io/db/index.ts';
import { TEMPLATE } from './global-setup.ts';

export type TestDatabase = { url: string; connection: ConnectionSource; drop(): Promise<void> };

/** A database of this test's own, cloned from the migrated template (`empty`: not even migrated). */
export async function testDatabase(kind: 'migrated' | 'empty' = 'migrated'): Promise<TestDatabase> {
  const name = `beckon_${randomBytes(6).toString('hex')}`;
  await admin(`CREATE DATABASE ${name} ${kind === 'migrated' ? `TEMPLATE ${TEMPLATE}` : ''}`);
  const url = new URL(inject('adminUrl'));
  url.pathname = name;
  return {
    url: url.href,
    connection: () => ({ connectionString: url.href }),
    drop: () => admin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function admin(statement: string): Promise<void> {
  const client = new pg.Client(inject('adminUrl'));
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
