import type { Tx } from '../../io/db/index.ts';
import { LONG_HELD_MS } from './resume-drafts.ts';
import { TEAM_DIGEST_EVERY_MS, type WaitingOfRule } from './team-digest.ts';
import { GRACE_MS } from './timing.ts';
import { LADDER_DRAFTS, type LadderCounts } from './trust-ladder.ts';

/** What is only counted. */

/** How the last drafts of a rule ended that people could have changed; what the engine canceled says nothing of them. */
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

/** When a draft would leave if nothing held it, and from when on it is not worth sending: `leavesAt` and `expiryOf` in SQL. */
export const LEAVES = `CASE WHEN 'approved' IN (d.state, d.resume_state) THEN d.not_before ELSE d.deadline_at END`;
export const EXPIRY = `least(d.ends_at, CASE WHEN d.expires_at IS NOT NULL
  THEN greatest(d.expires_at, ${LEAVES} + make_interval(secs => ${GRACE_MS / 1000})) END)`;

export type HeldCounts = {
  /** All that are open, and not being sent right now. */
  open: number;
  /** Those that are canceled as soon as they are let go. */
  expired: number;
  /** Whose time has come or comes within a quarter of an hour; they get that time anew. */
  overdue: number;
  held: number;
  /** Whose time came more than a day ago. */
  longHeld: number;
};

/** What letting go would mean, to be shown before it is confirmed. `reason`: only those held so; null: all of the project. */
export async function countToLetGo(
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

type WaitingRow = Omit<WaitingOfRule, 'earliestDeadlineAt' | 'firstId'> & {
  deadline: number | null;
  first: string;
};

/**
 * What waits for the team, by rule, of what came or was held `until` then; behind `since` it is fresh. What only time holds is not
 * for them; what they have approved is not either. Reads a sister's table, `rule`, for the names.
 */
export async function listWaiting(
  tx: Tx,
  { projectId, since, until }: { projectId: number; since: number; until: number },
): Promise<WaitingOfRule[]> {
  const rows = await tx.query<WaitingRow>(
    `SELECT r.name AS rule,
            count(*) FILTER (WHERE d.state = 'scheduled') AS waiting,
            count(*) FILTER (WHERE d.state = 'held') AS held,
            count(*) FILTER (WHERE d.updated_at > $2 AND (d.state = 'held' OR d.created_at > $2)) AS fresh,
            date_part('epoch', min(d.deadline_at) FILTER (WHERE d.state = 'scheduled')) * 1000 AS deadline,
            (array_agg(d.id ORDER BY d.state = 'held', d.deadline_at NULLS LAST, d.id))[1] AS first
     FROM beckon.draft d JOIN beckon.rule r ON r.project_id = d.project_id AND r.id = d.rule_id
     WHERE d.project_id = $1 AND d.ended_at IS NULL
       AND ((d.state = 'scheduled' AND d.created_at <= $3) OR (d.state = 'held' AND d.due_at IS NULL AND d.updated_at <= $3))
     GROUP BY r.id, r.name ORDER BY r.name`,
    [projectId, new Date(since), new Date(until)],
  );
  return rows.map(({ deadline, first, ...row }) => ({
    ...row,
    earliestDeadlineAt: deadline === null ? null : Math.round(deadline),
    firstId: first,
  }));
}

export type TeamTold = { sentAt: number | null; heardAt: number | null };

/** When somebody took the right to tell the team last, and as of when the team has heard, in milliseconds. */
export async function findTeamTold(tx: Tx, projectId: number): Promise<TeamTold> {
  const [row] = await tx.query<{ sent_at: Date; heard_at: Date | null }>(
    `SELECT sent_at, heard_at FROM beckon.team_digest WHERE project_id = $1`,
    [projectId],
  );
  return { sentAt: row?.sent_at.getTime() ?? null, heardAt: row?.heard_at?.getTime() ?? null };
}

/** What is older than this was told while a draft was open, or there is nobody to tell it to. */
const NEWS_MS = 86_400_000;

/**
 * Projects with open drafts, or with a rule that was demoted, a domain that was paused or an endpoint that fails lately, whose
 * team was told nothing for long enough, in the order of their ids. It hops from project to project by the index of open drafts,
 * and reads sisters' tables, `rule`, `sending_domain`, `webhook_endpoint` and `webhook_health`, for the news.
 */
export async function listProjectsToTell(
  tx: Tx,
  { now, after, limit }: { now: number; after: number; limit: number },
): Promise<number[]> {
  const open = 'SELECT d.project_id FROM beckon.draft d WHERE d.ended_at IS NULL';
  const rows = await tx.query<{ project_id: number }>(
    `WITH RECURSIVE place(project_id) AS (
       (${open} AND d.project_id > $1 ORDER BY d.project_id LIMIT 1)
       UNION ALL
       SELECT (${open} AND d.project_id > place.project_id ORDER BY d.project_id LIMIT 1)
       FROM place WHERE place.project_id IS NOT NULL
     ), news AS (
       SELECT project_id FROM place WHERE project_id IS NOT NULL
       UNION SELECT project_id FROM beckon.rule WHERE project_id > $1 AND demoted_at > $4
       UNION SELECT project_id FROM beckon.sending_domain WHERE project_id > $1 AND paused_at > $4
       UNION SELECT project_id FROM beckon.webhook_endpoint
         WHERE project_id > $1 AND disabled_at > $4 AND disabled_reason IN ('gone', 'failing')
       UNION SELECT project_id FROM beckon.webhook_health WHERE project_id > $1 AND warned_at > $4
     )
     SELECT news.project_id FROM news LEFT JOIN beckon.team_digest t ON t.project_id = news.project_id
     WHERE (t.sent_at IS NULL OR t.sent_at <= $2)
       AND NOT EXISTS (SELECT FROM beckon.project p WHERE p.project_id = news.project_id AND (p.is_demo OR NOT p.livemode))
     ORDER BY news.project_id LIMIT $3`,
    [after, new Date(now - TEAM_DIGEST_EVERY_MS), limit, new Date(now - NEWS_MS)],
  );
  return rows.map((row) => row.project_id);
}
