import { listEntries } from '../../workspace/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/** The name of a list import in the audit log. */
export const IMPORT_ACTION = 'suppression.import';
const LOOKED_AT = 20;

export type LastImport = { at: Date; byName: string };

/** Returns when a suppression list was last imported; null: never, as far as the audit log goes back. */
export async function findLastImport(tx: Tx, projectId: number): Promise<LastImport | null> {
  const asked = { projectIds: [projectId], actor: null, action: IMPORT_ACTION, after: null };
  const entries = await listEntries(tx, { ...asked, limit: LOOKED_AT });
  const last = entries.find(({ isDone }) => isDone);
  return last ? { at: last.at, byName: last.actorName } : null;
}
