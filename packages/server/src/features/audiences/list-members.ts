import type { Tx } from '../../io/db/index.ts';
import { unknownAudience } from './audience.ts';
import { listCurrent, seen } from './current.ts';
import { findAudience } from './find-audience.ts';
import { listMemberRows } from './reads.ts';

export type Member = { external_user_id: string; since: Date };
export const MEMBERS_PAGE_MAX = 1_000;

/** In the order of their ids; `after` is the last id of the page before. */
export async function listMembers(
  tx: Tx,
  page: { projectId: number; reference: string; after?: string | null; limit: number },
): Promise<Member[]> {
  const { projectId, reference, after = null } = page;
  const { id } = await findAudience(tx, { projectId, reference });
  const audience = (await listCurrent(tx, projectId)).find((one) => one.id === id);
  if (!audience) throw unknownAudience(reference);
  const limit = Math.min(page.limit, MEMBERS_PAGE_MAX);
  return listMemberRows(tx, { projectId, edition: seen(audience).edition, after, limit });
}
