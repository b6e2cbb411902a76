import { eraseAiDrafting } from './ai-drafting/store.ts';
import { eraseDrafts } from './store.ts';
import type { PersonId } from '../users/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** Deletes a user's drafts with their AI drafting. Returns the number of drafts. */
export async function eraseDraftRows(tx: Tx, person: PersonId): Promise<number> {
  const drafts = await eraseDrafts(tx, person);
  await eraseAiDrafting(tx, person);
  return drafts;
}
