import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../time/clock.ts';
import { silentLog } from '../log.ts';
import { testDatabase } from '../../../testing/factories/database.ts';
import { dumpSchema } from '../../../testing/oracles/schema-dump.ts';
import { openDatabase } from '../db/database.ts';

const SCHEMA_FILE = new URL('../../../schema.sql', import.meta.url);

const testDb = await testDatabase();
const db = await openDatabase({ connection: testDb.connection, clock: systemClock, log: silentLog });
afterAll(async () => {
  await db.close();
  await testDb.drop();
});

/** Tables not keyed by project: `api_key` is looked up before its project is known, and the others belong to the whole database. */
const NOT_BY_PROJECT = new Map([
  ['api_key', 'last4'],
  ['installation', 'only_row'],
  ['database_timeline', 'system_id'],
  ['suppression_key', 'only_row'],
]);

const OURS = `n.nspname = 'beckon' AND c.relname NOT LIKE 'kysely%'`;
/** Members belong to organizations: their tables are not tenant tables, and refer only to each other. */
const OF_TENANTS = `${OURS} AND c.relname NOT LIKE 'team\\_%'`;

test('schema.sql equals the schema that the migrations create', async () => {
  const dump = await dumpSchema(testDb.url);
  if (process.env.UPDATE_SCHEMA) await writeFile(SCHEMA_FILE, dump);
  expect(await readFile(SCHEMA_FILE, 'utf8')).toBe(dump);
});

test('every primary key and unique index begins with project_id', async () => {
  const indexes = await db.query<{ table: string; first: string }>(
    `SELECT c.relname AS table, a.attname AS first FROM pg_index i
     JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
     WHERE ${OF_TENANTS} AND i.indisunique`,
  );
  expect(indexes.length).toBeGreaterThan(5);
  for (const { table, first } of indexes)
    expect([table, first]).toEqual([table, NOT_BY_PROJECT.get(table) ?? 'project_id']);
});

test('every table has a primary key, and project_id is a bigint that is never null', async () => {
  const tables = await db.query<{
    table: string;
    keyed: boolean;
    type: string | null;
    required: boolean | null;
  }>(
    `SELECT c.relname AS table, a.attnotnull AS required, format_type(a.atttypid, NULL) AS type,
            EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary) AS keyed
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project_id'
     WHERE ${OF_TENANTS} AND c.relkind IN ('r', 'p')`,
  );
  for (const { table, keyed, type, required } of tables) {
    const expected = ['installation', 'database_timeline', 'suppression_key'].includes(table)
      ? [null, null]
      : ['bigint', true];
    expect([table, keyed, type, required]).toEqual([table, true, ...expected]);
  }
});

test('no trigger, rule or view contains hidden logic', async () => {
  const hidden = await db.query(
    `SELECT t.tgname AS name FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE ${OURS} AND NOT t.tgisinternal
     UNION ALL SELECT r.rulename FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE ${OURS}`,
  );
  expect(hidden).toEqual([]);
});

test('foreign keys stay inside the tenant: both sides begin with project_id, and no local table has one', async () => {
  const keys = await db.query<{ name: string; from: string; to: string; action: string }>(
    `SELECT k.conname AS name, a.attname AS from, b.attname AS to, k.confdeltype AS action
     FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
     JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[1]
     WHERE ${OF_TENANTS} AND k.contype = 'f'`,
  );
  for (const key of keys) {
    expect(key).toMatchObject({ from: 'project_id', to: 'project_id' });
    // SET NULL and SET DEFAULT would touch project_id.
    expect(['a', 'r', 'c']).toContain(key.action);
  }
});

test('compares text byte by byte, like JavaScript', async () => {
  const loose = await db.query(
    `SELECT c.relname AS table, a.attname AS column FROM pg_attribute a
     JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_collation l ON l.oid = a.attcollation
     WHERE ${OURS} AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND a.attcollation <> 0 AND l.collname <> 'C'`,
  );
  expect(loose).toEqual([]);
});
