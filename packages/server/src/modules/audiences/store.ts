import type { PersonId } from '../users/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** Writes to `audience`, `audience_edition`, `audience_member`, `audience_due` and `audience_day`. `reads.ts` reads them. */
export type EditionState = 'building' | 'served' | 'retired';

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

export type NewEdition = {
  projectId: number;
  edition: number;
  audienceId: string;
  definition: unknown;
  people: number;
  createdAt: Date;
};

export async function insertEdition(tx: Tx, row: NewEdition): Promise<void> {
  const { projectId, edition, audienceId, definition, people, createdAt } = row;
  await tx.query(
    `INSERT INTO beckon.audience_edition
       (project_id, edition, audience_id, state, definition, members, people, built, created_at)
     VALUES ($1, $2, $3, 'building', $4::jsonb, 0, $5, 0, $6)`,
    [projectId, edition, audienceId, JSON.stringify(definition), people, createdAt],
  );
}

export async function retireEditions(
  tx: Tx,
  { projectId, audienceId, states }: { projectId: number; audienceId: string; states: EditionState[] },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.audience_edition SET state = 'retired', built_to = NULL
     WHERE project_id = $1 AND audience_id = $2 AND state = ANY ($3)`,
    [projectId, audienceId, states],
  );
}

export type EditionKey = { project_id: number; edition: number };

export type Built = { projectId: number; edition: number; builtTo: string; built: number };

export async function updateBuilt(tx: Tx, built: Built): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.audience_edition SET built_to = $3, built = $4, people = greatest(people, $4)
     WHERE project_id = $1 AND edition = $2 AND state = 'building' RETURNING edition`,
    [built.projectId, built.edition, built.builtTo, built.built],
  );
  return rows.length > 0;
}

export type ServedRow = { audience_id: string; members: number };

export async function findBuilding(
  tx: Tx,
  projectId: number,
  edition: number,
): Promise<ServedRow | undefined> {
  const rows = await tx.query<ServedRow>(
    `SELECT audience_id, members FROM beckon.audience_edition
     WHERE project_id = $1 AND edition = $2 AND state = 'building' FOR UPDATE`,
    [projectId, edition],
  );
  return rows[0];
}

