import type { Tx } from '../../platform/db/statements.ts';

/** How many of the newest events are searched. Older ones say little about future ones. */
const LOOKED_AT = 20_000;

/** Returns the largest recent number in a property, or null without one. */
export async function findLargest(
  tx: Tx,
  { projectId, name, property }: { projectId: number; name: string; property: string },
): Promise<number | null> {
  const rows = await tx.query<{ largest: number | null }>(
    `SELECT max((e.properties ->> $3)::float8) AS largest FROM (
       SELECT name, properties FROM beckon.event WHERE project_id = $1 ORDER BY received_at DESC LIMIT $4
     ) e WHERE e.name = $2 AND jsonb_typeof(e.properties -> $3) = 'number'`,
    [projectId, name, property, LOOKED_AT],
  );
  return rows[0]?.largest ?? null;
}

/** Counts the events of each name on the last days, including today. */
export async function countByName(
  tx: Tx,
  { projectId, now, days }: { projectId: number; now: number; days: number },
): Promise<Map<string, number>> {
  const rows = await tx.query<{ name: string; count: number }>(
    `SELECT name, sum(count)::bigint AS count FROM beckon.event_volume
     WHERE project_id = $1 AND day > ($2::timestamptz AT TIME ZONE 'UTC')::date - $3::int GROUP BY name`,
    [projectId, new Date(now), days],
  );
  return new Map(rows.map((row) => [row.name, row.count]));
}
