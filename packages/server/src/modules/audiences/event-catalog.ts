import { CANONICAL_EVENTS } from '@beckon/contract';
import type { Tx } from '../../platform/db/statements.ts';

/** An event name with all that is stored about it. Times are in milliseconds. */
export type CatalogueName = {
  name: string;
  canonical: boolean;
  count: number;
  firstAt: number;
  lastAt: number;
  /** The number of events per UTC day, ending today. */
  days: number[];
  properties: { property: string; types: { type: string; firstAt: number; lastAt: number }[] }[];
  /** When and by which member the event was marked as expected. */
  expected: { since: number; markedBy: string } | null;
};

const DAYS = 30;
const DAY_MS = 86_400_000;
const NAMES_MAX = 1_000;

type Row = {
  name: string;
  count: number;
  first_at: Date;
  last_at: Date;
  days: { day: string; count: number }[] | null;
  properties: { property: string; type: string; first_at: string; last_at: string }[] | null;
  since: Date | null;
  marked_by: string | null;
};

/**
 * Lists event names, the most frequent of the last 30 days first. `name` limits it to one. Also reads the table `expected_event` of another
 * module.
 */
export async function listCatalogue(
  tx: Tx,
  { projectId, now, name = null }: { projectId: number; now: number; name?: string | null },
): Promise<CatalogueName[]> {
  const today = Math.floor(now / DAY_MS);
  const rows = await tx.query<Row>(
    `SELECT v.name, v.count, v.first_at, v.last_at, v.days, x.since, x.marked_by,
            (SELECT jsonb_agg(jsonb_build_object('property', p.property, 'type', p.type, 'first_at', p.first_at,
               'last_at', p.last_at) ORDER BY p.property, p.type)
             FROM beckon.event_property p WHERE p.project_id = $1 AND p.name = v.name) AS properties
     FROM (
       SELECT name, sum(count)::bigint AS count, min(first_at) AS first_at, max(last_at) AS last_at,
              coalesce(sum(count) FILTER (WHERE day >= $2::date), 0) AS recent,
              jsonb_agg(jsonb_build_object('day', day, 'count', count)) FILTER (WHERE day >= $2::date) AS days
       FROM beckon.event_volume WHERE project_id = $1 AND ($3::text IS NULL OR name = $3) GROUP BY name
     ) v LEFT JOIN beckon.expected_event x ON x.project_id = $1 AND x.name = v.name
     ORDER BY v.recent DESC, v.name LIMIT $4`,
    [projectId, dayText(today - DAYS + 1), name, NAMES_MAX],
  );
  return rows.map((row) => toName(row, today));
}

function toName(row: Row, today: number): CatalogueName {
  const counts = new Map((row.days ?? []).map(({ day, count }) => [day, count]));
  const byProperty = Map.groupBy(row.properties ?? [], ({ property }) => property);
  return {
    name: row.name,
    canonical: Object.hasOwn(CANONICAL_EVENTS, row.name),
    count: row.count,
    firstAt: row.first_at.getTime(),
    lastAt: row.last_at.getTime(),
    days: Array.from({ length: DAYS }, (_, i) => counts.get(dayText(today - DAYS + 1 + i)) ?? 0),
    properties: [...byProperty].map(([property, types]) => ({
      property,
      types: types.map(({ type, first_at, last_at }) => ({
        type,
        firstAt: Date.parse(first_at),
        lastAt: Date.parse(last_at),
      })),
    })),
    expected: row.since && { since: row.since.getTime(), markedBy: row.marked_by ?? '' },
  };
}

function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

export type SampleEvent = {
  id: string;
  userId: string;
  occurredAt: number;
  properties: Record<string, unknown>;
};

/** The number of events to search. A rare name may not occur in them at all. */
const SEARCHED_MAX = 5_000;

/** Lists some of the newest events of a name. It searches a bounded range of the primary key, up to the last event of the name. */
export async function listSamples(
  tx: Tx,
  query: { projectId: number; name: string; lastAt: number; limit: number },
): Promise<SampleEvent[]> {
  const { projectId, name, lastAt, limit } = query;
  const rows = await tx.query<{
    id: string;
    external_user_id: string;
    occurred_at: Date;
    properties: Record<string, unknown>;
  }>(
    `SELECT id, external_user_id, occurred_at, properties FROM (
       SELECT id, external_user_id, occurred_at, received_at, properties, name FROM beckon.event
       WHERE project_id = $1 AND received_at <= $2 ORDER BY received_at DESC, id DESC LIMIT ${SEARCHED_MAX}
     ) newest WHERE name = $3 ORDER BY received_at DESC, id DESC LIMIT $4`,
    // The last time is stored in microseconds, so truncating it to milliseconds must not exclude the event.
    [projectId, new Date(lastAt + 1), name, limit],
  );
  return rows.map(({ id, external_user_id: userId, occurred_at: at, properties }) => ({
    id,
    userId,
    occurredAt: at.getTime(),
    properties,
  }));
}
