import type { Tx } from '../../../platform/db/statements.ts';
import { deleteDeadBefore, deleteDeadOf, insertDead } from './store.ts';
import type { Taken } from './take-chunks.ts';

/** A record that the database rejects. It no longer waits and does not block other records. `retryDead` puts it back into the queue. */
export type DeadRecord = Pick<Taken, 'projectId' | 'priority'> & {
  seq: number;
  kind: 'users' | 'events';
  acceptedAt: Date;
  record: unknown;
};

export function bury(tx: Tx, dead: DeadRecord, { reason, at }: { reason: string; at: Date }): Promise<void> {
  return insertDead(tx, {
    project_id: dead.projectId,
    seq: dead.seq,
    priority: dead.priority,
    kind: dead.kind,
    record: keepable(dead.record),
    reason,
    accepted_at: dead.acceptedAt,
    dead_lettered_at: at,
  });
}

/** Replaces characters that jsonb cannot store: NUL and lone surrogates. They may be the very reason why the record was rejected. */
function keepable(record: unknown): string {
  return JSON.stringify(record)
    .replaceAll(/\\u(?:0000|d[89a-f][0-9a-f]{2})/gi, '\\ufffd')
    .toWellFormed();
}

export function eraseDead(tx: Tx, projectId: number, userId: string): Promise<number> {
  return deleteDeadOf(tx, projectId, userId);
}

export function forgetDead(
  tx: Tx,
  options: { projectId: number; before: Date; limit: number },
): Promise<number> {
  return deleteDeadBefore(tx, options);
}
