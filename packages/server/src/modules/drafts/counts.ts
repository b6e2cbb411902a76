import { GRACE_MS } from './draft.ts';
import { LONG_HELD_MS } from './resume-drafts.ts';
import { LADDER_DRAFTS, type LadderCounts } from './trust-ladder.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** Queries that only count. */

/**
 * Counts how the last drafts of a rule ended that members could have changed. Drafts canceled by the engine are left out, because they show
 * nothing about the rule.
 */
export async function countForLadder(tx: Tx, projectId: number, ruleId: string): Promise<LadderCounts> {
  const rows = await tx.query<LadderCounts>(
    `SELECT count(*) FILTER (WHERE state <> 'skipped' AND NOT is_edited) AS untouched,
            count(*) FILTER (WHERE state <> 'skipped' AND is_edited) AS edited,
            count(*) FILTER (WHERE state = 'skipped') AS skipped
     FROM (SELECT d.state, d.is_edited FROM beckon.draft d
           WHERE d.project_id = $1 AND d.rule_id = $2 AND d.ended_at IS NOT NULL AND d.state IN ('sent', 'unknown', 'skipped')
           ORDER BY d.ended_at DESC LIMIT $3) d`,
    [projectId, ruleId, LADDER_DRAFTS],
  );
  return rows[0] ?? { untouched: 0, edited: 0, skipped: 0 };
}

/** The time at which a draft is sent if nothing holds it, and the time at which it expires: `leavesAt` and `expiryOf` in SQL. */
const LEAVES = `CASE WHEN 'approved' IN (d.state, d.resume_state) THEN d.not_before ELSE d.deadline_at END`;
const EXPIRY = `least(d.ends_at, CASE WHEN d.expires_at IS NOT NULL
  THEN greatest(d.expires_at, ${LEAVES} + make_interval(secs => ${GRACE_MS / 1000})) END)`;

export type HeldCounts = {
  /** All open drafts except those being sent right now. */
  open: number;
  /** Drafts that are canceled as soon as they are released. */
  expired: number;
  /** Drafts that are due now or within 15 minutes. They get another 15 minutes. */
  overdue: number;
  held: number;
  /** Drafts that were due more than a day ago. */
  longHeld: number;
};

/**
 * Counts what a release would affect, to show before it is confirmed. `reason` limits it to drafts held for that reason. Null means the
 * whole project.
 */
export async function countToRelease(
  tx: Tx,
  { projectId, reason, now }: { projectId: number; reason: string | null; now: number },
): Promise<HeldCounts> {
  const rows = await tx.query<HeldCounts>(
    `SELECT count(*) AS open,
            count(*) FILTER (WHERE expiry <= $2 AND reason IS DISTINCT FROM 'deferred') AS expired,
            count(*) FILTER (WHERE (expiry IS NULL OR expiry > $2) AND CASE WHEN 'approved' IN (state, resume_state)
              THEN reason = 'paused' OR (state = 'approved' AND due_at <= $2) ELSE leaves < $3 END) AS overdue,
            count(*) FILTER (WHERE state = 'held') AS held,
            count(*) FILTER (WHERE leaves < $4) AS "longHeld"
     FROM (SELECT d.state, d.resume_state, d.reason, d.due_at, ${LEAVES} AS leaves, ${EXPIRY} AS expiry FROM beckon.draft d
           WHERE d.project_id = $1 AND d.ended_at IS NULL AND d.state <> 'sending'
             AND ($5::text IS NULL OR (d.state = 'held' AND d.reason = $5))) d`,
    [projectId, new Date(now), new Date(now + GRACE_MS), new Date(now - LONG_HELD_MS), reason],
  );
  return rows[0] ?? { open: 0, expired: 0, overdue: 0, held: 0, longHeld: 0 };
}

/** Counts of a rule's open drafts that matter when the rule is switched or gets another mode. */
type RuleDraftCounts = {
  open: number;
  /** On the way to the relay and no longer cancelable. */
  sending: number;
  /** Held for one of the given reasons. */
  heldFor: number;
  /** Held because the rule is off. `expired` and `longHeld` count those of them that have expired or did not change for a day. */
  heldOff: number;
  expired: number;
  longHeld: number;
  /** Not edited or approved by a member. */
  untouched: number;
};

const NONE: RuleDraftCounts = {
  open: 0,
  sending: 0,
  heldFor: 0,
  heldOff: 0,
  expired: 0,
  longHeld: 0,
  untouched: 0,
};

type RuleDraftCountsQuery = {
  projectId: number;
  ruleId: string;
  offReason: string;
  reasons: string[];
  now: number;
};

export async function countOfRule(tx: Tx, query: RuleDraftCountsQuery): Promise<RuleDraftCounts> {
  const { projectId, ruleId, offReason, reasons, now } = query;
  const rows = await tx.query<RuleDraftCounts>(
    `SELECT count(*) AS open, count(*) FILTER (WHERE state = 'sending') AS sending,
            count(*) FILTER (WHERE state = 'held' AND reason = ANY ($3::text[])) AS "heldFor",
            count(*) FILTER (WHERE is_off) AS "heldOff",
            count(*) FILTER (WHERE is_off AND expiry <= $5) AS expired,
            count(*) FILTER (WHERE is_off AND updated_at < $6) AS "longHeld",
            count(*) FILTER (WHERE NOT is_edited AND 'approved' NOT IN (state, coalesce(resume_state, ''))
              AND state <> 'sending') AS untouched
     FROM (SELECT d.state, d.resume_state, d.reason, d.is_edited, d.updated_at, ${LEAVES} AS leaves, ${EXPIRY} AS expiry,
             d.state = 'held' AND d.reason = $4 AS is_off
           FROM beckon.draft d WHERE d.project_id = $1 AND d.rule_id = $2 AND d.ended_at IS NULL) d`,
    [projectId, ruleId, reasons, offReason, new Date(now), new Date(now - LONG_HELD_MS)],
  );
  return rows[0] ?? NONE;
}

/** Counts the open drafts of each rule. A rule without open drafts is left out. */
export async function countOpen(tx: Tx, projectId: number): Promise<Map<string, number>> {
  const rows = await tx.query<{ rule_id: string; open: number }>(
    `SELECT d.rule_id, count(*) AS open FROM beckon.draft d
     WHERE d.project_id = $1 AND d.ended_at IS NULL GROUP BY d.rule_id`,
    [projectId],
  );
  return new Map(rows.map((row) => [row.rule_id, row.open]));
}
