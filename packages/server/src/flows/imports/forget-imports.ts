import {
  deleteOldFindings,
  lockImport,
  listIdle,
  listUncleared,
  moveImport,
} from '../../features/imports/index.ts';
import { listProjects } from '../../features/projects/index.ts';
import type { Database } from '../../io/db/index.ts';
import { clearImport } from './clear-import.ts';

/** A file holds what it holds of people: it does not lie here for longer. */
const IMPORT_KEPT_MS = 7 * 86_400_000;
const AT_ONCE = 100;
const FINDINGS_STEP = 5_000;

/** Cancels what nobody went on with, and removes the files of what has ended and the findings of long ago. */
export async function forgetImports(
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>,
  stopping: () => boolean,
): Promise<void> {
  const before = new Date(db.clock.now() - IMPORT_KEPT_MS);
  for (const ref of await listIdle(db, before, AT_ONCE)) {
    await db.transaction(async (tx) => {
      const one = await lockImport(tx, ref);
      if (!one || one.changedAt >= before.getTime()) return;
      await moveImport(tx, { ref, move: 'cancel', now: db.clock.now(), change: () => ({ problem: LEFT }) });
    });
  }
  for (const ref of await listUncleared(db, AT_ONCE)) await clearImport(db, ref);
  for (const { id: projectId } of await listProjects(db)) {
    const step = { projectId, before, limit: FINDINGS_STEP };
    while (!stopping() && (await deleteOldFindings(db, step)) === FINDINGS_STEP);
  }
}

const LEFT = 'Nobody went on with it for 7 days, so its file was removed';
