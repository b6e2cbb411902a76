import { type WaitingOfRule, TEAM_DIGEST_EVERY_MS } from './team-digest.ts';
import type { Tx } from '../../platform/db/statements.ts';

type WaitingRow = Omit<WaitingOfRule, 'earliestDeadlineAt' | 'firstId'> & {
  deadline: number | null;
  first: string;
};

/**
 * Lists by rule the drafts that wait for the team and were created or held up to `until`. Drafts from after `since` count as new. Drafts
 * that only wait for a time, or that a member approved, are left out. Reads the tables `draft` and `rule` of other modules.
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

/** Older news was already reported while a draft was open, or there is no recipient for it. */
const NEWS_MS = 86_400_000;

/**
 * Lists projects, by id, with open drafts or recent news whose team was last notified long enough ago. News are demoted rules, paused
 * domains and failing endpoints. Skips from project to project in the index of open drafts. Reads tables of other modules: `draft`, and
 * for the news `rule`, `sending_domain`, `webhook_endpoint` and `webhook_health`.
 */
export async function listProjectsWithNews(
  tx: Tx,
  { now, after, limit }: { now: number; after: number; limit: number },
): Promise<number[]> {
  const open = 'SELECT d.project_id FROM beckon.draft d WHERE d.ended_at IS NULL';
  // Where tables are distributed, no statement skips from project to project: each node reads its part of the index.
  const projects = tx.isDistributed
    ? `WITH project AS (SELECT DISTINCT o.project_id FROM (${open}) o WHERE o.project_id > $1)`
    : `WITH RECURSIVE project(project_id) AS (
       (${open} AND d.project_id > $1 ORDER BY d.project_id LIMIT 1)
       UNION ALL
       SELECT (${open} AND d.project_id > project.project_id ORDER BY d.project_id LIMIT 1)
       FROM project WHERE project.project_id IS NOT NULL
     )`;
  const rows = await tx.query<{ project_id: number }>(
    `${projects}, news AS (
       SELECT project_id FROM project WHERE project_id IS NOT NULL
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
