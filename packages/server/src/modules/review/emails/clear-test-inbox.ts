import { deleteMailBefore } from '../../sending/index.ts';
import type { Database } from '../../../platform/db/database.ts';

/** A step takes a few milliseconds. */
const STEP = 1_000;

/** Deletes the emails of a project that arrived before this time, and returns their number. Their drafts and messages stay sent. */
export async function clearTestInbox(
  db: Pick<Database, 'query' | 'prepared'>,
  { projectId, before }: { projectId: number; before: number },
): Promise<number> {
  let cleared = 0;
  let step = STEP;
  while (step === STEP) {
    step = await deleteMailBefore(db, { projectId, before, limit: STEP });
    cleared += step;
  }
  return cleared;
}
