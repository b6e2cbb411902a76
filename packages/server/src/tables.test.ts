import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

/** Files that write tables without being the store of a module, with the tables that each may write. */
const NAMED: Record<string, string[]> = {
  // The one transaction of the accept path.
  'modules/ingest/accept/statements.ts': ['idempotency', 'ingest_queue', 'ingest_queue_state'],
  // The tokens. Their limits belong to the administration module.
  'platform/rate-limits/store.ts': ['rate_limit'],
  // The installation belongs to no module.
  'main/secrets.ts': ['installation'],
};

/** Moves whole projects between databases, and removes demos: it writes every table that has a project id as its first column. */
const OF_ALL_TABLES = 'platform/db/project-rows.ts';

/** A store of a module, or of the locks and timers that all modules use. */
const STORE = /^(?:modules\/[a-z-]+(?:\/[a-z-]+)?|platform\/locks)\/(?:[a-z]+-)?store\.ts$/;

type Write = { file: string; table: string };

/** `UPDATE` also ends a lock (`FOR UPDATE OF r`) and begins a clause (`DO UPDATE SET`): neither names a table. */
const WRITE =
  /\b(?:INSERT INTO|(?<!FOR |DO |FOR NO KEY )UPDATE|DELETE FROM|TRUNCATE(?: TABLE)?|MERGE INTO|COPY)\s+(?:ONLY\s+)?("?[a-z_]+"?(?:\."?[a-z_0-9]+"?)?)/g;

const SOURCES = globSync('**/*.ts', { cwd: import.meta.dirname }).filter(
  (file) => !file.endsWith('.test.ts') && !file.startsWith('platform/migrations/') && file !== OF_ALL_TABLES,
);

const writes: Write[] = SOURCES.flatMap((file) => {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8');
  return [...text.matchAll(WRITE)].map((match) => ({ file, table: match[1] ?? '' }));
});

test('every statement that writes names its table with the schema', () => {
  expect(writes.filter(({ table }) => !table.startsWith('beckon.'))).toEqual([]);
  // The pattern finds real statements.
  expect(writes.length).toBeGreaterThan(20);
});

test('only the store of its module and the exceptions listed here write a table', () => {
  const strangers = writes.filter(({ file, table }) => {
    const mayWrite = NAMED[file]?.includes(table.replace('beckon.', '')) ?? false;
    return !mayWrite && !STORE.test(file);
  });
  expect(strangers).toEqual([]);
});

test('no two modules write the same table', () => {
  const inStores = writes.filter(({ file }) => STORE.test(file));
  const writers = Map.groupBy(inStores, ({ table }) => table.replace('beckon.', ''));
  const contested = [...writers].filter(([, by]) => new Set(by.map(({ file }) => dirname(file))).size > 1);
  expect(contested.map(([table]) => table)).toEqual([]);
});

test('every exception listed here still writes its tables', () => {
  const unused = Object.entries(NAMED).flatMap(([file, tables]) =>
    tables.filter(
      (table) => !writes.some((write) => write.file === file && write.table === `beckon.${table}`),
    ),
  );
  expect(unused).toEqual([]);
});
