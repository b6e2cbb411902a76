import { Fault } from '../../base/fault.ts';
import type { Tx } from '../../io/db/index.ts';
import * as store from './store.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Where a key lies, by the id that `key list` shows. */
export async function findKey(
  tx: Tx,
  id: string,
): Promise<{ id: string; last4: string; projectId: number; label: string }> {
  const row = UUID.test(id) ? await store.findKey(tx, id) : undefined;
  if (row) return { id: row.id, last4: row.last4, projectId: row.project_id, label: row.label };
  const message = `There is no key with the id ${JSON.stringify(id)}: key list shows the ids`;
  throw new Fault('not_found', { details: [{ message }] });
}
