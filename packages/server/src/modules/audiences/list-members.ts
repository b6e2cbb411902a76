import type { Tx } from '../../platform/db/statements.ts';
import { findAudience, unknownAudience } from './audience.ts';
import { listCurrent, seen } from './current-versions.ts';
import { type AudienceMemberRow, countMembersOfRows, listMemberRows, listMembersOfRows } from './reads.ts';

export const MEMBERS_PAGE_MAX = 1_000;

/** Lists members by user id. `after` is the last id of the previous page. */
export async function listMembers(
  tx: Tx,
  page: { projectId: number; reference: string; after?: string | null; limit: number },
): Promise<AudienceMemberRow[]> {
  const { projectId, reference, after = null } = page;
  const { id } = await findAudience(tx, { projectId, reference });
  const audience = (await listCurrent(tx, projectId)).find((one) => one.id === id);
  if (!audience) throw unknownAudience(reference);
  const limit = Math.min(page.limit, MEMBERS_PAGE_MAX);
  return listMemberRows(tx, { projectId, edition: seen(audience).edition, after, limit });
}

export type MemberOfAny = { userId: string; edition: number; since: number };

/** Lists the members of any of these editions who joined by `until`, each once, by user id. */
export async function listMembersOfAny(
  tx: Tx,
  page: { projectId: number; editions: number[]; until: number; after: string | null; limit: number },
): Promise<MemberOfAny[]> {
  const rows = await listMembersOfRows(tx, { ...page, until: new Date(page.until) });
  return rows.map(({ external_user_id: userId, edition, since }) => ({
    userId,
    edition,
    since: since.getTime(),
  }));
}

/** Counts the users who are in at least one of these editions. */
export async function countMembersOfAny(
  tx: Tx,
  { projectId, editions }: { projectId: number; editions: number[] },
): Promise<number> {
  return editions.length === 0 ? 0 : countMembersOfRows(tx, { projectId, editions });
}
