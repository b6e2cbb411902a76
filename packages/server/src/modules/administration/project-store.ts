/** Writes `project`, `project_settings` and the rows of `rate_limit`. The limiter counts its tokens (`platform/rate-limits`). */

import type { EndpointRateLimit } from '@beckon/contract/dashboard';
import type { Tx } from '../../platform/db/statements.ts';
import type { ProjectRow } from '../workspace/index.ts';

export async function nextProjectId(tx: Tx): Promise<number> {
  const rows = await tx.query<{ id: number }>(`SELECT nextval('beckon.project_id_seq') AS id`);
  if (!rows[0]) throw new Error('a sequence without a next value');
  return rows[0].id;
}

/** Counts the projects of an organization, suspended ones too, but neither sandboxes nor demos. */
export async function countProjectsOf(tx: Tx, organizationId: string): Promise<number> {
  const rows = await tx.query<{ projects: number }>(
    `SELECT count(*) AS projects FROM beckon.project
     WHERE organization_id = $1 AND sandbox_of IS NULL AND NOT is_demo`,
    [organizationId],
  );
  return rows[0]?.projects ?? 0;
}

export async function insertProject(
  tx: Tx,
  row: Omit<ProjectRow, 'suspended_at'> & {
    organization_id: string | null;
    is_demo: boolean;
    sandbox_of: number | null;
  },
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.project (project_id, name, livemode, created_at, organization_id, is_demo, sandbox_of)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      row.project_id,
      row.name,
      row.livemode,
      row.created_at,
      row.organization_id,
      row.is_demo,
      row.sandbox_of,
    ],
  );
  await tx.query(`INSERT INTO beckon.project_settings (project_id, settings) VALUES ($1, '{}')`, [
    row.project_id,
  ]);
}

/** Assigns the projects created before the first organization to it, and returns their number. */
export async function adoptProjects(tx: Tx, organizationId: string): Promise<number> {
  const rows = await tx.query(
    `UPDATE beckon.project SET organization_id = $1 WHERE organization_id IS NULL RETURNING project_id`,
    [organizationId],
  );
  return rows.length;
}

/** Suspends a project. The first suspension counts, so a second one does not change its time. */
export async function updateSuspended(
  tx: Tx,
  { projectId, at }: { projectId: number; at: Date | null },
): Promise<ProjectRow | undefined> {
  const rows = await tx.query<ProjectRow>(
    `UPDATE beckon.project
     SET suspended_at = CASE WHEN $2::timestamptz IS NULL THEN NULL ELSE coalesce(suspended_at, $2) END
     WHERE project_id = $1 OR sandbox_of = $1 RETURNING project_id, name, livemode, suspended_at, created_at`,
    [projectId, at],
  );
  return rows.find((row) => row.project_id === projectId);
}

type SandboxRow = { project_id: number; sandbox_of: number; is_closed: boolean };

export function listSandboxRows(tx: Tx, projectIds: number[]): Promise<SandboxRow[]> {
  return tx.query(
    `SELECT project_id, sandbox_of, is_closed FROM beckon.project
     WHERE project_id = ANY ($1::bigint[]) AND sandbox_of IS NOT NULL`,
    [projectIds],
  );
}

/** Requires the lock of the live project, so that it gets only one sandbox. */
export async function setSandbox(
  tx: Tx,
  { liveId, sandboxId }: { liveId: number; sandboxId: number },
): Promise<void> {
  await tx.query(`UPDATE beckon.project SET sandbox_id = $2 WHERE project_id = $1`, [liveId, sandboxId]);
}

/** Requires the lock on the sandbox's queue row, so that this comes before or after a flush as a whole. */
export async function setClosed(
  tx: Tx,
  { sandboxId, isClosed }: { sandboxId: number; isClosed: boolean },
): Promise<void> {
  await tx.query(`UPDATE beckon.project SET is_closed = $2 WHERE project_id = $1`, [sandboxId, isClosed]);
}

/** Replaces the copied settings of a sandbox. */
export async function replaceSettings(
  tx: Tx,
  { projectId, settings }: { projectId: number; settings: Record<string, string> },
): Promise<void> {
  await tx.query(`UPDATE beckon.project_settings SET settings = $2::jsonb WHERE project_id = $1`, [
    projectId,
    JSON.stringify(settings),
  ]);
}

/** Merges settings in the database, so that concurrent changes of different settings both succeed. */
export async function updateSettings(
  tx: Tx,
  { projectId, changes }: { projectId: number; changes: Record<string, string> },
): Promise<Record<string, string> | undefined> {
  const rows = await tx.query<{ settings: Record<string, string> }>(
    `UPDATE beckon.project_settings SET settings = settings || $2::jsonb WHERE project_id = $1
     RETURNING settings`,
    [projectId, JSON.stringify(changes)],
  );
  return rows[0]?.settings;
}

export async function insertRateLimits(
  tx: Tx,
  { projectId, limits, at }: { projectId: number; limits: EndpointRateLimit[]; at: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.rate_limit (project_id, endpoint, rate, burst, tokens, refilled_at)
     SELECT $1::bigint, endpoint, rate, burst, burst, $5::timestamptz
     FROM unnest($2::text[], $3::float8[], $4::float8[]) AS limits (endpoint, rate, burst)`,
    [
      projectId,
      limits.map((limit) => limit.endpoint),
      limits.map((limit) => limit.rate),
      limits.map((limit) => limit.burst),
      at,
    ],
  );
}

export function listRateLimitRows(tx: Tx, projectId: number): Promise<EndpointRateLimit[]> {
  return tx.query(`SELECT endpoint, rate, burst FROM beckon.rate_limit WHERE project_id = $1`, [projectId]);
}

type RateLimitChange = {
  projectId: number;
  endpoint: string;
  rate: number | null;
  burst: number | null;
  at: Date;
};

/**
 * Updates a rate limit. Tokens up to now are credited at the old rate. A full bucket stays full at its new size, and any other is capped at
 * it.
 */
export async function updateRateLimit(
  tx: Tx,
  change: RateLimitChange,
): Promise<EndpointRateLimit | undefined> {
  const rows = await tx.query<EndpointRateLimit>(
    `UPDATE beckon.rate_limit AS bucket SET
       rate = new.rate, burst = new.burst, refilled_at = greatest(refilled_at, $5),
       tokens = CASE WHEN earned >= bucket.burst THEN new.burst ELSE least(earned, new.burst) END
     FROM (SELECT endpoint, coalesce($3::float8, rate) AS rate, coalesce($4::float8, burst) AS burst,
             tokens + rate * greatest(0, extract(epoch FROM $5::timestamptz - refilled_at)::float8) AS earned
           FROM beckon.rate_limit WHERE project_id = $1 AND endpoint = $2 FOR UPDATE) AS new
     WHERE bucket.project_id = $1 AND bucket.endpoint = new.endpoint
     RETURNING bucket.endpoint, bucket.rate, bucket.burst`,
    [change.projectId, change.endpoint, change.rate, change.burst, change.at],
  );
  return rows[0];
}
