import pg from 'pg';
import { SCHEMA } from '../../src/platform/db/schema-state.ts';

const HEADER = `-- The database schema. The migration 0001-baseline runs this file on a new database.
-- After an edit, run "npm run schema": it writes the file back in the form and order of PostgreSQL's catalog.
-- "--" comments are lost by that; say what a table or column is for with COMMENT ON.`;

/** Reads the schema from the catalog as SQL that creates it, in a fixed form and order, so that two dumps can be compared. */
export async function dumpSchema(url: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    // A user named like the schema would have it on the search path, and the catalog would omit the schema's name.
    await client.query(`SET search_path = ''`);
    const parts = [HEADER];
    for (const query of [FUNCTIONS, SEQUENCES, TABLES, CONSTRAINTS, INDEXES]) {
      const { rows } = await client.query<{ line: string }>(query, [SCHEMA]);
      parts.push(rows.map((row) => row.line).join('\n'));
    }
    return `${parts.join('\n\n')}\n`;
  } finally {
    await client.end();
  }
}

/** Leaves out the migrator's own tables. */
const OURS = `n.nspname = $1 AND c.relname NOT LIKE 'kysely%'`;

const FUNCTIONS = `
SELECT pg_get_functiondef(f.oid) || ';'
  || coalesce(format(E'\\nCOMMENT ON FUNCTION %s IS ', f.oid::regprocedure) || quote_literal(obj_description(f.oid, 'pg_proc')) || ';', '') AS line
FROM pg_proc f JOIN pg_namespace n ON n.oid = f.pronamespace
WHERE n.nspname = $1 ORDER BY f.proname`;

const SEQUENCES = `
SELECT format('CREATE SEQUENCE %I.%I;', n.nspname, c.relname) AS line
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE ${OURS} AND c.relkind = 'S' ORDER BY c.relname`;

/** PostgreSQL 15 does not accept STORAGE within CREATE TABLE. */
const TABLES = `
SELECT format(E'CREATE TABLE %I.%I (\\n%s\\n)%s%s;\\n', n.nspname, c.relname, string_agg(
         format('  %I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
           CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE ' || quote_ident(l.collname) ELSE '' END,
           CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
           CASE WHEN d.adbin IS NULL THEN ''
                WHEN a.attgenerated = 's' THEN ' GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED'
                ELSE ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) END),
         E',\\n' ORDER BY a.attnum),
       coalesce(' PARTITION BY ' || pg_get_partkeydef(c.oid), ''),
       CASE WHEN c.reloptions IS NOT NULL THEN ' WITH (' || array_to_string(c.reloptions, ', ') || ')' ELSE '' END)
  || coalesce(string_agg(
       format(E'ALTER TABLE %I.%I ALTER COLUMN %I SET STORAGE %s;\\n', n.nspname, c.relname, a.attname,
         CASE a.attstorage WHEN 'e' THEN 'EXTERNAL' WHEN 'm' THEN 'MAIN' WHEN 'x' THEN 'EXTENDED' ELSE 'PLAIN' END), ''
       ORDER BY a.attnum) FILTER (WHERE a.attstorage <> t.typstorage), '')
  || coalesce(format('COMMENT ON TABLE %I.%I IS ', n.nspname, c.relname) || quote_literal(obj_description(c.oid, 'pg_class')) || E';\\n', '')
  || coalesce(string_agg(
       format(E'COMMENT ON COLUMN %I.%I.%I IS %L;\\n', n.nspname, c.relname, a.attname, col_description(c.oid, a.attnum)), ''
       ORDER BY a.attnum) FILTER (WHERE col_description(c.oid, a.attnum) IS NOT NULL), '') AS line
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_collation l ON l.oid = a.attcollation
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE ${OURS} AND c.relkind IN ('r', 'p')
GROUP BY n.nspname, c.relname, c.oid, c.reloptions ORDER BY c.relname`;

/**
 * Foreign keys come last, after the keys that they refer to. NOT NULL is a constraint of its own from PostgreSQL 18 on; the
 * tables above have it already.
 */
const CONSTRAINTS = `
SELECT format('ALTER TABLE %I.%I ADD CONSTRAINT %I %s;', n.nspname, c.relname, k.conname, pg_get_constraintdef(k.oid)) AS line
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE ${OURS} AND k.contype <> 'n' ORDER BY k.contype = 'f', c.relname, k.conname`;

/** ONLY would leave the index of a partitioned table out of partitions that exist already. */
const INDEXES = `
SELECT replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') || ';'
  || coalesce(format(E'\\nCOMMENT ON INDEX %I.%I IS ', n.nspname, x.relname) || quote_literal(obj_description(x.oid, 'pg_class')) || ';', '') AS line
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_class x ON x.oid = i.indexrelid
WHERE ${OURS} AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u'))
ORDER BY x.relname`;
