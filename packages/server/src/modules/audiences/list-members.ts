import type { AudienceMember } from '@beckon/contract/dashboard';
import type { Tx } from '../../platform/db/statements.ts';
import { findAudience, unknownAudience } from './audience.ts';
import { listCurrent, visibleVersion } from './current-versions.ts';
import { listMemberRows } from './reads.ts';

export const MEMBERS_PAGE_MAX = 1_000;

/** Lists members by user id. `after` is the last id of the previous page. */
export async function listMembers(
  tx: Tx,
  page: { projectId: number; reference: string; after?: string | null; limit: number },
): Promise<AudienceMember[]> {
  const { projectId, reference, after = null } = page;
  const { id } = await findAudience(tx, { projectId, reference });
  const audience = (await listCurrent(tx, projectId)).find((candidate) => candidate.id === id);
  if (!audience) throw unknownAudience(reference);
  const limit = Math.min(page.limit, MEMBERS_PAGE_MAX);
  return listMemberRows(tx, { projectId, versionId: visibleVersion(audience).versionId, after, limit });
}
