import type { Tx } from '../../../platform/db/statements.ts';
import type { RelaySettings } from '../../../platform/relays/adapter.ts';
import type { EncryptedSource, ReplySource, ReplySourceKind } from './source.ts';

export type SourceRow = {
  project_id: number;
  id: string;
  kind: ReplySourceKind;
  settings: RelaySettings;
  generation: number;
  changed_at: Date;
  read_at: Date | null;
  uid_validity: number | null;
  last_uid: number | null;
  attempts: number;
  failing_since: Date | null;
  failure: string | null;
  counts: ReplySource['counts'];
};

export const SOURCE_COLUMNS = `s.project_id, s.id, s.kind, s.settings, s.generation, s.changed_at, s.read_at, s.uid_validity,
  s.last_uid, s.attempts, s.failing_since, s.failure, s.counts`;

export function toSource(row: SourceRow): ReplySource {
  const { uid_validity: uidValidity, last_uid: lastUid, failing_since: since, failure } = row;
  return {
    projectId: row.project_id,
    id: row.id,
    kind: row.kind,
    settings: row.settings,
    generation: row.generation,
    changedAt: row.changed_at.getTime(),
    readAt: row.read_at?.getTime() ?? null,
    cursor: uidValidity === null || lastUid === null ? null : { uidValidity, lastUid },
    attempts: row.attempts,
    failing: since === null || failure === null ? null : { since: since.getTime(), message: failure },
    counts: row.counts,
  };
}

export async function findSource(tx: Tx, projectId: number): Promise<ReplySource | undefined> {
  const rows = await tx.query<SourceRow>(
    `SELECT ${SOURCE_COLUMNS} FROM beckon.reply_source s WHERE s.project_id = $1`,
    [projectId],
  );
  return rows[0] && toSource(rows[0]);
}

export type SourceWithSecrets = { source: ReplySource; encrypted: Buffer };

/** Locks the source of a project, waiting for its current holder. */
export async function lockSource(tx: Tx, projectId: number): Promise<SourceWithSecrets | undefined> {
  const rows = await tx.query<SourceRow & { encrypted_secrets: Buffer }>(
    `SELECT ${SOURCE_COLUMNS}, s.encrypted_secrets FROM beckon.reply_source s WHERE s.project_id = $1 FOR UPDATE`,
    [projectId],
  );
  return rows[0] && { source: toSource(rows[0]), encrypted: rows[0].encrypted_secrets };
}

export async function findEncryptedSource(tx: Tx, projectId: number): Promise<SourceWithSecrets | undefined> {
  const rows = await tx.query<SourceRow & { encrypted_secrets: Buffer }>(
    `SELECT ${SOURCE_COLUMNS}, s.encrypted_secrets FROM beckon.reply_source s WHERE s.project_id = $1`,
    [projectId],
  );
  return rows[0] && { source: toSource(rows[0]), encrypted: rows[0].encrypted_secrets };
}

/** Finds a source by the id in the address of its webhook, before its project is known. */
export async function findSourceById(tx: Tx, id: string): Promise<SourceWithSecrets | undefined> {
  const rows = await tx.query<SourceRow & { encrypted_secrets: Buffer }>(
    `SELECT ${SOURCE_COLUMNS}, s.encrypted_secrets FROM beckon.reply_source s WHERE s.id = $1`,
    [id],
  );
  return rows[0] && { source: toSource(rows[0]), encrypted: rows[0].encrypted_secrets };
}

/** Lists the encrypted secrets of all sources in the order of their primary key. */
export async function listEncryptedSources(
  tx: Tx,
  { after, limit }: { after: EncryptedSource | null; limit: number },
): Promise<EncryptedSource[]> {
  return tx.query<EncryptedSource>(
    `SELECT s.project_id AS "projectId", s.id, s.generation, s.encrypted_secrets AS encrypted FROM beckon.reply_source s
     WHERE s.project_id > $1 ORDER BY s.project_id LIMIT $2`,
    [after?.projectId ?? 0, limit],
  );
}

/** Returns whether an email from a source of the project had an effect before. */
export async function isKnownEmail(tx: Tx, projectId: number, inboundId: string): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 FROM beckon.reply_source_email WHERE project_id = $1 AND inbound_id = $2`,
    [projectId, inboundId],
  );
  return rows.length > 0;
}
