import type { Tx } from '../../../platform/db/statements.ts';

/** Deletes from the event tables: data of erased users and data past its retention. */

/** The position of an event among those of one user, in index order. */
export type EventPosition = { name: string; occurred_at: Date };
type Person = { projectId: number; userId: string };

/** Returns the position of the `limit`-th event of a user after `after`, or undefined if there are fewer. */
export async function findEventStep(
  tx: Tx,
  { projectId, userId, after, limit }: Person & { after: EventPosition; limit: number },
): Promise<EventPosition | undefined> {
  const rows = await tx.query<EventPosition>(
    `SELECT name, occurred_at FROM beckon.event
     WHERE project_id = $1 AND external_user_id = $2 AND (name, occurred_at) > ($3::text, $4::timestamptz)
     ORDER BY name, occurred_at OFFSET $5::int - 1 LIMIT 1`,
    [projectId, userId, after.name, after.occurred_at, limit],
  );
  return rows[0];
}

/** Deletes the events between two positions, or up to the last: one range of the index. */
export async function deleteEventsOf(
  tx: Tx,
  { projectId, userId, after, upTo }: Person & { after: EventPosition; upTo: EventPosition | undefined },
): Promise<number> {
  const end = upTo ? 'AND (name, occurred_at) <= ($5::text, $6::timestamptz)' : '';
  const rows = await tx.query<{ count: number }>(
    `WITH gone AS (
       DELETE FROM beckon.event WHERE project_id = $1 AND external_user_id = $2 AND (name, occurred_at) > ($3::text, $4::timestamptz) ${end}
       RETURNING 1
     )
     SELECT count(*) AS count FROM gone`,
    [projectId, userId, after.name, after.occurred_at, ...(upTo ? [upTo.name, upTo.occurred_at] : [])],
  );
  return rows[0]?.count ?? 0;
}

export async function deleteCountsOf(tx: Tx, { projectId, userId }: Person): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.person_event WHERE project_id = $1 AND external_user_id = $2 RETURNING 1 AS gone`,
    [projectId, userId],
  );
  return rows.length;
}

/** Moves the position of counts that point to this user to another user, and returns how many it moved. */
export async function updateCountedFrom(
  tx: Tx,
  { projectId, userId, to }: Person & { to: string | null },
): Promise<number> {
  const rows = await tx.query(
    `UPDATE beckon.counted_event SET counted_to = $3 WHERE project_id = $1 AND counted_to = $2 RETURNING 1 AS moved`,
    [projectId, userId, to],
  );
  return rows.length;
}

type ForgetEventsInput = { projectId: number; before: Date; limit: number; lookedBackTo: string[] };

/**
 * Deletes at most `limit` events received before a time, oldest first: one range of the primary key. Returns their number. Events with
 * names that rules look back to (`lookedBackTo`) stay while their user has a timer in `rule_timer`, a table of the rules module.
 */
export async function forgetEvents(
  tx: Tx,
  { projectId, before, limit, lookedBackTo }: ForgetEventsInput,
): Promise<number> {
  const old = `e.received_at < $2 AND (e.name <> ALL ($3::text[]) OR NOT EXISTS (
    SELECT FROM beckon.rule_timer t WHERE t.project_id = e.project_id AND t.external_user_id = e.external_user_id))`;
  const [last] = await tx.query<{ received_at: Date; id: string }>(
    `SELECT e.received_at, e.id FROM beckon.event e WHERE e.project_id = $1 AND ${old} ORDER BY e.received_at, e.id OFFSET $4::int - 1 LIMIT 1`,
    [projectId, before, lookedBackTo, limit],
  );
  const end = last
    ? 'AND e.received_at <= $4::timestamptz AND (e.received_at, e.id) <= ($4::timestamptz, $5::uuid)'
    : '';
  const rows = await tx.query<{ count: number }>(
    `WITH gone AS (DELETE FROM beckon.event e WHERE e.project_id = $1 AND ${old} ${end} RETURNING 1)
     SELECT count(*) AS count FROM gone`,
    [projectId, before, lookedBackTo, ...(last ? [last.received_at, last.id] : [])],
  );
  return rows[0]?.count ?? 0;
}
