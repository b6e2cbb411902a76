import { zstdDecompressSync } from 'node:zlib';
import type { Tx } from '../../src/platform/db/statements.ts';
import { decodeChunk } from '../../src/modules/ingest/queue/chunk.ts';

/**
 * Finds every column of the schema that contains one of these texts, as `table.column`. It reads the tables from the catalog, so that it
 * covers future tables. Case does not matter, bytes are read as text, and packed chunks are unpacked.
 */
export async function findText(db: Tx, texts: string[]): Promise<string[]> {
  const needles = texts.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]).map(foldCase);
  const columns = await db.query<{ table: string; column: string; type: string }>(
    `SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, NULL) AS type
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE n.nspname = 'beckon' AND c.relkind IN ('r', 'm') ORDER BY 1, 2`,
  );
  const found: string[] = [];
  for (const { table, column, type } of columns) {
    const value = type === 'bytea' ? `"${column}"` : `"${column}"::text`;
    const rows = await db.query<{ value: string | Buffer | null }>(
      `SELECT ${value} AS value FROM beckon."${table}"`,
    );
    const holds = rows.some(({ value: held }) => {
      const read = foldCase(readable(held));
      return needles.some((needle) => read.includes(needle));
    });
    if (holds) found.push(`${table}.${column}`);
  }
  return found;
}

function foldCase(text: string): string {
  return text.toLowerCase();
}

function readable(value: string | Buffer | null): string {
  if (!Buffer.isBuffer(value)) return value ?? '';
  return value.toString('utf8') + unpacked(value);
}

/** Returns a chunk of records as JSON, and any other packed value as text. */
function unpacked(bytes: Buffer): string {
  return (
    orNothing(() => JSON.stringify(decodeChunk(bytes))) ||
    orNothing(() => zstdDecompressSync(bytes).toString('utf8'))
  );
}

/** A hash, or a secret, is not packed. */
function orNothing(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
