import { deleteSnapshotRows } from '../billing/store.ts';
import { moveImport } from '../move-import.ts';
import { listIdle, listUncleared } from '../reads.ts';
import { deleteOldFindings, deleteParts, type ImportRef, lockImport } from '../store.ts';
import { listProjects } from '../../workspace/index.ts';
import { forEachInOrder } from '../../../platform/async/one-by-one.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { JobRun } from '../../../platform/jobs/scheduler.ts';
import type { Log, LogFields } from '../../../platform/log.ts';

/** A file contains personal data, so it is kept no longer than this. */
const IMPORT_KEPT_MS = 7 * 86_400_000;
const AT_ONCE = 100;
const FINDINGS_STEP = 5_000;

type ForgetImportsOptions = {
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;
  log: Log;
};

/** Cancels abandoned imports, and deletes the files of ended imports and old findings. */
export async function forgetImports({ db, log }: ForgetImportsOptions, run: JobRun): Promise<void> {
  const before = new Date(db.clock.now() - IMPORT_KEPT_MS);
  const options = { log, run, fieldsOf };
  const cancelIdle = async (): Promise<void> =>
    forEachInOrder(await listIdle(db, before, AT_ONCE), options, (ref) =>
      db.transaction(async (tx) => {
        const job = await lockImport(tx, ref);
        if (!job || job.changedAt >= before.getTime()) return;
        await moveImport(tx, {
          ref,
          move: 'cancel',
          now: db.clock.now(),
          change: () => ({ problem: ABANDONED }),
        });
      }),
    );
  const clearEnded = async (): Promise<void> =>
    forEachInOrder(await listUncleared(db, AT_ONCE), options, (ref) => clearImport(db, ref));
  const forgetFindings = async (): Promise<void> => {
    const projects = (await listProjects(db)).map(({ id: projectId }) => ({ projectId }));
    await forEachInOrder(projects, options, async ({ projectId }) => {
      const step = { projectId, before, limit: FINDINGS_STEP };
      while (!run.stopping.aborted && (await deleteOldFindings(db, step)) === FINDINGS_STEP);
    });
  };
  const failures: unknown[] = [];
  // A failure in one step does not keep the others from running.
  for (const work of [cancelIdle, clearEnded, forgetFindings])
    await work().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** `id`: the id of an import. */
function fieldsOf({ projectId, id }: { projectId: number; id?: string }): LogFields {
  return { project_id: projectId, ...(id !== undefined && { import_id: id }) };
}

const ABANDONED = 'The import was not continued for 7 days, so its file was deleted';

/** A part is up to 4 MiB. */
const PARTS_AT_ONCE = 16;
const ROWS_AT_ONCE = 5_000;

/**
 * Deletes what an ended import leaves of its source: the file, or the data read from Stripe. If the process is killed in between,
 * `forgetImports` deletes the rest.
 */
export async function clearImport(db: Pick<Database, 'query' | 'prepared'>, ref: ImportRef): Promise<void> {
  while (await deleteParts(db, ref, PARTS_AT_ONCE));
  const { projectId, id: importId } = ref;
  while (await deleteSnapshotRows(db, { projectId, importId }, ROWS_AT_ONCE));
}
