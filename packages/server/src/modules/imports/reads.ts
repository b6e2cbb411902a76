import {
  type FILTER_KEYS,
  IMPORT_KINDS,
  IMPORT_STATES,
  type ImportFinding,
} from '@beckon/contract/dashboard';
import {
  type Filter,
  type FilterColumn,
  filterSql,
  WORDS,
  wordsColumn,
} from '../../platform/filter/filter.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { COLUMNS, type Import, type ImportRow, toImport } from './import.ts';
import type { ImportFindingRow, ImportRef, PartRow, EncryptedImportKey } from './store.ts';

export async function findImport(tx: Tx, { projectId, id }: ImportRef): Promise<Import | null> {
  const rows = await tx.query<ImportRow>(
    `SELECT ${COLUMNS} FROM beckon.import WHERE project_id = $1 AND id = $2`,
    [projectId, id],
  );
  return rows[0] ? toImport(rows[0]) : null;
}

export type ImportPage = {
  projectId: number;
  filter: Filter;
  after: string | null;
  offset: number;
  limit: number;
};

/** Lists imports, newest first. Ids are created in time order. */
export async function listImportRows(tx: Tx, page: ImportPage): Promise<Import[]> {
  const values: unknown[] = [page.projectId, page.after, page.offset, page.limit];
  const where = filterSql(page.filter, FILTERED, (value) => `$${values.push(value)}`);
  if (where === null) return [];
  const rows = await tx.query<ImportRow>(
    `SELECT ${COLUMNS} FROM beckon.import WHERE project_id = $1 AND ($2::uuid IS NULL OR id < $2) AND ${where}
     ORDER BY id DESC OFFSET $3 LIMIT $4`,
    values,
  );
  return rows.map(toImport);
}

export async function countImportRows(
  tx: Tx,
  { projectId, filter, most }: Pick<ImportPage, 'projectId' | 'filter'> & { most: number },
): Promise<number> {
  const values: unknown[] = [projectId, most];
  const where = filterSql(filter, FILTERED, (value) => `$${values.push(value)}`);
  if (where === null) return 0;
  const rows = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM beckon.import WHERE project_id = $1 AND ${where} LIMIT $2) i`,
    values,
  );
  return rows[0]?.count ?? 0;
}

const FILTERED: Record<keyof typeof FILTER_KEYS.imports | typeof WORDS, FilterColumn> = {
  name: { sql: 'name' },
  kind: { sql: 'kind', among: IMPORT_KINDS },
  state: { sql: 'state', among: IMPORT_STATES },
  [WORDS]: wordsColumn(['name', 'kind', 'state']),
};

export async function listOpenImports(tx: Tx, projectId: number): Promise<Import[]> {
  const rows = await tx.query<ImportRow>(
    `SELECT ${COLUMNS} FROM beckon.import WHERE project_id = $1 AND state NOT IN ('done', 'failed', 'canceled') ORDER BY id`,
    [projectId],
  );
  return rows.map(toImport);
}

/** Finds the import of this project that is running or will be next. */
export async function findFirstAtWork(tx: Tx, projectId: number): Promise<string | null> {
  const rows = await tx.query<{ id: string }>(
    `SELECT id FROM beckon.import WHERE project_id = $1 AND state IN ('checking', 'running') ORDER BY queued_at, id LIMIT 1`,
    [projectId],
  );
  return rows[0]?.id ?? null;
}

/** Lists imports that have not ended and did not move since `before`. */
export async function listIdle(tx: Tx, before: Date, limit: number): Promise<ImportRef[]> {
  const rows = await tx.query<{ project_id: number; id: string }>(
    `SELECT project_id, id FROM beckon.import
     WHERE state IN ('uploading', 'ready', 'checked', 'paused') AND changed_at < $1 ORDER BY project_id, id LIMIT $2`,
    [before, limit],
  );
  return rows.map(({ project_id: projectId, id }) => ({ projectId, id }));
}

/** Lists ended imports that still have a file or data in the `billing` module. */
export async function listUncleared(tx: Tx, limit: number): Promise<ImportRef[]> {
  const rows = await tx.query<{ project_id: number; id: string }>(
    `SELECT i.project_id, i.id FROM beckon.import i WHERE i.state IN ('done', 'failed', 'canceled')
     AND (EXISTS (SELECT 1 FROM beckon.import_part p WHERE p.project_id = i.project_id AND p.import_id = i.id)
          OR EXISTS (SELECT 1 FROM beckon.billing_snapshot s WHERE s.project_id = i.project_id AND s.import_id = i.id))
     ORDER BY 1, 2 LIMIT $1`,
    [limit],
  );
  return rows.map(({ project_id: projectId, id }) => ({ projectId, id }));
}

export async function findKey(tx: Tx, { projectId, id }: ImportRef): Promise<Buffer | null> {
  const rows = await tx.query<{ encrypted_key: Buffer | null }>(
    `SELECT encrypted_key FROM beckon.import WHERE project_id = $1 AND id = $2`,
    [projectId, id],
  );
  return rows[0]?.encrypted_key ?? null;
}

/** Lists keys after a position, in the order of the primary key. */
export function listEncryptedKeys(
  tx: Tx,
  { after, limit }: { after: ImportRef; limit: number },
): Promise<EncryptedImportKey[]> {
  return tx.query(
    `SELECT project_id AS "projectId", id, encrypted_key AS encrypted, encrypted_key AS was FROM beckon.import
     WHERE (project_id, id) > ($1, $2::uuid) AND encrypted_key IS NOT NULL ORDER BY project_id, id LIMIT $3`,
    [after.projectId, after.id, limit],
  );
}

export async function listPartNumbers(tx: Tx, { projectId, id }: ImportRef): Promise<number[]> {
  const rows = await tx.query<{ part: number }>(
    `SELECT part FROM beckon.import_part WHERE project_id = $1 AND import_id = $2 ORDER BY part`,
    [projectId, id],
  );
  return rows.map(({ part }) => part);
}

export async function findPart(tx: Tx, { projectId, id }: ImportRef, part: number): Promise<PartRow | null> {
  const rows = await tx.query<{ part: number; size_bytes: number; bytes: Buffer }>(
    `SELECT part, size_bytes, bytes FROM beckon.import_part WHERE project_id = $1 AND import_id = $2 AND part = $3`,
    [projectId, id, part],
  );
  const [row] = rows;
  return row ? { part: row.part, sizeBytes: row.size_bytes, bytes: row.bytes } : null;
}

export type FindingPage = ImportRef & {
  kind: string | null;
  after: number;
  offset: number;
  limit: number;
};

export function listFindings(tx: Tx, page: FindingPage): Promise<(ImportFinding & { n: number })[]> {
  return tx.query(
    `SELECT n, kind, line AS row, field, message, raw FROM beckon.import_finding
     WHERE project_id = $1 AND import_id = $2 AND ($3::text IS NULL OR kind = $3) AND n > $4 ORDER BY n OFFSET $5 LIMIT $6`,
    [page.projectId, page.id, page.kind, page.after, page.offset, page.limit],
  );
}

export async function countFindingRows(
  tx: Tx,
  { projectId, id, kind, most }: ImportRef & { kind: string | null; most: number },
): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM beckon.import_finding
     WHERE project_id = $1 AND import_id = $2 AND ($3::text IS NULL OR kind = $3) LIMIT $4) f`,
    [projectId, id, kind, most],
  );
  return rows[0]?.count ?? 0;
}

