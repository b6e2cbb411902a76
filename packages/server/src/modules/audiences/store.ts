/** Writes to `audience`, `audience_version`, `audience_member`, `audience_timer` and `audience_day`. `reads.ts` reads them. */

import type { PersonId } from '../users/index.ts';
import { momentList, plainList, textList } from '../../platform/db/list.ts';
import type { Tx } from '../../platform/db/statements.ts';

export type AudienceVersionState = 'building' | 'served' | 'retired';

export type AudienceRow = {
  project_id: number;
  id: string;
  name: string;
  created_at: Date;
  updated_at: Date;
};
const COLUMNS = 'project_id, id, name, created_at, updated_at';

export async function insertAudience(tx: Tx, row: AudienceRow): Promise<void> {
  const text = `INSERT INTO beckon.audience (${COLUMNS}) VALUES ($1, $2, $3, $4, $5)`;
  await tx.query(text, [row.project_id, row.id, row.name, row.created_at, row.updated_at]);
}

export async function updateAudience(tx: Tx, row: Omit<AudienceRow, 'created_at'>): Promise<void> {
  const text = `UPDATE beckon.audience SET name = $3, updated_at = $4 WHERE project_id = $1 AND id = $2`;
  await tx.query(text, [row.project_id, row.id, row.name, row.updated_at]);
}

export async function deleteAudienceRows(tx: Tx, projectId: number, audienceId: string): Promise<void> {
  const key = [projectId, audienceId];
  await tx.query(`DELETE FROM beckon.audience_day WHERE project_id = $1 AND audience_id = $2`, key);
  await tx.query(`DELETE FROM beckon.audience WHERE project_id = $1 AND id = $2`, key);
}

export type NewAudienceVersion = {
  projectId: number;
  versionId: number;
  audienceId: string;
  definition: unknown;
  people: number;
  createdAt: Date;
};

export async function insertAudienceVersion(tx: Tx, row: NewAudienceVersion): Promise<void> {
  const { projectId, versionId, audienceId, definition, people, createdAt } = row;
  await tx.query(
    `INSERT INTO beckon.audience_version
       (project_id, version_id, audience_id, state, definition, members, users, built, created_at)
     VALUES ($1, $2, $3, 'building', $4::jsonb, 0, $5, 0, $6)`,
    [projectId, versionId, audienceId, JSON.stringify(definition), people, createdAt],
  );
}

export async function retireAudienceVersions(
  tx: Tx,
  {
    projectId,
    audienceId,
    states,
  }: { projectId: number; audienceId: string; states: AudienceVersionState[] },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.audience_version SET state = 'retired', built_to = NULL
     WHERE project_id = $1 AND audience_id = $2 AND state = ANY ($3)`,
    [projectId, audienceId, states],
  );
}

export type AudienceVersionKeyRow = { project_id: number; version_id: number };

export type ServedRow = { audience_id: string; members: number };

export async function findBuilding(
  tx: Tx,
  projectId: number,
  versionId: number,
): Promise<ServedRow | undefined> {
  const rows = await tx.query<ServedRow>(
    `SELECT audience_id, members FROM beckon.audience_version
     WHERE project_id = $1 AND version_id = $2 AND state = 'building' FOR UPDATE`,
    [projectId, versionId],
  );
  return rows[0];
}

/** Marks a version as served. All users are built by then, so `built` is the number of users. */
export async function updateServed(
  tx: Tx,
  { projectId, versionId }: { projectId: number; versionId: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.audience_version SET state = 'served', users = built, built_to = NULL
     WHERE project_id = $1 AND version_id = $2`,
    [projectId, versionId],
  );
}

type MemberKey = PersonId & { versionId: number };

function columns(keys: MemberKey[]): [string, string, string] {
  return [
    plainList(keys.map((key) => key.projectId)),
    textList(keys.map((key) => key.userId)),
    plainList(keys.map((key) => key.versionId)),
  ];
}

const KEYS = `unnest($1::bigint[], $2::text[], $3::bigint[]) AS x(project_id, external_user_id, version_id)`;

/** Returns one row per membership that was really added. */
export function insertMembers(
  tx: Tx,
  rows: (MemberKey & { since: Date })[],
): Promise<AudienceVersionKeyRow[]> {
  return tx.prepared({
    name: 'audiences.join',
    text: `INSERT INTO beckon.audience_member AS m (project_id, external_user_id, version_id, since)
           SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::timestamptz[])
           ON CONFLICT DO NOTHING RETURNING m.project_id, m.version_id`,
    values: [...columns(rows), momentList(rows.map((row) => row.since.getTime()))],
  });
}

/** Returns one row per membership that was really removed. */
export function deleteMembers(tx: Tx, rows: MemberKey[]): Promise<AudienceVersionKeyRow[]> {
  return tx.prepared({
    name: 'audiences.leave',
    text: `DELETE FROM beckon.audience_member AS m USING ${KEYS}
           WHERE m.project_id = x.project_id AND m.external_user_id = x.external_user_id AND m.version_id = x.version_id
           RETURNING m.project_id, m.version_id`,
    values: columns(rows),
  });
}