/** Marks an edition as served. All users are built by then, so `built` is the number of users. */
export async function updateServed(
  tx: Tx,
  { projectId, edition, at }: { projectId: number; edition: number; at: Date },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.audience_edition SET state = 'served', served_at = $3, people = built, built_to = NULL
     WHERE project_id = $1 AND edition = $2`,
    [projectId, edition, at],
  );
}

type Place = PersonId & { edition: number };

function columns(places: Place[]): [number[], string[], number[]] {
  return [
    places.map((one) => one.projectId),
    places.map((one) => one.userId),
    places.map((one) => one.edition),
  ];
}

const PLACES = `unnest($1::bigint[], $2::text[], $3::bigint[]) AS x(project_id, external_user_id, edition)`;

/** Returns one row per membership that was really added. */
export function insertMembers(tx: Tx, rows: (Place & { since: Date })[]): Promise<EditionKey[]> {
  return tx.prepared({
    name: 'audiences.join',
    text: `INSERT INTO beckon.audience_member AS m (project_id, external_user_id, edition, since)
           SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::timestamptz[])
           ON CONFLICT DO NOTHING RETURNING m.project_id, m.edition`,
    values: [...columns(rows), rows.map((row) => row.since)],
  });
}

/** Returns one row per membership that was really removed. */
export function deleteMembers(tx: Tx, rows: Place[]): Promise<EditionKey[]> {
  return tx.prepared({
    name: 'audiences.leave',
    text: `DELETE FROM beckon.audience_member AS m USING ${PLACES}
           WHERE m.project_id = x.project_id AND m.external_user_id = x.external_user_id AND m.edition = x.edition
           RETURNING m.project_id, m.edition`,
    values: columns(rows),
  });
}

export async function upsertDues(tx: Tx, rows: (Place & { at: Date })[]): Promise<void> {
  await tx.prepared({
    name: 'audiences.due',
    text: `INSERT INTO beckon.audience_due (project_id, external_user_id, edition, at)
           SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::timestamptz[])
           ON CONFLICT (project_id, external_user_id, edition) DO UPDATE SET at = excluded.at`,
    values: [...columns(rows), rows.map((row) => row.at)],
  });
}

export async function deleteDues(tx: Tx, rows: Place[]): Promise<void> {
  await tx.prepared({
    name: 'audiences.not_due',
    text: `DELETE FROM beckon.audience_due AS d USING ${PLACES}
           WHERE d.project_id = x.project_id AND d.external_user_id = x.external_user_id AND d.edition = x.edition`,
    values: columns(rows),
  });
}

export type CountedRow = EditionKey & { audience_id: string; state: EditionState; members: number };

export function updateCounts(tx: Tx, rows: (EditionKey & { delta: number })[]): Promise<CountedRow[]> {
  return tx.prepared({
    name: 'audiences.count',
    text: `UPDATE beckon.audience_edition AS e SET members = e.members + x.delta
           FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS x(project_id, edition, delta)
           WHERE e.project_id = x.project_id AND e.edition = x.edition
           RETURNING e.project_id, e.edition, e.audience_id, e.state, e.members`,
    values: [rows.map((row) => row.project_id), rows.map((row) => row.edition), rows.map((row) => row.delta)],
  });
}

export type AudienceDayRow = {
  project_id: number;
  audience_id: string;
  joined: number;
  departed: number;
  members: number;
};

export async function upsertDays(tx: Tx, rows: AudienceDayRow[], day: string): Promise<void> {
  await tx.prepared({
    name: 'audiences.day',
    text: `INSERT INTO beckon.audience_day AS d (project_id, audience_id, day, joined, departed, members)
           SELECT project_id, audience_id, $6::date, joined, departed, members
           FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[])
             AS x(project_id, audience_id, joined, departed, members)
           ON CONFLICT (project_id, audience_id, day) DO UPDATE SET
             joined = d.joined + excluded.joined, departed = d.departed + excluded.departed, members = excluded.members`,
    values: [
      rows.map((row) => row.project_id),
      rows.map((row) => row.audience_id),
      rows.map((row) => row.joined),
      rows.map((row) => row.departed),
      rows.map((row) => row.members),
      day,
    ],
  });
}

export function deletePersonMembers(tx: Tx, { projectId, userId }: PersonId): Promise<EditionKey[]> {
  const text = `DELETE FROM beckon.audience_member WHERE project_id = $1 AND external_user_id = $2
                RETURNING project_id, edition`;
  return tx.query(text, [projectId, userId]);
}

export function deletePersonDues(tx: Tx, { projectId, userId }: PersonId): Promise<EditionKey[]> {
  const text = `DELETE FROM beckon.audience_due WHERE project_id = $1 AND external_user_id = $2
                RETURNING project_id, edition`;
  return tx.query(text, [projectId, userId]);
}

/** Deletes rows of a retired edition, which has no writers anymore. Returns how many were deleted. */
export async function deleteSomeOfRetired(
  tx: Tx,
  table: 'audience_member' | 'audience_due',
  { projectId, edition, limit }: { projectId: number; edition: number; limit: number },
): Promise<number> {
  const text = table === 'audience_member' ? RETIRED_MEMBERS : RETIRED_DUES;
  return (await tx.query(text, [projectId, edition, limit])).length;
}

const IS_RETIRED = `EXISTS (SELECT FROM beckon.audience_edition e
  WHERE e.project_id = $1 AND e.edition = $2 AND e.state = 'retired')`;

const RETIRED_MEMBERS = `
  DELETE FROM beckon.audience_member WHERE project_id = $1 AND edition + 0 = $2 AND external_user_id IN (
    SELECT external_user_id FROM beckon.audience_member WHERE project_id = $1 AND edition + 0 = $2 LIMIT $3
  ) AND ${IS_RETIRED} RETURNING 1`;

const RETIRED_DUES = `
  DELETE FROM beckon.audience_due WHERE project_id = $1 AND edition + 0 = $2 AND external_user_id IN (
    SELECT external_user_id FROM beckon.audience_due WHERE project_id = $1 AND edition + 0 = $2 LIMIT $3
  ) AND ${IS_RETIRED} RETURNING 1`;

export async function deleteEdition(tx: Tx, projectId: number, edition: number): Promise<void> {
  const text = `DELETE FROM beckon.audience_edition WHERE project_id = $1 AND edition = $2 AND state = 'retired'`;
  await tx.query(text, [projectId, edition]);
}
