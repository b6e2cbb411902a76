import { withClient } from '../fill.ts';
import { quantile } from '../measure.ts';
import type { World } from './world.ts';

/** Figures from the moves and emails about everything claimed since a moment. */
export type Claims = {
  drafts: number;
  batches: number;
  /** The time from the first batch until the result of the last email was written. */
  seconds: number;
  /** How long after its deadline each draft was claimed, in milliseconds. */
  late: { p50: number; p99: number; max: number };
  /** How long after the deadline the result was written, in milliseconds. */
  submittedP99: number;
  /** Batches that followed a batch with a later deadline. */
  outOfOrder: number;
  /** Claims of a draft beyond the first. */
  twice: number;
  /** Drafts that are due now and not claimed. */
  left: number;
};

export function claimsOf({ projectId, url }: World, since: number): Promise<Claims> {
  return withClient(url, async (client) => {
    const values = [projectId, new Date(since)];
    const { rows } = await client.query<{ late: number; submittedMs: number }>(LATE, values);
    const { rows: sums } = await client.query<Sums>(SUMS, values);
    const [sum] = sums;
    if (!sum) throw new Error('no sums');
    const late = rows.map((row) => row.late);
    return {
      ...sum,
      drafts: rows.length,
      late: { p50: quantile(late, 0.5), p99: quantile(late, 0.99), max: quantile(late, 1) },
      submittedP99: quantile(
        rows.map((row) => row.submittedMs),
        0.99,
      ),
    };
  });
}

const ms = (span: string): string => `extract(epoch FROM ${span})::float8 * 1000`;

export const LATE = `
  SELECT ${ms('m.claimed_at - d.deadline_at')} AS late, ${ms('m.ended_at - d.deadline_at')} AS "submittedMs"
  FROM beckon.email m JOIN beckon.draft d ON d.project_id = m.project_id AND d.id = m.draft_id
  WHERE m.project_id = $1 AND m.claimed_at >= $2`;

type Sums = Pick<Claims, 'batches' | 'seconds' | 'outOfOrder' | 'twice' | 'left'>;

/** All claims of a batch have the same time, and no two batches share one. */
const SUMS = `
  WITH claim AS MATERIALIZED (
    SELECT m.draft_id, m.at, d.deadline_at FROM beckon.draft_move m
    JOIN beckon.draft d ON d.project_id = m.project_id AND d.id = m.draft_id
    WHERE m.project_id = $1 AND m.action = 'claim' AND m.at >= $2
  ), batch AS MATERIALIZED (
    SELECT at, min(deadline_at) AS first, max(deadline_at) AS last FROM claim GROUP BY at
  ), placed AS (
    SELECT first, max(last) OVER (ORDER BY at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM batch
  )
  SELECT (SELECT count(*)::int FROM batch) AS batches,
    (SELECT count(*)::int FROM placed WHERE first < before) AS "outOfOrder",
    (SELECT (count(*) - count(DISTINCT draft_id))::int FROM claim) AS twice,
    (SELECT count(*)::int FROM beckon.draft WHERE project_id = $1 AND due_at <= now()) AS left,
    (SELECT extract(epoch FROM max(m.ended_at) - min(m.claimed_at))::float8 FROM beckon.email m
      WHERE m.project_id = $1 AND m.claimed_at >= $2) AS seconds`;
