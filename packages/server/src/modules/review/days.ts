import type { DayOfDrafts, DayOfOutcomes } from '@beckon/contract/dashboard';
import type { Tx } from '../../platform/db/statements.ts';

/** The maximum count per day, which limits the cost of a chart for a busy project. */
const DAY_COUNTED_MAX = 100_000;

export type DayCountsQuery = { projectId: number; now: number; days: number };

/** Days have the form 2026-01-15 and are in UTC, like the counts of events. Every day of the period up to now, oldest first. */
const DAYS = `(SELECT ($2::timestamptz AT TIME ZONE 'UTC')::date - n AS day FROM generate_series(0, $3::int - 1) n) days`;
const DAY = `days.day::text AS day`;
const valuesOf = ({ projectId, now, days }: DayCountsQuery): unknown[] => [projectId, new Date(now), days];

/** Reads the table `event_volume` of another module. */
export function countEventDays(tx: Tx, query: DayCountsQuery): Promise<DayOfDrafts[]> {
  return tx.query(
    `SELECT ${DAY}, coalesce(v.count, 0)::bigint AS count, false AS at_least FROM ${DAYS} LEFT JOIN (
       SELECT v.day, sum(v.count) AS count FROM beckon.event_volume v
       WHERE v.project_id = $1 AND v.day > ($2::timestamptz AT TIME ZONE 'UTC')::date - $3::int GROUP BY v.day
     ) v ON v.day = days.day ORDER BY days.day`,
    valuesOf(query),
  );
}

/** Reads the table `draft` of another module. */
export function countDraftDays(tx: Tx, query: DayCountsQuery): Promise<DayOfDrafts[]> {
  return countDays(tx, query, `FROM beckon.draft t WHERE t.project_id = $1 AND ${within('t.created_at')}`);
}

/** Counts sent emails. Reads the table `email` of another module. */
export function countSentDays(tx: Tx, query: DayCountsQuery): Promise<DayOfDrafts[]> {
  const sent = `t.state IN ('sent', 'unknown')`;
  return countDays(
    tx,
    query,
    `FROM beckon.email t WHERE t.project_id = $1 AND ${within('t.claimed_at')} AND ${sent}`,
  );
}

/** Counts opens, clicks and replies by humans, without bots. Reads the table `outcome` of another module. */
export function countOutcomeDays(tx: Tx, query: DayCountsQuery): Promise<DayOfOutcomes[]> {
  const ofType = (type: string): string => `count(*) FILTER (WHERE o.type = 'email.${type}') AS ${type}`;
  const types = ['opened', 'clicked', 'replied', 'bounced', 'unsubscribed'].map(ofType).join(', ');
  return tx.query(
    `SELECT ${DAY}, c.* FROM ${DAYS} CROSS JOIN LATERAL (
       SELECT ${types}, count(*) > ${DAY_COUNTED_MAX} AS at_least FROM (
         SELECT t.type FROM beckon.outcome t WHERE t.project_id = $1 AND ${within('t.recorded_at')}
           AND (t.type NOT IN ('email.opened', 'email.clicked') OR t.class = 'no') LIMIT ${DAY_COUNTED_MAX + 1}
       ) o
     ) c ORDER BY days.day`,
    valuesOf(query),
  );
}

function countDays(tx: Tx, query: DayCountsQuery, from: string): Promise<DayOfDrafts[]> {
  return tx.query(
    `SELECT ${DAY}, least(c.count, ${DAY_COUNTED_MAX})::bigint AS count, c.count > ${DAY_COUNTED_MAX} AS at_least
     FROM ${DAYS} CROSS JOIN LATERAL (
       SELECT count(*) AS count FROM (SELECT ${from} LIMIT ${DAY_COUNTED_MAX + 1}) t
     ) c ORDER BY days.day`,
    valuesOf(query),
  );
}

function within(column: string): string {
  return `${column} >= days.day::timestamp AT TIME ZONE 'UTC' AND ${column} < (days.day + 1)::timestamp AT TIME ZONE 'UTC'`;
}
