import type { Tx } from '../../../platform/db/statements.ts';

export type MemberOfAny = { userId: string; versionId: number; since: number };

/** Lists the members of any of these versions who joined by `until`, each once, by user id. */
export async function listMembersOfAny(
  tx: Tx,
  page: { projectId: number; versionIds: number[]; until: number; after: string | null; limit: number },
): Promise<MemberOfAny[]> {
  const rows = await listMembersOfRows(tx, { ...page, until: new Date(page.until) });
  return rows.map(({ external_user_id: userId, version_id: versionId, since }) => ({
    userId,
    versionId,
    since: since.getTime(),
  }));
}

/** Counts the users who are in at least one of these versions. */
export async function countMembersOfAny(
  tx: Tx,
  { projectId, versionIds }: { projectId: number; versionIds: number[] },
): Promise<number> {
  return versionIds.length === 0 ? 0 : countMembersOfRows(tx, { projectId, versionIds });
}

/** A member of one of several audiences. A user in more than one is listed for the first. */
type MemberOfRow = { external_user_id: string; version_id: number; since: Date };

/** Lists those who were members by `until`, each once, by user id. Reads a table of the audiences module. */
function listMembersOfRows(
  tx: Tx,
  page: { projectId: number; versionIds: number[]; until: Date; after: string | null; limit: number },
): Promise<MemberOfRow[]> {
  const { projectId, versionIds, until, after, limit } = page;
  return tx.query(
    `SELECT DISTINCT ON (m.external_user_id) m.external_user_id, e.version_id, m.since
     FROM unnest($2::bigint[]) WITH ORDINALITY AS e(version_id, position)
     CROSS JOIN LATERAL (
       SELECT external_user_id, since FROM beckon.audience_member
       WHERE project_id = $1 AND version_id + 0 = e.version_id AND since <= $3 AND external_user_id > $4
       ORDER BY external_user_id LIMIT $5
     ) m
     ORDER BY m.external_user_id, e.position LIMIT $5`,
    [projectId, versionIds, until, after ?? '', limit],
  );
}

/** Reads a table of the audiences module. */
async function countMembersOfRows(
  tx: Tx,
  { projectId, versionIds }: { projectId: number; versionIds: number[] },
): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    `SELECT count(DISTINCT external_user_id) AS count FROM beckon.audience_member
     WHERE project_id = $1 AND version_id + 0 = ANY ($2::bigint[])`,
    [projectId, versionIds],
  );
  return rows[0]?.count ?? 0;
}
