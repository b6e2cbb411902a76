/** Writes `reply_source` and `reply_source_email`. */

import { plainList } from '../../../platform/db/list.ts';
import { claimOfAny } from '../../../platform/db/distributed.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { RelaySettings } from '../../../platform/relays/adapter.ts';
import { SOURCE_COLUMNS, type SourceRow, type SourceWithSecrets, toSource } from './reads.ts';
import type { EncryptedSource, ReplySource, ReplySourceKind, SourceResult } from './source.ts';

type StoredSource = {
  projectId: number;
  id: string;
  kind: ReplySourceKind;
  settings: RelaySettings;
  encrypted: Uint8Array;
  at: number;
  /** Null for a source whose emails are pushed. */
  nextReadAt: number | null;
};

/** Inserts a source, or replaces the source of the project together with its position and its counts. */
export async function upsertSource(tx: Tx, source: StoredSource): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.reply_source (project_id, id, kind, settings, encrypted_secrets, created_at, changed_at, next_read_at)
     VALUES ($1, $2, $3, $4, $5, $6, $6, $7)
     ON CONFLICT (project_id) DO UPDATE SET id = excluded.id, kind = excluded.kind, settings = excluded.settings,
       encrypted_secrets = excluded.encrypted_secrets, generation = reply_source.generation + 1,
       created_at = excluded.created_at, changed_at = excluded.changed_at, next_read_at = excluded.next_read_at,
       read_at = NULL, uid_validity = NULL, last_uid = NULL, attempts = 0, failing_since = NULL, failure = NULL, counts = '{}'`,
    [
      source.projectId,
      source.id,
      source.kind,
      JSON.stringify(source.settings),
      source.encrypted,
      new Date(source.at),
      source.nextReadAt === null ? null : new Date(source.nextReadAt),
    ],
  );
}

/** Changes the settings of a source, which keeps its position. */
export async function updateSource(
  tx: Tx,
  { projectId, settings, encrypted, at, nextReadAt }: Omit<StoredSource, 'id' | 'kind'>,
): Promise<void> {
  await tx.query(
    `UPDATE beckon.reply_source SET settings = $2, encrypted_secrets = $3, generation = generation + 1, changed_at = $4,
       next_read_at = $5, attempts = 0, failing_since = NULL, failure = NULL
     WHERE project_id = $1`,
    [
      projectId,
      JSON.stringify(settings),
      encrypted,
      new Date(at),
      nextReadAt === null ? null : new Date(nextReadAt),
    ],
  );
}

export async function deleteSource(tx: Tx, projectId: number): Promise<void> {
  await tx.query(`DELETE FROM beckon.reply_source WHERE project_id = $1`, [projectId]);
}

/** Leases the mailbox that has waited longest. After `leaseUntil`, another worker may read it. */
export async function takeDueSource(
  tx: Tx,
  { now, leaseUntil }: { now: number; leaseUntil: number },
): Promise<SourceWithSecrets | undefined> {
  const rows = await claimOfAny<SourceRow & { encrypted_secrets: Buffer }>(tx, {
    due: {
      text: 'SELECT project_id FROM beckon.reply_source WHERE next_read_at <= $1 ORDER BY next_read_at',
      values: [new Date(now)],
    },
    text: (of) => `WITH due AS MATERIALIZED (
       SELECT project_id FROM beckon.reply_source WHERE ${of('reply_source')}next_read_at <= $1 ORDER BY next_read_at LIMIT 1 FOR UPDATE SKIP LOCKED
     )
     UPDATE beckon.reply_source s SET next_read_at = $2 FROM due
     WHERE ${of('s')}s.project_id = due.project_id RETURNING ${SOURCE_COLUMNS}, s.encrypted_secrets`,
    values: [new Date(now), new Date(leaseUntil)],
  });
  return rows[0] && { source: toSource(rows[0]), encrypted: rows[0].encrypted_secrets };
}

type SourceRef = Pick<ReplySource, 'projectId' | 'id' | 'generation'>;

/** Moves the position. Returns false if the source was changed meanwhile, so that its reader must stop. */
export async function moveCursor(
  tx: Tx,
  { projectId, id, generation }: SourceRef,
  { uidValidity, lastUid }: NonNullable<ReplySource['cursor']>,
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.reply_source SET uid_validity = $4, last_uid = $5,
       attempts = CASE WHEN uid_validity = $4 AND last_uid = $5 THEN attempts ELSE 0 END
     WHERE project_id = $1 AND id = $2 AND generation = $3 RETURNING 1`,
    [projectId, id, generation, uidValidity, lastUid],
  );
  return rows.length > 0;
}

