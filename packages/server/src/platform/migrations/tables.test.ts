import { expect, test } from 'vitest';
import { systemClock } from '../time/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { TABLES } from '../db/tables.ts';

const db = await openTestDatabase(systemClock);
const kindOf = new Map(TABLES.map((table) => [table.name, table]));

test('TABLES lists every table of the schema exactly once, and no other', async () => {
  const tables = await db.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c
     WHERE c.relnamespace = 'beckon'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relname NOT LIKE 'kysely%'`,
  );
  expect(TABLES.map(({ name }) => name).toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
});

test('the distribution column is in the primary key and in every unique index, and has one type per group', async () => {
  const indexes = await db.query<{ table: string; first: string; columns: string[] }>(
    `SELECT c.relname AS table, f.attname AS first, array_agg(a.attname::text) AS columns FROM pg_index i
     JOIN pg_class c ON c.oid = i.indrelid
     JOIN pg_attribute f ON f.attrelid = c.oid AND f.attnum = i.indkey[0]
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
     WHERE c.relnamespace = 'beckon'::regnamespace AND i.indisunique GROUP BY i.indexrelid, c.relname, f.attname`,
  );
  for (const { table, first } of indexes) {
    const listed = kindOf.get(table);
    if (listed?.kind === 'tenant') expect([table, first]).toEqual([table, listed.column]);
  }
  const types = await db.query<{ table: string; type: string }>(
    `SELECT a.attrelid::regclass::text AS table, format_type(a.atttypid, a.atttypmod) AS type FROM pg_attribute a
     JOIN pg_class c ON c.oid = a.attrelid
     WHERE c.relnamespace = 'beckon'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname = 'project_id'`,
  );
  expect(new Set(types.map(({ type }) => type))).toEqual(new Set(['bigint']));
});

test('referenced tables are distributed first and together with those that refer to them, and no local table refers to a distributed one', async () => {
  const keys = await db.query<{ from: string; to: string; column: string; action: string }>(
    `SELECT f.relname AS from, t.relname AS to, a.attname AS column, k.confdeltype AS action FROM pg_constraint k
     JOIN pg_class f ON f.oid = k.conrelid JOIN pg_class t ON t.oid = k.confrelid
     JOIN pg_attribute a ON a.attrelid = f.oid AND a.attnum = k.conkey[1]
     WHERE k.contype = 'f' AND f.relnamespace = 'beckon'::regnamespace AND NOT f.relispartition`,
  );
  expect(keys.length).toBeGreaterThan(5);
  const indexOfTable = (name: string): number => TABLES.findIndex((table) => table.name === name);
  for (const { from, to, column, action } of keys) {
    const [child, parent] = [kindOf.get(from), kindOf.get(to)];
    expect([from, to, child?.kind]).toEqual([from, to, parent?.kind]);
    if (child?.kind !== 'tenant' || parent?.kind !== 'tenant') continue;
    expect([from, column, child.group]).toEqual([from, 'project_id', parent.group]);
    expect(indexOfTable(to)).toBeLessThan(indexOfTable(from));
    expect(['a', 'r', 'c']).toContain(action);
  }
});

test('no table uses features that Citus rejects: inheritance, rules, triggers, small identities', async () => {
  const hidden = await db.query(
    `SELECT c.relname, 'trigger' AS what FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
     WHERE c.relnamespace = 'beckon'::regnamespace AND NOT t.tgisinternal
     UNION ALL SELECT c.relname, 'rule' FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
     WHERE c.relnamespace = 'beckon'::regnamespace
     UNION ALL SELECT c.relname, 'inheritance' FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE c.relnamespace = 'beckon'::regnamespace AND NOT c.relispartition AND c.relkind IN ('r', 'p')
     UNION ALL SELECT c.relname, 'identity' FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE c.relnamespace = 'beckon'::regnamespace AND a.attidentity <> '' AND a.atttypid <> 'bigint'::regtype`,
  );
  expect(hidden).toEqual([]);
});