export async function upsertMemberTimers(tx: Tx, rows: (MemberKey & { at: Date })[]): Promise<void> {
  await tx.prepared({
    name: 'audiences.set_timers',
    text: `INSERT INTO beckon.audience_timer (project_id, external_user_id, version_id, at)
           SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::timestamptz[])
           ON CONFLICT (project_id, external_user_id, version_id) DO UPDATE SET at = excluded.at`,
    values: [...columns(rows), momentList(rows.map((row) => row.at.getTime()))],
  });
}

export async function deleteMemberTimers(tx: Tx, rows: MemberKey[]): Promise<void> {
  await tx.prepared({
    name: 'audiences.delete_timers',
    text: `DELETE FROM beckon.audience_timer AS d USING ${KEYS}
           WHERE d.project_id = x.project_id AND d.external_user_id = x.external_user_id AND d.version_id = x.version_id`,
    values: columns(rows),
  });
}

export type CountedRow = AudienceVersionKeyRow & {
  audience_id: string;
  state: AudienceVersionState;
  members: number;
};

export function updateCounts(
  tx: Tx,
  rows: (AudienceVersionKeyRow & { delta: number })[],
): Promise<CountedRow[]> {
  return tx.prepared({
    name: 'audiences.count',
    text: `UPDATE beckon.audience_version AS e SET members = e.members + x.delta
           FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS x(project_id, version_id, delta)
           WHERE e.project_id = x.project_id AND e.version_id = x.version_id
           RETURNING e.project_id, e.version_id, e.audience_id, e.state, e.members`,
    values: [
      rows.map((row) => row.project_id),
      rows.map((row) => row.version_id),
      rows.map((row) => row.delta),
    ],
  });
}

export type AudienceDayRow = {
  project_id: number;
  audience_id: string;
  joined: number;
  left_count: number;
  members: number;
};

export async function upsertDays(tx: Tx, rows: AudienceDayRow[], day: string): Promise<void> {
  await tx.prepared({
    name: 'audiences.day',
    text: `INSERT INTO beckon.audience_day AS d (project_id, audience_id, day, joined, left_count, members)
           SELECT project_id, audience_id, $6::date, joined, left_count, members
           FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[])
             AS x(project_id, audience_id, joined, left_count, members)
           ON CONFLICT (project_id, audience_id, day) DO UPDATE SET
             joined = d.joined + excluded.joined, left_count = d.left_count + excluded.left_count, members = excluded.members`,
    values: [
      rows.map((row) => row.project_id),
      rows.map((row) => row.audience_id),
      rows.map((row) => row.joined),
      rows.map((row) => row.left_count),
      rows.map((row) => row.members),
      day,
    ],
  });
}

export function deletePersonMembers(
  tx: Tx,
  { projectId, userId }: PersonId,
): Promise<AudienceVersionKeyRow[]> {
  const text = `DELETE FROM beckon.audience_member WHERE project_id = $1 AND external_user_id = $2
                RETURNING project_id, version_id`;
  return tx.query(text, [projectId, userId]);
}

export function deletePersonTimers(
  tx: Tx,
  { projectId, userId }: PersonId,
): Promise<AudienceVersionKeyRow[]> {
  const text = `DELETE FROM beckon.audience_timer WHERE project_id = $1 AND external_user_id = $2
                RETURNING project_id, version_id`;
  return tx.query(text, [projectId, userId]);
}

/** Deletes rows of a retired version, which has no writers anymore. Returns how many were deleted. */
export async function deleteRetiredRows(
  tx: Tx,
  table: 'audience_member' | 'audience_timer',
  { projectId, versionId, limit }: { projectId: number; versionId: number; limit: number },
): Promise<number> {
  const text = table === 'audience_member' ? RETIRED_MEMBERS : RETIRED_TIMERS;
  return (await tx.query(text, [projectId, versionId, limit])).length;
}

const IS_RETIRED = `EXISTS (SELECT FROM beckon.audience_version e
  WHERE e.project_id = $1 AND e.version_id = $2 AND e.state = 'retired')`;

const RETIRED_MEMBERS = `
  DELETE FROM beckon.audience_member WHERE project_id = $1 AND version_id + 0 = $2 AND external_user_id IN (
    SELECT external_user_id FROM beckon.audience_member WHERE project_id = $1 AND version_id + 0 = $2 LIMIT $3
  ) AND ${IS_RETIRED} RETURNING 1`;

const RETIRED_TIMERS = `
  DELETE FROM beckon.audience_timer WHERE project_id = $1 AND version_id + 0 = $2 AND external_user_id IN (
    SELECT external_user_id FROM beckon.audience_timer WHERE project_id = $1 AND version_id + 0 = $2 LIMIT $3
  ) AND ${IS_RETIRED} RETURNING 1`;

export async function deleteAudienceVersion(tx: Tx, projectId: number, versionId: number): Promise<void> {
  const text = `DELETE FROM beckon.audience_version WHERE project_id = $1 AND version_id = $2 AND state = 'retired'`;
  await tx.query(text, [projectId, versionId]);
}