/** Counts an email by its result. `readAt`: set if the email was pushed, which shows that the source works. */
export async function countResult(
  tx: Tx,
  { projectId, id, result, readAt = null }: Omit<SourceRef, 'generation'> & CountedResult,
): Promise<void> {
  await tx.query(
    `UPDATE beckon.reply_source SET read_at = coalesce($4::timestamptz, read_at),
       failing_since = CASE WHEN $4::timestamptz IS NULL THEN failing_since END,
       failure = CASE WHEN $4::timestamptz IS NULL THEN failure END,
       counts = jsonb_set(counts, ARRAY[$3::text], to_jsonb(coalesce((counts ->> $3::text)::bigint, 0) + 1))
     WHERE project_id = $1 AND id = $2`,
    [projectId, id, result, readAt === null ? null : new Date(readAt)],
  );
}

type CountedResult = { result: SourceResult; readAt?: number | null };

/** Records that a mailbox was read: to its end, or as much as fits into one pass. */
export async function recordRead(
  tx: Tx,
  { projectId, id, generation }: SourceRef,
  { readAt, nextReadAt }: { readAt: number | null; nextReadAt: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.reply_source SET read_at = coalesce($4::timestamptz, read_at), next_read_at = $5, failing_since = NULL,
       failure = NULL
     WHERE project_id = $1 AND id = $2 AND generation = $3`,
    [projectId, id, generation, readAt === null ? null : new Date(readAt), new Date(nextReadAt)],
  );
}

/** Records that a mailbox could not be read. `isAtEmail`: the email after the position is the reason. */
export async function recordFailure(
  tx: Tx,
  { projectId, id, generation }: SourceRef,
  {
    failure,
    at,
    nextReadAt,
    isAtEmail,
  }: { failure: string; at: number; nextReadAt: number | null; isAtEmail: boolean },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.reply_source SET failure = $4, failing_since = coalesce(failing_since, $5::timestamptz),
       next_read_at = coalesce($6::timestamptz, next_read_at), attempts = attempts + $7
     WHERE project_id = $1 AND id = $2 AND generation = $3`,
    [
      projectId,
      id,
      generation,
      failure,
      new Date(at),
      nextReadAt === null ? null : new Date(nextReadAt),
      isAtEmail ? 1 : 0,
    ],
  );
}

/** Remembers that an email had an effect. */
export async function insertKnownEmail(
  tx: Tx,
  { projectId, inboundId, at }: { projectId: number; inboundId: string; at: number },
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.reply_source_email (project_id, inbound_id, received_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
    [projectId, inboundId, new Date(at)],
  );
}

/** Forgets up to `limit` emails that were received before `before`, oldest first. Returns their number. */
export async function forgetKnownEmails(
  tx: Tx,
  { projectId, before, limit }: { projectId: number; before: Date; limit: number },
): Promise<number> {
  const rows = await tx.query(
    `WITH old AS MATERIALIZED (
       SELECT inbound_id FROM beckon.reply_source_email WHERE project_id = $1 AND received_at < $2
       ORDER BY received_at LIMIT $3 FOR UPDATE SKIP LOCKED
     )
     DELETE FROM beckon.reply_source_email e USING old WHERE e.project_id = $1 AND e.inbound_id = old.inbound_id RETURNING 1`,
    [projectId, before, limit],
  );
  return rows.length;
}

/** Replaces the encrypted value of the same generation only: a later one is already encrypted with the current key. */
export async function updateEncryptedSources(tx: Tx, sources: EncryptedSource[]): Promise<void> {
  await tx.query(
    `UPDATE beckon.reply_source s SET encrypted_secrets = i.encrypted
     FROM unnest($1::bigint[], $2::integer[], $3::bytea[]) AS i(project_id, generation, encrypted)
     WHERE s.project_id = i.project_id AND s.generation = i.generation`,
    [
      plainList(sources.map(({ projectId }) => projectId)),
      plainList(sources.map(({ generation }) => generation)),
      sources.map(({ encrypted }) => encrypted),
    ],
  );
}
