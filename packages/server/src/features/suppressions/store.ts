import { normaliseAddress } from '../../base/address.ts';
import type { Tx } from '../../io/db/index.ts';
import {
  LIFTED_BY_LIFE,
  type SuppressedKind,
  type Suppression,
  type SuppressionReason,
} from './suppression.ts';

/**
 * `suppression`, of which an address or a person has one row. Whatever comes later never lets letters through earlier: it
 * takes the place of the row only if it lasts longer, or as long where only bounces were the reason. Whether it did.
 */
export async function addSuppression(tx: Tx, suppression: Suppression): Promise<boolean> {
  const { projectId, kind, value, reason, until, createdAt, createdBy } = suppression;
  const rows = await tx.query(
    `INSERT INTO beckon.suppression AS known (project_id, kind, value, reason, until, created_at, created_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (project_id, kind, value) DO UPDATE SET
       reason = excluded.reason, until = excluded.until, created_at = excluded.created_at, created_by = excluded.created_by
     WHERE coalesce(excluded.until, 'infinity') > coalesce(known.until, 'infinity')
       OR (coalesce(excluded.until, 'infinity') = coalesce(known.until, 'infinity')
         AND known.reason = ANY ($8::text[]) AND excluded.reason <> ALL ($8::text[]))
     RETURNING 1`,
    [
      projectId,
      kind,
      normalised(kind, value),
      reason,
      until === null ? null : new Date(until),
      new Date(createdAt),
      createdBy,
      LIFTED_BY_LIFE,
    ],
  );
  return rows.length > 0;
}

export type SuppressedPlace = { projectId: number; kind: SuppressedKind; value: string };

/** Whether there was one. */
export async function removeSuppression(
  tx: Tx,
  { projectId, kind, value }: SuppressedPlace,
): Promise<boolean> {
  const rows = await tx.query(
    `DELETE FROM beckon.suppression WHERE project_id = $1 AND kind = $2 AND value = $3 RETURNING 1`,
    [projectId, kind, normalised(kind, value)],
  );
  return rows.length > 0;
}

function normalised(kind: SuppressedKind, value: string): string {
  return kind === 'address' ? normaliseAddress(value) : value;
}

/**
 * How many rows named this person: none or one. What is said of their address stays, for whoever has it wanted no letters,
 * and would get them if the same person were sent once more.
 */
export async function eraseSuppressions(
  tx: Tx,
  { projectId, userId }: { projectId: number; userId: string },
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.suppression WHERE project_id = $1 AND kind = 'person' AND value = $2 RETURNING 1`,
    [projectId, userId],
  );
  return rows.length;
}

/** Those that somebody set for this reason, all of them. How many there were. */
export async function liftSuppressionsBy(
  tx: Tx,
  { projectId, reason, createdBy }: { projectId: number; reason: SuppressionReason; createdBy: string },
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.suppression WHERE project_id = $1 AND reason = $2 AND created_by = $3 RETURNING 1`,
    [projectId, reason, createdBy],
  );
  return rows.length;
}
