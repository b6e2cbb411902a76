import pg from 'pg';
import { SCHEMA } from '../src/io/db/index.ts';

/** The schema as the catalogue has it, in a form that can be read and compared: one statement a line, in a fixed order. */
export async function dumpSchema(url: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    // A user named as the schema would have it on its path, and the catalogue would leave its name out.
    await client.query(`SET search_path = ''`);
    const parts: string[] = [];
    for (const query of [FUNCTIONS, SEQUENCES, TABLES, CONSTRAINTS, INDEXES]) {
      const { rows } = await client.query<{ line: string }>(query, [SCHEMA]);
      parts.push(rows.map((row) => row.line).join('\n'));
    }
    return `-- Made from the migrations by "npm run schema"; read it, do not edit it.\n\n${parts.join('\n\n')}\n`;
  } finally {
    await client.end();
  }
}

/** The migrator's own tables are its business. */
const OURS = `n.nspname = $1 AND c.relname NOT LIKE 'kysely%'`;

const FUNCTIONS = `
SELECT pg_get_functiondef(f.oid) || ';' AS line FROM pg_proc f JOIN pg_namespace n ON n.oid = f.pronamespace
WHERE n.nspname = $1 ORDER BY f.proname`;

const SEQUENCES = `
SELECT format('CREATE SEQUENCE %I.%I;', n.nspname, c.relname) AS line
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE ${OURS} AND c.relkind = 'S' ORDER BY c.relname`;

const TABLES = `
SELECT format(E'CREATE TABLE %I.%I (\\n%s\\n)%s%s;\\n', n.nspname, c.relname, string_agg(
         format('  %I %s%s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
           CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE ' || quote_ident(l.collname) ELSE '' END,
           CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
           CASE WHEN d.adbin IS NOT NULL THEN ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) ELSE '' END,
           CASE WHEN a.attstorage <> t.typstorage THEN ' STORAGE ' || CASE a.attstorage WHEN 'e' THEN 'EXTERNAL' WHEN 'm' THEN 'MAIN' ELSE 'PLAIN' END ELSE '' END),
         E',\\n' ORDER BY a.attnum),
       coalesce(' PARTITION BY ' || pg_get_partkeydef(c.oid), ''),
       CASE WHEN c.reloptions IS NOT NULL THEN ' WITH (' || array_to_string(c.reloptions, ', ') || ')' ELSE '' END) AS line
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_collation l ON l.oid = a.attcollation
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE ${OURS} AND c.relkind IN ('r', 'p')
GROUP BY n.nspname, c.relname, c.oid, c.reloptions ORDER BY c.relname`;

/** NOT NULL is a constraint of its own from PostgreSQL 18 on; the tables above say it already. */
const CONSTRAINTS = `
SELECT format('ALTER TABLE %I.%I ADD CONSTRAINT %I %s;', n.nspname, c.relname, k.conname, pg_get_constraintdef(k.oid)) AS line
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE ${OURS} AND k.contype <> 'n' ORDER BY c.relname, k.conname`;

const INDEXES = `
SELECT pg_get_indexdef(i.indexrelid) || ';' AS line
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_class x ON x.oid = i.indexrelid
WHERE ${OURS} AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u'))
ORDER BY x.relname`;
