import { deleteMailBefore } from '../../features/test-inbox/index.ts';
import type { Database } from '../../io/db/index.ts';

/** A few milliseconds of work. */
const STEP = 1_000;

/** Forgets the letters of a project that arrived before this moment; how many they were. What was sent stays sent. */
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
