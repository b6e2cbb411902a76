import { Fault } from '../../platform/fault.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { hasEnded, type Import, type ImportAction, movedTo } from './import.ts';
import { deleteErased, deleteFindings, type ImportRef, lockImport, updateKey, updateMoved } from './store.ts';

export type MoveOptions = {
  ref: ImportRef;
  move: ImportAction;
  now: number;
  /** The changes made with the move. It may throw to reject the move. */
  change?: (job: Import) => Partial<Import>;
};

/**
 * Moves an import as the table of moves allows, or throws. Each move increases the epoch, so that a worker on the import notices that its
 * claim has ended. An ended import keeps neither the key nor the list of erased users.
 */
export async function moveImport(tx: Tx, { ref, move, now, change }: MoveOptions): Promise<Import> {
  const job = await lockImport(tx, ref);
  if (!job) throw noSuchImport();
  const state = movedTo(job.state, move);
  if (state === null) throw notNow(job, move);
  const ended = hasEnded(state);
  const moved: Import = {
    ...job,
    problem: null,
    ...change?.(job),
    state,
    changedAt: now,
    queuedAt: state === 'checking' || state === 'running' ? now : null,
    endedAt: ended ? now : null,
  };
  await updateMoved(tx, moved);
  if (ended) {
    await updateKey(tx, ref, null);
    await deleteErased(tx, ref);
  }
  if (move === 'check' || move === 'start') await deleteFindings(tx, ref);
  return { ...moved, epoch: job.epoch + 1, leaseUntil: null, pace: null, waitsFor: null };
}

export function noSuchImport(): Fault {
  return new Fault('not_found', {
    details: [{ message: 'This project has no such import', field: 'import' }],
  });
}

const WORDS: Record<ImportAction, string> = {
  upload: 'The import does not accept file parts',
  complete: 'The import does not accept file parts',
  map: 'The columns of the import cannot be mapped',
  check: 'The import cannot be checked',
  conclude: 'The import is not being checked',
  start: 'The import cannot be started before it is checked',
  pause: 'The import cannot be paused',
  resume: 'The import is not paused',
  rekey: 'The import does not accept a key',
  finish: 'The import is not running',
  give_up: 'The import is not being processed',
  fail: 'The import is not being processed',
  cancel: 'The import has ended',
};

function notNow({ state }: Import, move: ImportAction): Fault {
  return new Fault('conflict', { details: [{ message: `${WORDS[move]}. Its state is ${state}` }] });
}
