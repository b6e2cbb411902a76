import type { Tx } from '../../../platform/db/statements.ts';
import { listDeadRows } from './store.ts';

export type DeadLetter = {
  seq: number;
  priority: 'live' | 'bulk';
  kind: 'users' | 'events';
  reason: string;
  acceptedAt: Date;
  deadLetteredAt: Date;
  record: unknown;
};

const DEAD_LISTED_MAX = 1_000;

/** Lists the dead-lettered records in the order of acceptance. */
export async function listDead(tx: Tx, projectId: number): Promise<DeadLetter[]> {
  const rows = await listDeadRows(tx, projectId, DEAD_LISTED_MAX);
  return rows.map((row) => ({
    seq: row.seq,
    priority: row.priority,
    kind: row.kind,
    reason: row.reason,
    acceptedAt: row.accepted_at,
    deadLetteredAt: row.dead_lettered_at,
    record: JSON.parse(row.record) as unknown,
  }));
}
