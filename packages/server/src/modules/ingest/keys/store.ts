import type { Tx } from '../../../platform/db/statements.ts';

/**
 * A row of `api_key`, which is looked up before its project is known. If tables are distributed, it is distributed by `last4` and not with
 * the tenant tables. So it is never joined with them, and the state of a project needs its own statement.
 */
export type KeyCandidateRow = {
  last4: string;
  id: string;
  env: string;
  project_id: number;
  salt: Buffer;
  hash: Buffer;
};

export function listLiveCandidates(tx: Tx, last4s: string[]): Promise<KeyCandidateRow[]> {
  return tx.prepared({
    name: 'keys.listLiveCandidates',
    text: `SELECT last4, id, env, project_id, salt, hash FROM beckon.api_key
           WHERE last4 = ANY($1) AND revoked_at IS NULL`,
    values: [last4s],
  });
}

export async function listLiveIds(tx: Tx, keys: { last4: string; id: string }[]): Promise<string[]> {
  const rows = await tx.prepared<{ id: string }>({
    name: 'keys.listLiveIds',
    text: `SELECT id FROM beckon.api_key WHERE last4 = ANY($1) AND id = ANY($2::uuid[]) AND revoked_at IS NULL`,
    values: [keys.map((key) => key.last4), keys.map((key) => key.id)],
  });
  return rows.map((row) => row.id);
}

export type ProjectStateRow = { project_id: number; livemode: boolean; suspended: boolean };

/** Reads columns of the `projects` module. Keys of a suspended project are rejected, and keys of a closed sandbox do not exist. */
export function listProjectStates(tx: Tx, projectIds: number[]): Promise<ProjectStateRow[]> {
  return tx.prepared({
    name: 'keys.listProjectStates',
    text: `SELECT project_id, livemode, suspended_at IS NOT NULL AS suspended FROM beckon.project
           WHERE project_id = ANY($1) AND NOT is_closed`,
    values: [projectIds],
  });
}

/** Replaces only the hash that was read. Two processes that find the old one at the same time write the same hash twice. */
export async function updateHash(
  tx: Tx,
  row: { last4: string; id: string; oldHash: Buffer; hash: Buffer },
): Promise<void> {
  await tx.query(`UPDATE beckon.api_key SET hash = $3 WHERE last4 = $1 AND id = $2 AND hash = $4`, [
    row.last4,
    row.id,
    row.hash,
    row.oldHash,
  ]);
}

export async function countActive(tx: Tx, projectId: number): Promise<number> {
  const rows = await tx.query<{ keys: number }>(
    `SELECT count(*) AS keys FROM beckon.api_key WHERE project_id = $1 AND revoked_at IS NULL`,
    [projectId],
  );
  return rows[0]?.keys ?? 0;
}

export async function insertKey(
  tx: Tx,
  row: KeyCandidateRow & { label: string; createdAt: Date; createdBy: string | null },
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.api_key (last4, id, env, project_id, label, salt, hash, created_at, created_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [row.last4, row.id, row.env, row.project_id, row.label, row.salt, row.hash, row.createdAt, row.createdBy],
  );
}

export type KeyRow = {
  last4: string;
  id: string;
  env: string;
  project_id: number;
  label: string;
  created_at: Date;
  created_by: string | null;
  revoked_at: Date | null;
};

const KEY_COLUMNS = 'last4, id, env, project_id, label, created_at, created_by, revoked_at';

export async function findKey(tx: Tx, id: string): Promise<KeyRow | undefined> {
  const rows = await tx.query<KeyRow>(`SELECT ${KEY_COLUMNS} FROM beckon.api_key WHERE id = $1`, [id]);
  return rows[0];
}

/** Revokes a key. The first revocation counts, so a second one does not change its time. */
export async function updateRevoked(
  tx: Tx,
  key: { last4: string; id: string; at: Date },
): Promise<Date | undefined> {
  const rows = await tx.query<{ revoked_at: Date }>(
    `UPDATE beckon.api_key SET revoked_at = coalesce(revoked_at, $3) WHERE last4 = $1 AND id = $2
     RETURNING revoked_at`,
    [key.last4, key.id, key.at],
  );
  return rows[0]?.revoked_at;
}

