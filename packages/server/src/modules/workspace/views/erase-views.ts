import type { Tx } from '../../../platform/db/statements.ts';
import { listViews } from './reads.ts';
import { deleteViewRow } from './store.ts';

/** Deletes views whose filter or name contains the user's id or address in any spelling. */
export async function eraseViews(
  tx: Tx,
  { projectId, userId, email }: { projectId: number; userId: string; email: string | null },
): Promise<number> {
  const traces = [userId, JSON.stringify(userId).slice(1, -1), email]
    .filter((text) => text !== null)
    .map((text) => text.toLowerCase());
  const naming = (await listViews(tx, { projectId, screen: null })).filter((view) => {
    const said = `${view.name}\n${view.filter}`.toLowerCase();
    return traces.some((trace) => names(said, trace));
  });
  for (const { id } of naming) await deleteViewRow(tx, { projectId, id });
  return naming.length;
}

/** Matches whole words only: erasing the user with the id 4 keeps a filter about user 42. */
function names(said: string, trace: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(trace)}(?![\\p{L}\\p{N}])`, 'u').test(said);
}
