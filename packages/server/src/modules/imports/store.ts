/** Writes `import`, `import_part`, `import_finding` and `import_erased`. */

import { plainList } from '../../platform/db/list.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { COLUMNS, type ImportCounts, type Import, type ImportRow, toImport } from './import.ts';
import type { SourcePosition } from './source.ts';

export type ImportRef = { projectId: number; id: string };

export type NewImport = Pick<
  Import,
  | 'projectId'
  | 'id'
  | 'kind'
  | 'name'
  | 'state'
  | 'sizeBytes'
  | 'fileModifiedAt'
  | 'options'
  | 'counts'
  | 'createdAt'
  | 'createdBy'
> & { encryptedKey: Buffer | null };

export async function insertImport(tx: Tx, job: NewImport): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.import (project_id, id, kind, name, state, size_bytes, file_modified_at, options, encrypted_key, counts,
       created_at, changed_at, created_by, is_live, facts, findings, pace_rows, epoch)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, false, '{}', 0, 0, 0)`,
    [
      job.projectId,
      job.id,
      job.kind,
      job.name,
      job.state,
      job.sizeBytes,
      job.fileModifiedAt,
      job.options && JSON.stringify(job.options),
      job.encryptedKey,
      JSON.stringify(job.counts),
      new Date(job.createdAt),
      job.createdBy,
    ],
  );
}

/** Locks an import, so that no other process moves it before the transaction ends. */
export async function lockImport(tx: Tx, { projectId, id }: ImportRef): Promise<Import | null> {
  const rows = await tx.query<ImportRow>(
    `SELECT ${COLUMNS} FROM beckon.import WHERE project_id = $1 AND id = $2 FOR UPDATE`,
    [projectId, id],
  );
  return rows[0] ? toImport(rows[0]) : null;
}

/** Writes all changes of a move. The new epoch ends the claim of a worker. Requires a lock on the import. */
export async function updateMoved(tx: Tx, job: Import): Promise<void> {
  const instant = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));
  const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
  await tx.query(
    `UPDATE beckon.import SET state = $3, problem = $4, mapping = $5, is_live = $6, check_report = $7, position = $8, counts = $9,
       facts = $10, findings = $11, pace = NULL, pace_rows = 0, pace_at = NULL, waits_for = NULL, epoch = epoch + 1, lease_until = NULL,
       queued_at = $12, changed_at = $13, started_at = $14, ended_at = $15
     WHERE project_id = $1 AND id = $2`,
    [
      job.projectId,
      job.id,
      job.state,
      job.problem,
      json(job.mapping),
      job.isLive,
      json(job.check),
      json(job.position),
      JSON.stringify(job.counts),
      JSON.stringify(job.facts),
      job.findings,
      instant(job.queuedAt),
      new Date(job.changedAt),
      instant(job.startedAt),
      instant(job.endedAt),
    ],
  );
}

export async function updateKey(tx: Tx, ref: ImportRef, encryptedKey: Buffer | null): Promise<void> {
  await tx.query(`UPDATE beckon.import SET encrypted_key = $3 WHERE project_id = $1 AND id = $2`, [
    ref.projectId,
    ref.id,
    encryptedKey,
  ]);
}

/** `was`: the encrypted value that was read. */
export type EncryptedImportKey = ImportRef & { encrypted: Buffer; was: Buffer };

/** Skips keys that were replaced or removed since they were read. */
export async function updateEncryptedKeys(tx: Tx, keys: EncryptedImportKey[]): Promise<void> {
  await tx.query(
    `UPDATE beckon.import i SET encrypted_key = k.encrypted
     FROM unnest($1::bigint[], $2::uuid[], $3::bytea[], $4::bytea[]) AS k(project_id, id, encrypted, was)
     WHERE i.project_id = k.project_id AND i.id = k.id AND i.encrypted_key = k.was`,
    [
      plainList(keys.map(({ projectId }) => projectId)),
      plainList(keys.map(({ id }) => id)),
      keys.map(({ encrypted }) => encrypted),
      keys.map(({ was }) => was),
    ],
  );
}

export type ImportLease = ImportRef & { epoch: number };

/** Renews or ends the lease. Returns false if another process or a member has taken the import since. */
export async function updateLease(tx: Tx, claim: ImportLease, leaseUntil: Date | null): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.import SET lease_until = $4 WHERE project_id = $1 AND id = $2 AND epoch = $3 RETURNING 1`,
    [claim.projectId, claim.id, claim.epoch, leaseUntil],
  );
  return rows.length > 0;
}

export type ImportCheckpoint = {
  position: SourcePosition | null;
  counts: ImportCounts;
  facts: { [name: string]: number };
  findings: number;
  waitsFor: 'queue' | null;
  at: Date;
  leaseUntil: Date;
};

