import { Kysely, PostgresDialect, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../testing/factories/database.ts';
import { MIGRATIONS } from './migrations.ts';

/**
 * During a rolling release the previous release uses the schema of the new one. So a migration removes nothing, and adds no column or
 * constraint that statements of the previous release violate.
 */

/** Allowed exceptions, each with the reason why the previous release is not affected. */
const ALLOWED: Record<string, string> = {};

type Column = { name: string; type: string; required: boolean; withoutDefault: boolean };
type Schema = { columns: Map<string, Column>; constraints: Set<string>; tables: Set<string> };

async function emptyDatabase(): Promise<pg.Pool> {
  const testDb = await testDatabase('empty');
  const pool = new pg.Pool({ connectionString: testDb.url, max: 2 });
  // Dropping the database ends connections that are still closing.
  pool.on('error', () => undefined);
  onTestFinished(async () => {
    await pool.end();
    await testDb.drop();
  });
  return pool;
}

async function schemaAfter(pool: pg.Pool, migrations: Record<string, Migration>): Promise<Schema> {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  const provider = { getMigrations: () => Promise.resolve(migrations) };
  const { error } = await new Migrator({ db, provider, migrationTableSchema: 'beckon' }).migrateToLatest();
  if (error) throw error;
  const columns = await pool.query<Column & { table: string }>(
    `SELECT c.relname AS table, c.relname || '.' || a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
            a.attnotnull AS required, a.attnotnull AND NOT a.atthasdef AS "withoutDefault"
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE c.relnamespace = 'beckon'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relname NOT LIKE 'kysely%' AND a.attnum > 0 AND NOT a.attisdropped`,
  );
  const constraints = await pool.query<{ text: string }>(
    `SELECT c.relname || ' ' || pg_get_constraintdef(k.oid) AS text FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
     WHERE k.connamespace = 'beckon'::regnamespace AND k.contype IN ('c', 'f', 'x')
     UNION ALL
     SELECT t.relname || ' ' || regexp_replace(pg_get_indexdef(i.indexrelid), ' INDEX \\S+ ', ' ')
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
     WHERE t.relnamespace = 'beckon'::regnamespace AND i.indisunique AND NOT c.relispartition`,
  );
  return {
    columns: new Map(columns.rows.map((column) => [column.name, column])),
    constraints: new Set(constraints.rows.map(({ text }) => text)),
    tables: new Set(columns.rows.map(({ table }) => table)),
  };
}

function breakingChanges(before: Schema, after: Schema): string[] {
  const tableExisted = (name: string): boolean => before.tables.has(name.split(/[. ]/)[0] ?? '');
  const removed = [...before.columns.values()].flatMap(({ name, type, required }) => {
    const now = after.columns.get(name);
    if (!now) return [`${name} is removed`];
    if (now.type !== type) return [`${name} has another type`];
    return now.required && !required ? [`${name} is required`] : [];
  });
  const added = [...after.columns.values()]
    .filter(({ name, withoutDefault }) => !before.columns.has(name) && tableExisted(name) && withoutDefault)
    .map(({ name }) => `${name} is required`);
  const constrained = [...after.constraints].filter(
    (text) => !before.constraints.has(text) && tableExisted(text),
  );
  return [...removed, ...added, ...constrained];
}

/** Applies the migrations one by one, and lists the changes of each that may break the previous release. */
async function findBreaking(migrations: Record<string, Migration>): Promise<string[]> {
  const [baseline, ...later] = Object.entries(migrations);
  if (!baseline) return [];
  let applied = Object.fromEntries([baseline]);
  const pool = await emptyDatabase();
  let before = await schemaAfter(pool, applied);
  const found: string[] = [];
  for (const [name, migration] of later) {
    applied = { ...applied, [name]: migration };
    const after = await schemaAfter(pool, applied);
    found.push(...breakingChanges(before, after).map((change) => `${name}: ${change}`));
    before = after;
  }
  return found.toSorted();
}

const EXAMPLE = `
  CREATE TABLE beckon.example (project_id bigint PRIMARY KEY, size text NOT NULL);
  ALTER TABLE beckon.reply DROP COLUMN subject;
  ALTER TABLE beckon.ingest_queue_state ADD COLUMN color text NOT NULL, ADD COLUMN size text NOT NULL DEFAULT 'm', ADD COLUMN way text;
  ALTER TABLE beckon.ingest_queue_state ADD CONSTRAINT way_known CHECK (way IN ('in', 'out'));
  ALTER TABLE beckon.project ALTER COLUMN name TYPE varchar(10)`;

describe('MIGRATIONS', () => {
  test('leave the previous release working', async () => {
    expect(await findBreaking(MIGRATIONS)).toEqual(Object.keys(ALLOWED).toSorted());
  });
});

describe('findBreaking', () => {
  test('finds removed columns, changed types, required columns and new constraints of existing tables', async () => {
    const up = (tx: Kysely<unknown>) =>
      sql
        .raw(EXAMPLE)
        .execute(tx)
        .then(() => undefined);
    expect(await findBreaking({ ...MIGRATIONS, '9999-example': { up } })).toEqual([
      `9999-example: ingest_queue_state CHECK ((way = ANY (ARRAY['in'::text, 'out'::text])))`,
      '9999-example: ingest_queue_state.color is required',
      '9999-example: project.name has another type',
      '9999-example: reply.subject is removed',
    ]);
  });
});
