import type { DayOfDrafts, DayOfOutcomes } from '@beckon/contract/dashboard';
import { smallestIdAt } from '../../platform/ids.ts';
import { sinceDays } from '../rules/index.ts';
import { WAS_SENT } from '../sending/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** The maximum count per day, which limits the cost of a chart for a busy project. */
const DAY_COUNTED_MAX = 100_000;

export type DayCountsQuery = { projectId: number; now: number; days: number; zone: string };

/** Every day of the period up to now in the zone, oldest first. */
const DAYS = `(SELECT ($2::timestamptz AT TIME ZONE $4)::date - n AS day FROM generate_series(0, $3::int - 1) n) days`;
const DAY = `days.day::text AS day`;
const valuesOf = ({ projectId, now, days, zone }: DayCountsQuery): unknown[] => [
  projectId,
  new Date(now),
  days,
  zone,
];

/** Counts days in UTC, because events are counted by them when they are processed. Reads the table `event_volume` of another module. */
export function countEventDays(tx: Tx, query: Omit<DayCountsQuery, 'zone'>): Promise<DayOfDrafts[]> {
  return tx.query(
    `SELECT ${DAY}, coalesce(v.count, 0)::bigint AS count, false AS at_least FROM ${DAYS} LEFT JOIN (
       SELECT v.day, sum(v.count) AS count FROM beckon.event_volume v
       WHERE v.project_id = $1 AND v.day > ($2::timestamptz AT TIME ZONE $4)::date - $3::int GROUP BY v.day
     ) v ON v.day = days.day ORDER BY days.day`,
    valuesOf({ ...query, zone: 'UTC' }),
  );
}

/** Reads the table `draft` of another module. */
export function countDraftDays(tx: Tx, query: DayCountsQuery): Promise<DayOfDrafts[]> {
  return countDays(tx, query, `FROM beckon.draft t WHERE t.project_id = $1 AND ${within('t.created_at')}`);
}

/** Counts sent emails. Reads the table `email` of another module. */
export function countSentDays(tx: Tx, query: DayCountsQuery): Promise<DayOfDrafts[]> {
  return countDays(
    tx,
    query,
    `FROM beckon.email m WHERE m.project_id = $1 AND ${within('m.claimed_at')} AND ${WAS_SENT}`,
  );
}

/** The maximum number of emails whose outcomes are counted, newest first. */
const EMAILS_MAX = 1_000_000;
/** An id is created shortly before its email is claimed. */
const CLAIMED_WITHIN_MS = 60_000;

/**
 * Counts, by day of sending, the emails that a human opened or clicked, that were answered, that bounced, and that led to an unsubscribe.
 * Insights counts the same. Outcomes are read once, because a lookup for each of millions of emails takes too long. Ids of emails start with
 * the time, so outcomes are selected by the same period. Failed emails without a bounce were not sent (`WAS_SENT`). Reads the tables `email`
 * and `outcome` of other modules.
 */
export function countOutcomeDays(tx: Tx, query: DayCountsQuery): Promise<DayOfOutcomes[]> {
  const since = sinceDays(query.days, query);
  return tx.query(
    `WITH emails AS MATERIALIZED (
       SELECT m.id, m.state, (m.claimed_at AT TIME ZONE $4)::date AS day FROM beckon.email m
       WHERE m.project_id = $1 AND m.claimed_at >= $5 AND m.state IN ('sent', 'unknown', 'failed')
       ORDER BY m.claimed_at DESC LIMIT ${EMAILS_MAX}
     ), became AS (
       SELECT o.email_id, ${OUTCOMES.map(hasSql).join(', ')} FROM beckon.outcome o
       WHERE o.project_id = $1 AND o.email_id >= $6::uuid GROUP BY o.email_id
     ), counted AS (
       SELECT e.day, ${OUTCOMES.map(countSql).join(', ')}
       FROM emails e LEFT JOIN became o ON o.email_id = e.id
       WHERE e.state <> 'failed' OR o.bounced GROUP BY e.day
     )
     SELECT ${DAY}, ${OUTCOMES.map(({ type }) => `coalesce(c.${type}, 0) AS ${type}`).join(', ')}, read.at_least
     FROM ${DAYS} LEFT JOIN counted c ON c.day = days.day
     CROSS JOIN (SELECT count(*) = ${EMAILS_MAX} AS at_least FROM emails) read ORDER BY days.day`,
    [...valuesOf(query), new Date(since), smallestIdAt(since - CLAIMED_WITHIN_MS)],
  );
}

/** Opens and clicks count if a human did them. A complaint is stored as an unsubscribe with a class, and counted separately. */
const OUTCOMES = [
  { type: 'opened', counts: `o.class = 'no'` },
  { type: 'clicked', counts: `o.class = 'no'` },
  { type: 'replied', counts: 'true' },
  { type: 'bounced', counts: `o.class = ''` },
  { type: 'unsubscribed', counts: `o.class = ''` },
];

function hasSql({ type, counts }: (typeof OUTCOMES)[number]): string {
  return `bool_or(o.type = 'email.${type}' AND ${counts}) AS ${type}`;
}

function countSql({ type }: (typeof OUTCOMES)[number]): string {
  return `count(*) FILTER (WHERE o.${type}) AS ${type}`;
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
  return `${column} >= days.day::timestamp AT TIME ZONE $4 AND ${column} < (days.day + 1)::timestamp AT TIME ZONE $4`;
}