/** Stores the progress and renews the lease. Returns false if the claim has ended. The pace is that of the last ten seconds or more. */
export async function updateProgress(
  tx: Tx,
  claim: ImportLease,
  progress: ImportCheckpoint,
): Promise<boolean> {
  // Where tables are distributed, an update may not subtract an interval from a time, but it may compare the difference of two.
  const isOver = tx.isDistributed
    ? `$9::timestamptz - pace_at >= interval '10 seconds'`
    : `pace_at <= $9::timestamptz - interval '10 seconds'`;
  const rows = await tx.prepared({
    name: 'imports.progress',
    text: `UPDATE beckon.import SET position = $4, counts = $5, facts = $6, findings = $7, waits_for = $8, lease_until = $10,
       changed_at = $9,
       pace = CASE WHEN ${isOver}
                   THEN ($11::bigint - pace_rows) / extract(epoch FROM $9::timestamptz - pace_at) ELSE pace END,
       pace_rows = CASE WHEN pace_at IS NULL OR ${isOver} THEN $11 ELSE pace_rows END,
       pace_at = CASE WHEN pace_at IS NULL OR ${isOver} THEN $9 ELSE pace_at END
     WHERE project_id = $1 AND id = $2 AND epoch = $3 RETURNING 1`,
    values: [
      claim.projectId,
      claim.id,
      claim.epoch,
      progress.position === null ? null : JSON.stringify(progress.position),
      JSON.stringify(progress.counts),
      JSON.stringify(progress.facts),
      progress.findings,
      progress.waitsFor,
      progress.at,
      progress.leaseUntil,
      progress.counts.rows,
    ],
  });
  return rows.length > 0;
}

export type PartRow = { part: number; sizeBytes: number; bytes: Buffer };

/** Stores a part. Storing the same part again changes nothing, because a browser that got no response sends it again. */
export async function insertPart(
  tx: Tx,
  { projectId, id }: ImportRef,
  { part, sizeBytes, bytes }: PartRow,
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.import_part (project_id, import_id, part, size_bytes, bytes) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (project_id, import_id, part) DO UPDATE SET size_bytes = excluded.size_bytes, bytes = excluded.bytes`,
    [projectId, id, part, sizeBytes, bytes],
  );
}

/** Deletes a number of parts, first ones first. Returns whether more may be left. */
export async function deleteParts(tx: Tx, { projectId, id }: ImportRef, limit: number): Promise<boolean> {
  const rows = await tx.query(
    `DELETE FROM beckon.import_part WHERE project_id = $1 AND import_id = $2 AND part IN (
       SELECT part FROM beckon.import_part WHERE project_id = $1 AND import_id = $2 ORDER BY part LIMIT $3) RETURNING 1`,
    [projectId, id, limit],
  );
  return rows.length === limit;
}

export type ImportFindingRow = {
  kind: string;
  line: number | null;
  field: string | null;
  message: string;
  raw: string;
};

/** `from`: the number of findings that exist. */
export async function insertFindings(
  tx: Tx,
  { projectId, id, from }: ImportRef & { from: number },
  rows: ImportFindingRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `INSERT INTO beckon.import_finding (project_id, import_id, n, kind, line, field, message, raw)
     SELECT $1, $2, $3 + f.n, f.kind, f.line, f.field, f.message, f.raw
     FROM unnest($4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[]) WITH ORDINALITY AS f(kind, line, field, message, raw, n)`,
    [
      projectId,
      id,
      from,
      rows.map((row) => row.kind),
      plainList(rows.map((row) => row.line)),
      rows.map((row) => row.field),
      rows.map((row) => row.message),
      rows.map((row) => row.raw),
    ],
  );
}

export async function deleteFindings(tx: Tx, { projectId, id }: ImportRef): Promise<void> {
  await tx.query(`DELETE FROM beckon.import_finding WHERE project_id = $1 AND import_id = $2`, [
    projectId,
    id,
  ]);
}

/** Deletes findings of imports that last moved before `before`, up to a limit. Returns the number. */
export async function deleteOldFindings(
  tx: Tx,
  { projectId, before, limit }: { projectId: number; before: Date; limit: number },
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.import_finding f WHERE project_id = $1 AND (import_id, n) IN (
       SELECT g.import_id, g.n FROM beckon.import_finding g JOIN beckon.import i ON i.project_id = g.project_id AND i.id = g.import_id
       WHERE g.project_id = $1 AND i.changed_at < $2 LIMIT $3) RETURNING 1`,
    [projectId, before, limit],
  );
  return rows.length;
}

export async function deleteFindingsAt(
  tx: Tx,
  { projectId, keys }: { projectId: number; keys: { importId: string; n: number }[] },
): Promise<void> {
  if (keys.length === 0) return;
  await tx.query(
    `DELETE FROM beckon.import_finding f USING unnest($2::uuid[], $3::int[]) AS p(import_id, n)
     WHERE f.project_id = $1 AND f.import_id = p.import_id AND f.n = p.n`,
    [projectId, plainList(keys.map(({ importId }) => importId)), plainList(keys.map(({ n }) => n))],
  );
}

export async function insertErased(tx: Tx, ref: ImportRef, userHash: Buffer): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.import_erased (project_id, import_id, user_hash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
    [ref.projectId, ref.id, userHash],
  );
}

export async function deleteErased(tx: Tx, ref: ImportRef): Promise<void> {
  await tx.query(`DELETE FROM beckon.import_erased WHERE project_id = $1 AND import_id = $2`, [
    ref.projectId,
    ref.id,
  ]);
}
