import { Fault } from '../../../platform/fault.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import * as store from './store.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Finds a key by the id that `key list` shows, optionally only in one project. */
export async function findKey(
  tx: Tx,
  id: string,
  projectId?: number,
): Promise<{ id: string; last4: string; projectId: number; label: string }> {
  const row = UUID.test(id) ? await store.findKey(tx, id) : undefined;
  if (row && (projectId === undefined || row.project_id === projectId))
    return { id: row.id, last4: row.last4, projectId: row.project_id, label: row.label };
  const message = `No key${projectId === undefined ? '' : ' of this project'} has the ID ${JSON.stringify(id)}. List the keys with: beckon keys list`;
  throw new Fault('not_found', { details: [{ message }] });
}
