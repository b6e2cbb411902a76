/** Reads and writes `billing_snapshot`, `billing_customer` and `billing_object`. */

import { plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { SnapshotRef, Snapshot } from './snapshot.ts';

/** Advances a snapshot from its position. If another process has taken over the import and is further, nothing of this page is kept. */
export async function moveSnapshot(
  tx: Tx,
  ref: SnapshotRef,
  { from, to }: { from: Snapshot; to: Snapshot },
): Promise<void> {
  const moved = await tx.prepared({
    name: 'billing.move_snapshot',
    text: `INSERT INTO beckon.billing_snapshot AS s (project_id, import_id, step, after_id, after_created, objects)
           VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT (project_id, import_id) DO UPDATE SET step = excluded.step, after_id = excluded.after_id,
             after_created = excluded.after_created, objects = excluded.objects
           WHERE s.step = $7 AND s.after_id IS NOT DISTINCT FROM $8 AND s.objects = $9
           RETURNING 1`,
    values: [
      ref.projectId,
      ref.importId,
      to.step,
      to.after?.id ?? null,
      to.after?.created ?? null,
      to.objects,
      from.step,
      from.after?.id ?? null,
      from.objects,
    ],
  });
  if (moved.length === 0) throw new Error('this import is being read elsewhere');
}

export type NewCustomer = {
  id: string;
  created: number | null;
  address: string | null;
  namedUserId: string | null;
  facts: string;
};

/** Inserts the customers that are new. A page that is read again changes nothing. */
export async function insertCustomers(tx: Tx, ref: SnapshotRef, rows: NewCustomer[]): Promise<number> {
  if (rows.length === 0) return 0;
  const inserted = await tx.prepared({
    name: 'billing.customers',
    text: `INSERT INTO beckon.billing_customer (project_id, import_id, customer_id, created, address, named_user_id, facts, is_known, has_address)
           SELECT $1, $2, c.id, c.created, c.address, c.named_user_id, c.facts::json, false, false
           FROM unnest($3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[]) AS c(id, created, address, named_user_id, facts)
           ON CONFLICT DO NOTHING RETURNING 1`,
    values: [
      ref.projectId,
      ref.importId,
      rows.map((row) => row.id),
      plainList(rows.map((row) => row.created)),
      rows.map((row) => row.address),
      rows.map((row) => row.namedUserId),
      rows.map((row) => row.facts),
    ],
  });
  return inserted.length;
}

/** Adds customers that only their invoices still name, because they were deleted in Stripe. */
export async function insertDeletedCustomers(tx: Tx, ref: SnapshotRef): Promise<number> {
  const inserted = await tx.query(
    `INSERT INTO beckon.billing_customer (project_id, import_id, customer_id, facts, is_known, has_address)
     SELECT $1::bigint, $2::uuid, d.customer_id, json_build_object('id', d.customer_id), false, false FROM (
       SELECT DISTINCT customer_id FROM beckon.billing_object
       WHERE project_id = $1 AND import_id = $2 AND kind IN ('subscription', 'invoice')) d
     ON CONFLICT DO NOTHING RETURNING 1`,
    [ref.projectId, ref.importId],
  );
  return inserted.length;
}

export type NewObject = { customer: string; kind: string; id: string; facts: string };

export async function insertObjects(tx: Tx, ref: SnapshotRef, rows: NewObject[]): Promise<number> {
  if (rows.length === 0) return 0;
  const inserted = await tx.prepared({
    name: 'billing.objects',
    text: `INSERT INTO beckon.billing_object (project_id, import_id, customer_id, kind, object_id, facts)
           SELECT $1, $2, o.customer, o.kind, o.id, o.facts::json
           FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) AS o(customer, kind, id, facts)
           ON CONFLICT DO NOTHING RETURNING 1`,
    values: [
      ref.projectId,
      ref.importId,
      rows.map((row) => row.customer),
      rows.map((row) => row.kind),
      rows.map((row) => row.id),
      rows.map((row) => row.facts),
    ],
  });
  return inserted.length;
}

export type CustomerMatch = {
  customer: string;
  by: string;
  userId: string | null;
  matchReason: string | null;
  isKnown: boolean;
  hasAddress: boolean;
};

export async function updateDecisions(tx: Tx, ref: SnapshotRef, rows: CustomerMatch[]): Promise<void> {
  await tx.prepared({
    name: 'billing.decide',
    text: `UPDATE beckon.billing_customer AS c SET matched_by = d.by, user_id = d.user_id, match_reason = d.match_reason, is_known = d.is_known,
             has_address = d.has_address
           FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::boolean[])
             AS d(customer, by, user_id, match_reason, is_known, has_address)
           WHERE c.project_id = $1 AND c.import_id = $2 AND c.customer_id = d.customer`,
    values: [
      ref.projectId,
      ref.importId,
      rows.map((row) => row.customer),
      rows.map((row) => row.by),
      rows.map((row) => row.userId),
      rows.map((row) => row.matchReason),
      plainList(rows.map((row) => row.isKnown)),
      plainList(rows.map((row) => row.hasAddress)),
    ],
  });
}

/** Deletes a number of rows of an ended import. Returns whether more may be left. */
export async function deleteSnapshotRows(tx: Tx, ref: SnapshotRef, limit: number): Promise<boolean> {
  const values = [ref.projectId, ref.importId, limit];
  const objects = await tx.query(
    `DELETE FROM beckon.billing_object WHERE project_id = $1 AND import_id = $2 AND (customer_id, kind, object_id) IN (
       SELECT customer_id, kind, object_id FROM beckon.billing_object WHERE project_id = $1 AND import_id = $2 LIMIT $3) RETURNING 1`,
    values,
  );
  const customers = await tx.query(
    `DELETE FROM beckon.billing_customer WHERE project_id = $1 AND import_id = $2 AND customer_id IN (
       SELECT customer_id FROM beckon.billing_customer WHERE project_id = $1 AND import_id = $2 LIMIT $3) RETURNING 1`,
    values,
  );
  if (objects.length === limit || customers.length === limit) return true;
  await tx.query(
    `DELETE FROM beckon.billing_snapshot WHERE project_id = $1 AND import_id = $2`,
    values.slice(0, 2),
  );
  return false;
}

/**
 * Deletes all billing data of a user. It matches by user id, by the name of the customer, or by the address of a customer without a user.
 * Other users may have the same address.
 */
export async function deleteCustomersOf(
  tx: Tx,
  { projectId, userId, address }: { projectId: number; userId: string; address: string | null },
): Promise<number> {
  const gone = await tx.query<{ import_id: string; customer_id: string }>(
    `DELETE FROM beckon.billing_customer WHERE project_id = $1
       AND (user_id = $2 OR named_user_id = $2 OR customer_id = $2 OR (address = $3 AND user_id IS NULL AND named_user_id IS NULL))
     RETURNING import_id, customer_id`,
    [projectId, userId, address],
  );
  if (gone.length === 0) return 0;
  await tx.query(
    `DELETE FROM beckon.billing_object o USING unnest($2::uuid[], $3::text[]) AS g(import_id, customer_id)
     WHERE o.project_id = $1 AND o.import_id = g.import_id AND o.customer_id = g.customer_id`,
    [projectId, plainList(gone.map((row) => row.import_id)), gone.map((row) => row.customer_id)],
  );
  return gone.length;
}
