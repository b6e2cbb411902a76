/** Reads and writes `event`, `event_dedupe`, `counted_event`, `person_event`, `event_volume` and `event_property`. */

import { jsonList, jsonListSql, momentList, plainList, textList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';

export type DedupeRow = { project_id: number; dedupe_key: string };

/**
 * Inserts deduplication keys, given in hex. Returns null if all are new, which is the normal case, and otherwise the new ones as "project
 * key". Keys are sorted, so that batches do not deadlock.
 */
export async function insertDedupe(tx: Tx, rows: DedupeRow[]): Promise<string[] | null> {
  const result = await tx.prepared<{ won: string[] | null }>({
    name: 'events.dedupe',
    text: `WITH won AS (
             INSERT INTO beckon.event_dedupe AS d (project_id, dedupe_key)
             SELECT a.project_id, decode(a.k, 'hex') FROM unnest($1::bigint[], $2::text[]) AS a(project_id, k) ORDER BY 1, 2
             ON CONFLICT (project_id, dedupe_key) DO NOTHING RETURNING d.project_id, d.dedupe_key
           )
           SELECT CASE WHEN count(*) < cardinality($1::bigint[]) THEN coalesce(array_agg(project_id || ' ' || encode(dedupe_key, 'hex')), '{}') END AS won FROM won`,
    values: [plainList(rows.map((row) => row.project_id)), plainList(rows.map((row) => row.dedupe_key))],
  });
  return result[0]?.won ?? null;
}

export type EventRow = {
  project_id: number;
  id: string;
  external_user_id: string;
  name: string;
  properties: string;
  /** In milliseconds. */
  occurred_at: number;
  accepted_at: number;
  seq: number;
  suppressed: boolean | null;
};

export async function insertEvents(tx: Tx, rows: EventRow[], receivedAt: Date): Promise<void> {
  await tx.prepared({
    name: 'events.insert',
    text: `INSERT INTO beckon.event (project_id, received_at, id, external_user_id, name, properties, occurred_at, accepted_at, seq, suppressed)
           SELECT e.project_id, $10::timestamptz, e.id, e.user_id, e.name, e.properties, e.occurred_at, e.accepted_at, e.seq, e.suppressed
           FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], ${jsonListSql('$5')}, $6::timestamptz[], $7::timestamptz[], $8::bigint[], $9::boolean[])
             AS e(project_id, id, user_id, name, properties, occurred_at, accepted_at, seq, suppressed)`,
    values: [
      plainList(rows.map((row) => row.project_id)),
      plainList(rows.map((row) => row.id)),
      textList(rows.map((row) => row.external_user_id)),
      textList(rows.map((row) => row.name)),
      jsonList(rows.map((row) => row.properties)),
      momentList(rows.map((row) => row.occurred_at)),
      momentList(rows.map((row) => row.accepted_at)),
      plainList(rows.map((row) => row.seq)),
      plainList(rows.map((row) => row.suppressed)),
      receivedAt,
    ],
  });
}

export type EventCountRow = {
  project_id: number;
  external_user_id: string;
  name: string;
  count: number;
  /** In milliseconds, which are read several times faster than dates. */
  first_ms: number;
  last_ms: number;
};

const COUNT_MOMENTS = `date_part('epoch', first_at) * 1000 AS first_ms, date_part('epoch', last_at) * 1000 AS last_ms`;

export function addCounts(tx: Tx, rows: EventCountRow[]): Promise<EventCountRow[]> {
  const count = (
    returned: string,
  ): string => `INSERT INTO beckon.person_event AS known (project_id, external_user_id, name, count, first_at, last_at)
           SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[], $6::timestamptz[])
           ON CONFLICT (project_id, external_user_id, name) DO UPDATE SET
             count = known.count + excluded.count,
             first_at = least(known.first_at, excluded.first_at),
             last_at = greatest(known.last_at, excluded.last_at)
           RETURNING project_id, external_user_id, name, count, ${returned}`;
  // Where tables are distributed, RETURNING may not convert a time.
  const text = tx.isDistributed
    ? `WITH counted AS (${count('first_at, last_at')})
       SELECT project_id, external_user_id, name, count, ${COUNT_MOMENTS} FROM counted`
    : count(COUNT_MOMENTS);
  return tx.prepared({ name: 'events.count', text, values: countColumns(rows) });
}

function countColumns(rows: EventCountRow[]): unknown[] {
  return [
    plainList(rows.map((row) => row.project_id)),
    textList(rows.map((row) => row.external_user_id)),
    textList(rows.map((row) => row.name)),
    plainList(rows.map((row) => row.count)),
    momentList(rows.map((row) => row.first_ms)),
    momentList(rows.map((row) => row.last_ms)),
  ];
}

export type CountKey = { project_id: number; external_user_id: string; name: string };

export function findCounts(tx: Tx, keys: CountKey[]): Promise<EventCountRow[]> {
  return tx.prepared({
    name: 'events.counts',
    text: `SELECT c.project_id, c.external_user_id, c.name, c.count, ${COUNT_MOMENTS}
           FROM unnest($1::bigint[], $2::text[], $3::text[]) AS k(project_id, user_id, name)
           JOIN beckon.person_event c ON c.project_id = k.project_id AND c.external_user_id = k.user_id AND c.name = k.name`,
    values: [
      plainList(keys.map((key) => key.project_id)),
      textList(keys.map((key) => key.external_user_id)),
      textList(keys.map((key) => key.name)),
    ],
  });
}

export type VolumeRow = { project_id: number; name: string; count: number };

export async function addVolumes(tx: Tx, rows: VolumeRow[], at: Date): Promise<void> {
  await tx.prepared({
    name: 'events.volume',
    text: `INSERT INTO beckon.event_volume AS known (project_id, name, day, count, first_at, last_at)
           SELECT v.project_id, v.name, ($4::timestamptz AT TIME ZONE 'UTC')::date, v.count, $4, $4
           FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS v(project_id, name, count)
           ON CONFLICT (project_id, name, day) DO UPDATE SET
             count = known.count + excluded.count,
             first_at = least(known.first_at, excluded.first_at),
             last_at = greatest(known.last_at, excluded.last_at)`,
    values: [
      rows.map((row) => row.project_id),
      rows.map((row) => row.name),
      rows.map((row) => row.count),
      at,
    ],
  });
}

export type PropertyRow = { project_id: number; name: string; property: string; type: string };

/**
 * Adds properties up to a maximum per name, because some callers put ids into property names. The existing ones are counted once per name.
 * New ones are numbered within the statement, which does not see its own inserts.
 */
export async function addProperties(
  tx: Tx,
  rows: PropertyRow[],
  options: { at: Date; ofName: number },
): Promise<void> {
  await tx.prepared({
    name: 'events.properties',
    text: `WITH sent AS MATERIALIZED (
             SELECT p.*, EXISTS (SELECT 1 FROM beckon.event_property x WHERE x.project_id = p.project_id AND x.name = p.name
                                 AND x.property = p.property AND x.type = p.type) AS is_known
             FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS p(project_id, name, property, type)
           ), name AS MATERIALIZED (
             SELECT project_id, name, (SELECT count(*) FROM (
               SELECT 1 FROM beckon.event_property x WHERE x.project_id = n.project_id AND x.name = n.name LIMIT $6::int
             ) first) AS known
             FROM (SELECT DISTINCT project_id, name FROM sent) n
           )
           INSERT INTO beckon.event_property AS known (project_id, name, property, type, first_at, last_at)
           SELECT project_id, name, property, type, $5::timestamptz, $5 FROM (
             SELECT sent.*, name.known, row_number() OVER (PARTITION BY sent.project_id, sent.name, is_known ORDER BY property, type) AS nth
             FROM sent JOIN name USING (project_id, name)
           ) numbered
           WHERE is_known OR known + nth <= $6::int
           ORDER BY project_id, name, property, type
           ON CONFLICT (project_id, name, property, type) DO UPDATE SET last_at = greatest(known.last_at, excluded.last_at)`,
    values: [
      plainList(rows.map((row) => row.project_id)),
      rows.map((row) => row.name),
      rows.map((row) => row.property),
      rows.map((row) => row.type),
      options.at,
      options.ofName,
    ],
  });
}

export type CountedNameRow = {
  project_id: number;
  name: string;
  counted_to: string | null;
  is_whole: boolean;
};

export function listCounted(tx: Tx, projectIds: number[]): Promise<CountedNameRow[]> {
  return tx.query(
    `SELECT project_id, name, counted_to, is_whole FROM beckon.counted_event WHERE project_id = ANY ($1::bigint[])`,
    [projectIds],
  );
}

/** Starts counting these names, with no user counted yet. Requires the project lock. */
export async function beginCounting(tx: Tx, projectId: number, names: string[]): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.counted_event (project_id, name, is_whole) SELECT $1::bigint, name, false FROM unnest($2::text[]) AS name
     ON CONFLICT (project_id, name) DO NOTHING`,
    [projectId, names],
  );
}

export async function updateCounted(tx: Tx, row: CountedNameRow): Promise<void> {
  await tx.query(
    `UPDATE beckon.counted_event SET counted_to = $3, is_whole = $4 WHERE project_id = $1 AND name = $2`,
    [row.project_id, row.name, row.counted_to, row.is_whole],
  );
}

/**
 * Counts the stored events of the next users after `after`, who must not have been counted before. Returns the last of these users, or null
 * if there are none. OFFSET 0 makes each user a probe of the index, whatever the planner expects of the name.
 */
export async function countNextUsers(
  tx: Tx,
  { projectId, name, after, limit }: { projectId: number; name: string; after: string; limit: number },
): Promise<string | null> {
  const [row] = await tx.query<{ last: string | null }>(
    `WITH people AS MATERIALIZED (
       SELECT external_user_id FROM beckon.person WHERE project_id = $1 AND external_user_id > $3
       ORDER BY external_user_id LIMIT $4
     ), counted AS (
       INSERT INTO beckon.person_event AS known (project_id, external_user_id, name, count, first_at, last_at)
       SELECT $1::bigint, p.external_user_id, $2::text, e.count, e.first_at, e.last_at FROM people p CROSS JOIN LATERAL (
         SELECT count(*) AS count, min(e.occurred_at) AS first_at, max(e.occurred_at) AS last_at FROM beckon.event e
         WHERE e.project_id = $1 AND e.external_user_id = p.external_user_id AND e.name = $2 OFFSET 0
       ) e WHERE e.count > 0
       ON CONFLICT (project_id, external_user_id, name) DO UPDATE SET
         count = excluded.count, first_at = excluded.first_at, last_at = excluded.last_at
     )
     SELECT max(external_user_id) AS last FROM people`,
    [projectId, name, after, limit],
  );
  return row?.last ?? null;
}
