/** Writes `relay` and `relay_assignment`. */

import { plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { RelaySettings } from '../../../platform/relays/adapter.ts';
import { type ConfiguredRelay, INSTALLATION, type RelayId } from './relay.ts';

export type NewRelay = Pick<
  ConfiguredRelay,
  'projectId' | 'id' | 'kind' | 'name' | 'settings' | 'createdAt'
> & {
  encrypted: Uint8Array;
};

/** Returns false if the project has a relay of this name, or if there is already feedback of `SMTP_URL`. */
export async function insertRelay(tx: Tx, relay: NewRelay): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO beckon.relay (project_id, id, kind, name, settings, encrypted_secrets, created_at, changed_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT DO NOTHING RETURNING 1`,
    [
      relay.projectId,
      relay.id,
      relay.kind,
      relay.name,
      JSON.stringify(relay.settings),
      relay.encrypted,
      new Date(relay.createdAt),
    ],
  );
  return rows.length > 0;
}

/** Requires a lock on the row. Emails that are claimed from now on are sent with the new settings. */
export async function updateSettings(
  tx: Tx,
  {
    projectId,
    id,
    settings,
    encrypted,
    at,
  }: RelayId & { settings: RelaySettings; encrypted: Uint8Array; at: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.relay SET settings = $3, encrypted_secrets = $4, changed_at = $5, generation = generation + 1,
       checked_at = NULL, check_failure = NULL, failing_since = NULL, failed_at = NULL, failure = NULL
     WHERE project_id = $1 AND id = $2`,
    [projectId, id, JSON.stringify(settings), encrypted, new Date(at)],
  );
}

/** Returns false if another relay of the project has this name. */
export async function updateName(
  tx: Tx,
  { projectId, id, name }: RelayId & { name: string },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.relay SET name = $3 WHERE project_id = $1 AND id = $2
       AND NOT EXISTS (SELECT 1 FROM beckon.relay r WHERE r.project_id = $1 AND r.name = $3 AND r.id <> $2) RETURNING 1`,
    [projectId, id, name],
  );
  return rows.length > 0;
}

/** Records the result of a test. */
export async function updateCheck(
  tx: Tx,
  { projectId, id, failure, at }: RelayId & { failure: string | null; at: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.relay SET checked_at = $3, check_failure = $4 WHERE project_id = $1 AND id = $2`,
    [projectId, id, new Date(at), failure],
  );
}

type Health = RelayId & { generation: number; failure: string | null; at: number };

/** Records that a worker paused a relay, or that the relay works again. Workers with older settings change nothing. */
export async function updateHealth(
  tx: Tx,
  { projectId, id, generation, failure, at }: Health,
): Promise<void> {
  await tx.query(
    `UPDATE beckon.relay SET failure = $4, failed_at = CASE WHEN $4::text IS NULL THEN NULL ELSE $5::timestamptz END,
       failing_since = CASE WHEN $4::text IS NULL THEN NULL ELSE coalesce(failing_since, $5::timestamptz) END
     WHERE project_id = $1 AND id = $2 AND generation = $3`,
    [projectId, id, generation, failure, new Date(at)],
  );
}

export async function deleteRelay(tx: Tx, { projectId, id }: RelayId): Promise<void> {
  await tx.query(`DELETE FROM beckon.relay WHERE project_id = $1 AND id = $2`, [projectId, id]);
}

export type Assignment = { projectId: number; domain: string };

/** Replaces the relay of a project or of one of its domains. */
export async function upsertAssignment(
  tx: Tx,
  { projectId, domain, relay }: Assignment & { relay: RelayId },
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.relay_assignment (project_id, domain, relay_project_id, relay_id) VALUES ($1, $2, $3, $4)
     ON CONFLICT (project_id, domain) DO UPDATE SET relay_project_id = excluded.relay_project_id, relay_id = excluded.relay_id`,
    [projectId, domain, relay.projectId, relay.id],
  );
}

export async function deleteAssignment(tx: Tx, { projectId, domain }: Assignment): Promise<void> {
  await tx.query(`DELETE FROM beckon.relay_assignment WHERE project_id = $1 AND domain = $2`, [
    projectId,
    domain,
  ]);
}

export type EncryptedRelay = RelayId & { generation: number; encrypted: Buffer };

/** Replaces the encrypted value of the same generation only: a later one is already encrypted with the current key. */
export async function updateEncryptedSecrets(tx: Tx, relays: EncryptedRelay[]): Promise<void> {
  await tx.query(
    `UPDATE beckon.relay r SET encrypted_secrets = s.encrypted
     FROM unnest($1::bigint[], $2::uuid[], $3::integer[], $4::bytea[]) AS s(project_id, id, generation, encrypted)
     WHERE r.project_id = s.project_id AND r.id = s.id AND r.generation = s.generation`,
    [
      plainList(relays.map(({ projectId }) => projectId)),
      plainList(relays.map(({ id }) => id)),
      plainList(relays.map(({ generation }) => generation)),
      relays.map(({ encrypted }) => encrypted),
    ],
  );
}

/** Records that a bounce or complaint came back through a relay. Only the first one counts. */
export async function markFeedbackProven(
  tx: Tx,
  { projectId, id, at }: RelayId & { at: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.relay SET feedback_proven_at = $3
     WHERE project_id = $1 AND id = $2 AND feedback_proven_at IS NULL`,
    [projectId, id, new Date(at)],
  );
}

/** Moves the position in the events of the provider, unless another worker moved it. */
export async function updateFeedbackCursor(
  tx: Tx,
  { projectId, id, before, after }: RelayId & { before: string | null; after: string },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.relay SET feedback_cursor = $4
     WHERE project_id = $1 AND id = $2 AND feedback_cursor IS NOT DISTINCT FROM $3`,
    [projectId, id, before, after],
  );
}

/** The same for a bounce that arrived by email, if the email was sent through a relay. Reads `email`. */
export async function markFeedbackProvenBy(
  tx: Tx,
  { projectId, emailId, at }: { projectId: number; emailId: string; at: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.relay r SET feedback_proven_at = $3 FROM beckon.email m
     WHERE m.project_id = $1 AND m.id = $2 AND r.project_id = ANY (ARRAY[$1, $4]::bigint[])
       AND (r.id = m.relay OR m.relay IS NULL AND r.kind = 'smtp_url') AND r.feedback_proven_at IS NULL`,
    [projectId, emailId, new Date(at), INSTALLATION],
  );
}
