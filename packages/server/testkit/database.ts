import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import type { ConnectionSource } from '../src/io/db/index.ts';
import { inAdmin } from './global-setup.ts';

export type TestDatabase = { url: string; connection: ConnectionSource; drop(): Promise<void> };

/** A database of this test's own, cloned from the migrated template (`empty`: not even migrated). */
export async function testDatabase(kind: 'migrated' | 'empty' = 'migrated'): Promise<TestDatabase> {
  const name = `beckon_${randomBytes(6).toString('hex')}`;
  const adminUrl = inject('adminUrl');
  await inAdmin(
    adminUrl,
    `CREATE DATABASE ${name} ${kind === 'migrated' ? `TEMPLATE ${inject('template')}` : ''}`,
  );
  const url = new URL(adminUrl);
  url.pathname = name;
  return {
    url: url.href,
    connection: () => ({ connectionString: url.href }),
    drop: () => inAdmin(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}
