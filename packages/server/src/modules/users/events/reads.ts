import type { Tx } from '../../../platform/db/statements.ts';
import type { EventPosition } from './forget-store.ts';

type Person = { projectId: number; userId: string };

export type EventOfPersonRow = {
  id: string;
  name: string;
  properties: Record<string, unknown>;
  occurred_at: Date;
  accepted_at: Date;
  received_at: Date;
};
const COLUMNS = 'id, name, properties, occurred_at, accepted_at, received_at';

/** Lists the newest events of a user by the time they occurred. `by` limits it to events accepted by then. */
export function listNewest(
  tx: Tx,
  { projectId, userId, limit, by }: Person & { limit: number; by?: number },
): Promise<EventOfPersonRow[]> {
  return tx.query(
    `SELECT ${COLUMNS} FROM beckon.event
     WHERE project_id = $1 AND external_user_id = $2 AND ($4::timestamptz IS NULL OR accepted_at <= $4::timestamptz)
     ORDER BY occurred_at DESC, id DESC LIMIT $3`,
    [projectId, userId, limit, by === undefined ? null : new Date(by)],
  );
}

/** Lists events after a position in index order. Sorting all events of a user by time would read all of them at once. */
export function listEventsBehind(
  tx: Tx,
  { projectId, userId, after, limit }: Person & { after: EventPosition & { id: string }; limit: number },
): Promise<EventOfPersonRow[]> {
  return tx.query(
    `SELECT ${COLUMNS} FROM beckon.event
     WHERE project_id = $1 AND external_user_id = $2
       AND (name, occurred_at) >= ($3::text, $4::timestamptz) AND (name, occurred_at, id) > ($3::text, $4::timestamptz, $5::uuid)
     ORDER BY name, occurred_at, id LIMIT $6`,
    [projectId, userId, after.name, after.occurred_at, after.id, limit],
  );
}

export type NameRow = {
  name: string;
  count: number;
  first_at: Date;
  last_at: Date;
  recent: number;
  properties: { property: string; type: string; last_at: string }[];
};

/** Lists event names, the most frequent of the last 30 days first. */
export function listNames(
  tx: Tx,
  projectId: number,
  options: { since: Date; limit: number },
): Promise<NameRow[]> {
  return tx.query(
    `SELECT v.name, v.count, v.first_at, v.last_at, v.recent,
            coalesce((SELECT jsonb_agg(jsonb_build_object('property', p.property, 'type', p.type, 'last_at', p.last_at) ORDER BY p.property, p.type)
                      FROM beckon.event_property p WHERE p.project_id = $1 AND p.name = v.name), '[]') AS properties
     FROM (
       SELECT name, sum(count)::bigint AS count, min(first_at) AS first_at, max(last_at) AS last_at,
              coalesce(sum(count) FILTER (WHERE day >= ($2::timestamptz AT TIME ZONE 'UTC')::date), 0)::bigint AS recent
       FROM beckon.event_volume WHERE project_id = $1 GROUP BY name
     ) v ORDER BY v.recent DESC, v.name LIMIT $3`,
    [projectId, options.since, options.limit],
  );
}

/** Returns a row if an event of any project is being counted for all users. */
export const COUNTS_DUE = `SELECT 1 FROM beckon.counted_event WHERE NOT is_whole`;

/**
 * Lists projects with unfinished counts after `after`, by id. Reads all unfinished names, because few projects count at a time and have
 * few names in total.
 */
export async function listCountingProjects(
  tx: Tx,
  { after, limit }: { after: number | null; limit: number },
): Promise<number[]> {
  const rows = await tx.prepared<{ project_id: number }>({
    name: 'events.counting',
    text: `SELECT DISTINCT project_id FROM beckon.counted_event
           WHERE NOT is_whole AND ($1::bigint IS NULL OR project_id > $1) ORDER BY project_id LIMIT $2`,
    values: [after, limit],
  });
  return rows.map((row) => row.project_id);
}
