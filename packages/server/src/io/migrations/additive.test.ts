import { Kysely, PostgresDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../testkit/database.ts';
import { MIGRATIONS } from './index.ts';

/**
 * While a release goes out the one before it works on the schema of the new one. So a migration takes nothing away that there was,
 * and demands nothing that the code before it does not give.
 */
const SINCE = '0014';

/** What a migration demands or takes away all the same, each with why nobody before it is in its way. */
const NAMED: Record<string, string> = {
  '0016-sandbox: digest_turn CHECK ((ahead_ms >= 0))': 'of a column of its own, which begins with 0',
  '0016-sandbox: project CHECK (((sandbox_of IS NULL) OR (NOT livemode)))':
    'of a column of its own, which the release before leaves out',
  '0016-sandbox: tenant_due CHECK ((ahead_ms >= 0))': 'of a column of its own, which begins with 0',
  "0031-erased-addresses: suppression CHECK (((kind = ANY (ARRAY['address'::text, 'person'::text])) OR (value ~ '^[0-9a-f]{64}$'::text)))":
    'of kinds of its own, which the release before does not write',
  "0031-erased-addresses: suppression CHECK ((kind = ANY (ARRAY['address'::text, 'person'::text, 'address_hash'::text, 'person_hash'::text])))":
    'allows more than before',
  "0031-erased-addresses: suppression_lift CHECK ((kind = ANY (ARRAY['address'::text, 'person'::text, 'address_hash'::text, 'person_hash'::text])))":
    'allows more than before',
  "0031-erased-addresses: topic_refusal CHECK (((kind = ANY (ARRAY['address'::text, 'person'::text])) OR (value ~ '^[0-9a-f]{64}$'::text)))":
    'of kinds of its own, which the release before does not write',
  "0031-erased-addresses: topic_refusal CHECK ((kind = ANY (ARRAY['address'::text, 'person'::text, 'address_hash'::text, 'person_hash'::text])))":
    'allows more than before',
};

type Column = { place: string; type: string; must: boolean; alone: boolean };
type Schema = { columns: Map<string, Column>; demands: Set<string>; tables: Set<string> };

const own = await testDatabase('empty');
const pool = new pg.Pool({ connectionString: own.url, max: 2 });
// What is still closing its connections when the database is dropped hears of that, and fails nothing.
pool.on('error', () => undefined);
const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
afterAll(async () => {
  await db.destroy();
  await own.drop();
});

async function migrateUpTo(names: string[]): Promise<Schema> {
  const some = Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => names.includes(name)));
  const provider = { getMigrations: () => Promise.resolve(some) };
  const { error } = await new Migrator({ db, provider, migrationTableSchema: 'beckon' }).migrateToLatest();
  if (error) throw error;
  const columns = await pool.query<Column & { table: string }>(
    `SELECT c.relname AS table, c.relname || '.' || a.attname AS place, format_type(a.atttypid, a.atttypmod) AS type,
            a.attnotnull AS must, a.attnotnull AND NOT a.atthasdef AS alone
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE c.relnamespace = 'beckon'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relname NOT LIKE 'kysely%' AND a.attnum > 0 AND NOT a.attisdropped`,
  );
  const demands = await pool.query<{ demand: string }>(
    `SELECT c.relname || ' ' || pg_get_constraintdef(k.oid) AS demand FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
     WHERE k.connamespace = 'beckon'::regnamespace AND k.contype IN ('c', 'f', 'x')
     UNION ALL
     SELECT t.relname || ' ' || regexp_replace(pg_get_indexdef(i.indexrelid), ' INDEX \\S+ ', ' ')
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
     WHERE t.relnamespace = 'beckon'::regnamespace AND i.indisunique AND NOT c.relispartition`,
  );
  return {
    columns: new Map(columns.rows.map((column) => [column.place, column])),
    demands: new Set(demands.rows.map(({ demand }) => demand)),
    tables: new Set(columns.rows.map(({ table }) => table)),
  };
}

function strange(before: Schema, after: Schema): string[] {
  const isOld = (place: string): boolean => before.tables.has(place.split(/[. ]/)[0] ?? '');
  const taken = [...before.columns.values()].flatMap(({ place, type, must }) => {
    const now = after.columns.get(place);
    if (!now) return [`${place} is gone`];
    if (now.type !== type) return [`${place} is another type`];
    return now.must && !must ? [`${place} must be given now`] : [];
  });
  const added = [...after.columns.values()]
    .filter(({ place, alone }) => !before.columns.has(place) && isOld(place) && alone)
    .map(({ place }) => `${place} must be given`);
  const demanded = [...after.demands].filter((demand) => !before.demands.has(demand) && isOld(demand));
  return [...taken, ...added, ...demanded];
}

test('a migration takes away nothing and demands nothing, so that the release before goes on working', async () => {
  const names = Object.keys(MIGRATIONS);
  const first = names.findIndex((name) => name.startsWith(SINCE));
  let before = await migrateUpTo(names.slice(0, first));
  const found: string[] = [];
  for (let at = first; at < names.length; at += 1) {
    const after = await migrateUpTo(names.slice(0, at + 1));
    found.push(...strange(before, after).map((what) => `${names[at]}: ${what}`));
    before = after;
  }
  expect(found.toSorted()).toEqual(Object.keys(NAMED));
}, 60_000);

test('what takes away and what demands is seen', async () => {
  const before = await migrateUpTo(Object.keys(MIGRATIONS));
  await pool.query(`
    ALTER TABLE beckon.reply DROP COLUMN subject;
    ALTER TABLE beckon.lane ADD COLUMN colour text NOT NULL, ADD COLUMN size text NOT NULL DEFAULT 'm', ADD COLUMN way text;
    ALTER TABLE beckon.lane ADD CONSTRAINT way_known CHECK (way IN ('in', 'out'));
    ALTER TABLE beckon.project ALTER COLUMN name TYPE varchar(10)`);
  const after = await migrateUpTo(Object.keys(MIGRATIONS));
  expect(strange(before, after).toSorted()).toEqual([
    `lane CHECK ((way = ANY (ARRAY['in'::text, 'out'::text])))`,
    'lane.colour must be given',
    'project.name is another type',
    'reply.subject is gone',
  ]);
});
