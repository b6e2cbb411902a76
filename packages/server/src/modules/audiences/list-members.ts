import type { Tx } from '../../platform/db/statements.ts';
import { findAudience, unknownAudience } from './audience.ts';
import { listCurrent, visibleVersion } from './current-versions.ts';
import { type AudienceMemberRow, countMembersOfRows, listMemberRows, listMembersOfRows } from './reads.ts';

export const MEMBERS_PAGE_MAX = 1_000;

/** Lists members by user id. `after` is the last id of the previous page. */
export async function listMembers(
  tx: Tx,
  page: { projectId: number; reference: string; after?: string | null; limit: number },
): Promise<AudienceMemberRow[]> {
  const { projectId, reference, after = null } = page;
  const { id } = await findAudience(tx, { projectId, reference });
  const audience = (await listCurrent(tx, projectId)).find((candidate) => candidate.id === id);
  if (!audience) throw unknownAudience(reference);
  const limit = Math.min(page.limit, MEMBERS_PAGE_MAX);
  return listMemberRows(tx, { projectId, versionId: visibleVersion(audience).versionId, after, limit });
}

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