export function listKeyRows(tx: Tx, projectId: number): Promise<KeyRow[]> {
  return tx.query(`SELECT ${KEY_COLUMNS} FROM beckon.api_key WHERE project_id = $1 ORDER BY created_at, id`, [
    projectId,
  ]);
}

export type UseRow = {
  project_id: number;
  key_id: string;
  last_used_at: Date;
  client_name: string | null;
  client_version: string | null;
};

export function listUses(tx: Tx, projectId: number): Promise<UseRow[]> {
  return tx.query(
    `SELECT project_id, key_id, last_used_at, client_name, client_version FROM beckon.api_key_use
     WHERE project_id = $1`,
    [projectId],
  );
}

/**
 * Writes the uses of keys. A use without a readable client keeps the known one. Rows are sorted, which avoids deadlocks between processes.
 */
export async function upsertUses(tx: Tx, rows: UseRow[]): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.api_key_use AS known (project_id, key_id, last_used_at, client_name, client_version)
     SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[])
       AS used (project_id, key_id, last_used_at, client_name, client_version)
     ORDER BY project_id, key_id
     ON CONFLICT (project_id, key_id) DO UPDATE SET
       last_used_at = greatest(known.last_used_at, excluded.last_used_at),
       client_name = coalesce(excluded.client_name, known.client_name),
       client_version = CASE WHEN excluded.client_name IS NULL THEN known.client_version
                             ELSE excluded.client_version END`,
    [
      rows.map((row) => row.project_id),
      rows.map((row) => row.key_id),
      rows.map((row) => row.last_used_at),
      rows.map((row) => row.client_name),
      rows.map((row) => row.client_version),
    ],
  );
}

export type TrafficRow = { project_id: number; key_id: string; day: string; requests: number };

/**
 * Adds request counts. Rows are sorted, which avoids deadlocks between processes. Counts that are too old to be shown are deleted with the
 * first use of a new day.
 */
export async function addTraffic(tx: Tx, rows: TrafficRow[]): Promise<void> {
  const add = (
    day: string,
  ): string => `INSERT INTO beckon.api_key_traffic AS known (project_id, key_id, day, requests)
     SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::date[], $4::bigint[]) AS used (project_id, key_id, day, requests)
     ORDER BY project_id, key_id, day
     ON CONFLICT (project_id, key_id, day) DO UPDATE SET requests = known.requests + excluded.requests
     RETURNING project_id, ${day}, xmax = 0 AS is_new`;
  // Where tables are distributed, RETURNING may not convert a date.
  const text = tx.isDistributed
    ? `WITH added AS (${add('day')}) SELECT project_id, day::text, is_new FROM added`
    : add('day::text');
  const added = await tx.query<{ project_id: number; day: string; is_new: boolean }>(text, [
    rows.map((row) => row.project_id),
    rows.map((row) => row.key_id),
    rows.map((row) => row.day),
    rows.map((row) => row.requests),
  ]);
  const begun = added.filter((row) => row.is_new);
  if (begun.length === 0) return;
  await tx.query(
    `DELETE FROM beckon.api_key_traffic t USING unnest($1::bigint[], $2::date[]) AS begun (project_id, day)
     WHERE t.project_id = begun.project_id AND t.day < begun.day - $3::int`,
    [begun.map((row) => row.project_id), begun.map((row) => row.day), TRAFFIC_KEPT_DAYS],
  );
}

const TRAFFIC_KEPT_DAYS = 90;

export function listTraffic(tx: Tx, projectId: number, since: string): Promise<TrafficRow[]> {
  return tx.query(
    `SELECT project_id, key_id, day::text AS day, requests FROM beckon.api_key_traffic
     WHERE project_id = $1 AND day >= $2::date`,
    [projectId, since],
  );
}
