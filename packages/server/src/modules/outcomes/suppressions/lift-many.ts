import type { BulkRefusal } from '@beckon/contract/dashboard';
import type { Database } from '../../../platform/db/database.ts';
import { isStorable } from '../../users/index.ts';
import { SUPPRESSION_REASONS } from './entries.ts';
import { liftIn } from './suppress.ts';

export type LiftEntries = {
  projectId: number;
  /** As the list shows them: an address or the id of a user. Hashed entries of erased users have neither. */
  entries: { kind: 'email' | 'user'; value: string }[];
  actor: string;
};

const GONE = 'The entry is no longer in the list';

/** Lifts many suppressions in one transaction. Entries that are not in the list, such as those removed since, are counted as refused. */
export async function liftMany(
  db: Pick<Database, 'transaction' | 'clock'>,
  { projectId, entries, actor }: LiftEntries,
): Promise<{ removed: number; refused: BulkRefusal[] }> {
  const distinct = [...new Map(entries.map((entry) => [`${entry.kind} ${entry.value}`, entry])).values()];
  // PostgreSQL stores no NUL, so a text with one is not in the list.
  const targets = distinct
    .filter(({ value }) => isStorable(value))
    .map(({ kind, value }) => ({ projectId, kind, value }));
  const removed = await db.transaction((tx) =>
    liftIn(tx, projectId, { targets, reasons: SUPPRESSION_REASONS, now: db.clock.now(), actor }),
  );
  const gone = distinct.length - removed;
  return { removed, refused: gone > 0 ? [{ message: GONE, rows: gone }] : [] };
}
