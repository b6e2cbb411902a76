import type { Tx } from '../../io/db/index.ts';
import type { AuditEntry, Difference } from './entry.ts';

export async function beginEntry(tx: Tx, entry: AuditEntry): Promise<void> {
  const { projectId, id, at, actor, actorName, token, action } = entry;
  await tx.prepared({
    name: 'audit.begin',
    text: `INSERT INTO beckon.audit (project_id, id, at, actor, actor_name, token, action)
           VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    values: [projectId, id, at, actor, actorName, token, action],
  });
}

export async function endEntry(tx: Tx, entry: AuditEntry & Difference): Promise<void> {
  const { projectId, id, subject = null, before = null, after = null } = entry;
  await tx.prepared({
    name: 'audit.end',
    text: `UPDATE beckon.audit SET is_done = true, subject = $3, before = $4, after = $5 WHERE project_id = $1 AND id = $2`,
    values: [projectId, id, subject === null ? null : storable(subject), toJson(before), toJson(after)],
  });
}

function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value, storableIn);
}

/** What was done is noted whatever was typed: a text that the database cannot hold must not undo the entry of a change. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

function storableIn(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? storable(value) : value;
}

export async function dropEntry(
  tx: Tx,
  { projectId, id }: Pick<AuditEntry, 'projectId' | 'id'>,
): Promise<void> {
  await tx.query(`DELETE FROM beckon.audit WHERE project_id = $1 AND id = $2`, [projectId, id]);
}
