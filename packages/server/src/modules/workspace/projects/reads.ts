/** Reads of the tables `project` and `project_settings` of the administration module. */

import type { Tx } from '../../../platform/db/statements.ts';

export type ProjectRow = {
  project_id: number;
  name: string;
  livemode: boolean;
  suspended_at: Date | null;
  created_at: Date;
};

const COLUMNS = 'project_id, name, livemode, suspended_at, created_at';

export function listProjectRows(tx: Tx): Promise<ProjectRow[]> {
  return tx.query(`SELECT ${COLUMNS} FROM beckon.project ORDER BY project_id`);
}

export function listDemoRows(tx: Tx): Promise<ProjectRow[]> {
  return tx.query(`SELECT ${COLUMNS} FROM beckon.project WHERE is_demo ORDER BY project_id`);
}

export async function findProjectById(tx: Tx, projectId: number): Promise<ProjectRow | undefined> {
  const rows = await tx.query<ProjectRow>(`SELECT ${COLUMNS} FROM beckon.project WHERE project_id = $1`, [
    projectId,
  ]);
  return rows[0];
}

export function listProjectsByName(tx: Tx, name: string): Promise<ProjectRow[]> {
  return tx.query(`SELECT ${COLUMNS} FROM beckon.project WHERE name = $1 ORDER BY project_id`, [name]);
}

/** The live project of a sandbox or the sandbox of a live project, with the data that decides what either may do. */
export type PairRow = {
  livemode: boolean;
  is_demo: boolean;
  organization_id: string | null;
  name: string;
  sandbox_of: number | null;
  sandbox_id: number | null;
  is_closed: boolean;
  is_suspended: boolean;
};

export async function findPair(tx: Tx, projectId: number): Promise<PairRow | undefined> {
  const rows = await tx.query<PairRow>(
    `SELECT livemode, is_demo, organization_id, name, sandbox_of, sandbox_id, is_closed,
            suspended_at IS NOT NULL AS is_suspended
     FROM beckon.project WHERE project_id = $1`,
    [projectId],
  );
  return rows[0];
}

export async function findSettings(tx: Tx, projectId: number): Promise<Record<string, string> | undefined> {
  const rows = await tx.query<{ settings: Record<string, string> }>(
    `SELECT settings FROM beckon.project_settings WHERE project_id = $1`,
    [projectId],
  );
  return rows[0]?.settings;
}

type SettingsRow = {
  project_id: number;
  name: string;
  is_demo: boolean;
  livemode: boolean;
  settings: Record<string, string>;
};

export function listSettingsRows(tx: Tx, projectIds: number[]): Promise<SettingsRow[]> {
  if (tx.isDistributed) return listSettingsWithNames(tx, projectIds);
  return tx.query(
    `SELECT p.project_id, coalesce(live.name, p.name) AS name, p.is_demo, p.livemode, s.settings FROM beckon.project p
     JOIN beckon.project_settings s ON s.project_id = p.project_id
     LEFT JOIN beckon.project live ON live.project_id = p.sandbox_of WHERE p.project_id = ANY ($1::bigint[])`,
    [projectIds],
  );
}

/** Does the same where tables are distributed: a sandbox and its live project may be on two nodes, which no join reads. */
async function listSettingsWithNames(tx: Tx, projectIds: number[]): Promise<SettingsRow[]> {
  const rows = await tx.query<SettingsRow & { sandbox_of: number | null }>(
    `SELECT p.project_id, p.name, p.is_demo, p.livemode, p.sandbox_of, s.settings FROM beckon.project p
     JOIN beckon.project_settings s ON s.project_id = p.project_id WHERE p.project_id = ANY ($1::bigint[])`,
    [projectIds],
  );
  const liveIds = rows.flatMap(({ sandbox_of: liveId }) => liveId ?? []);
  if (liveIds.length === 0) return rows;
  const live = await tx.query<{ project_id: number; name: string }>(
    `SELECT project_id, name FROM beckon.project WHERE project_id = ANY ($1::bigint[])`,
    [liveIds],
  );
  const names = new Map(live.map(({ project_id: id, name }) => [id, name]));
  return rows.map(({ sandbox_of: liveId, ...row }) => ({
    ...row,
    name: (liveId === null ? undefined : names.get(liveId)) ?? row.name,
  }));
}