export type FindingKey = { importId: string; n: number };
type MatchingFinding = FindingKey &
  Pick<ImportFindingRow, 'message' | 'raw'> & { importKind: Import['kind']; mapping: Import['mapping'] };

/** Lists findings after a position that may contain any of these lower-case texts. */
export function listFindingsWith(
  tx: Tx,
  query: { projectId: number; texts: string[]; after: FindingKey | null; limit: number },
): Promise<MatchingFinding[]> {
  return tx.query(
    `SELECT f.import_id AS "importId", f.n, f.message, f.raw, i.kind AS "importKind", i.mapping
     FROM beckon.import_finding f JOIN beckon.import i ON i.project_id = f.project_id AND i.id = f.import_id
     WHERE f.project_id = $1 AND ($3::uuid IS NULL OR (f.import_id, f.n) > ($3, $4::int))
       AND EXISTS (SELECT 1 FROM unnest($2::text[]) AS t(text)
                   WHERE position(t.text IN lower(f.raw)) > 0 OR position(t.text IN lower(f.message)) > 0)
     ORDER BY f.import_id, f.n LIMIT $5`,
    [query.projectId, query.texts, query.after?.importId ?? null, query.after?.n ?? null, query.limit],
  );
}

/** Returns the hashes of users erased before this import ended. */
export async function findErasedHashes(tx: Tx, { projectId, id }: ImportRef): Promise<Set<string>> {
  const rows = await tx.query<{ hash: string }>(
    `SELECT encode(user_hash, 'hex') AS hash FROM beckon.import_erased WHERE project_id = $1 AND import_id = $2`,
    [projectId, id],
  );
  return new Set(rows.map(({ hash }) => hash));
}

export async function isSuspended(tx: Tx, projectId: number): Promise<boolean> {
  // Reads the table of the `projects` module in the same transaction. Suspending a project takes the same lock on its row in
  // `ingest_queue_state`.
  const rows = await tx.query<{ suspended: boolean }>(
    `SELECT suspended_at IS NOT NULL AS suspended FROM beckon.project WHERE project_id = $1`,
    [projectId],
  );
  return rows[0]?.suspended ?? true;
}
