import type { DraftState } from '../drafts/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** Drafts that failed or are stuck, counted up to a limit. Beyond it, the exact number does not matter. */
export type Needs = {
  /** Drafts with a hold that does not end by time, by reason. */
  held: { reason: string; drafts: number }[];
  failed: number;
  unknown: number;
};

export const NEEDS_COUNTED_MAX = 10_000;

const OPEN = 'd.project_id = $1 AND d.ended_at IS NULL';
const ENOUGH = `LIMIT ${NEEDS_COUNTED_MAX + 1}`;

/** Counts failed drafts that ended after `failedSince`. Older ones, and those that were sent again, need no attention. */
export async function countNeeds(
  tx: Tx,
  { projectId, failedSince }: { projectId: number; failedSince: number },
): Promise<Needs> {
  const rows = await tx.query<Needs>(
    `SELECT
       (SELECT coalesce(jsonb_agg(h ORDER BY h.drafts DESC, h.reason), '[]') FROM (
          SELECT reason, count(*) AS drafts FROM (
            SELECT d.reason FROM beckon.draft d WHERE ${OPEN} AND d.state = 'held' AND d.due_at IS NULL ${ENOUGH}
          ) d GROUP BY reason) h) AS held,
       count(*) FILTER (WHERE state = 'failed') AS failed, count(*) FILTER (WHERE state = 'unknown') AS unknown
     FROM (
       SELECT d.state FROM beckon.draft d
       WHERE d.project_id = $1 AND d.state IN ('failed', 'unknown') AND d.ended_at > $2
         AND NOT EXISTS (SELECT FROM beckon.draft a
           WHERE a.project_id = $1 AND a.external_user_id = d.external_user_id AND a.resend_of = d.id)
       ${ENOUGH}
     ) d`,
    [projectId, new Date(failedSince)],
  );
  return rows[0] ?? { held: [], failed: 0, unknown: 0 };
}

/** The fields of a draft that a notice shows. */
export type DraftNamed = {
  id: string;
  ruleId: string;
  userId: string;
  subject: string;
  state: DraftState;
  reason: string | null;
  deadlineAt: number | null;
};

/** Finds the first undecided draft that will be sent automatically by `until`. */
export async function findDueSoon(
  tx: Tx,
  { projectId, until }: { projectId: number; until: number },
): Promise<DraftNamed | null> {
  const rows = await tx.query<NamedRow>(
    `SELECT ${NAMED} FROM beckon.draft d WHERE d.project_id = $1 AND d.due_at <= $2 AND d.state = 'scheduled'
       AND d.deadline_at <= $2 ORDER BY d.due_at, d.id LIMIT 1`,
    [projectId, new Date(until)],
  );
  return rows[0] ? toNamed(rows[0]) : null;
}

/** Finds the oldest open draft. */
export async function findFirstOpen(tx: Tx, projectId: number): Promise<DraftNamed | null> {
  const rows = await tx.query<NamedRow>(
    `SELECT ${NAMED} FROM beckon.draft d WHERE ${OPEN} ORDER BY d.id LIMIT 1`,
    [projectId],
  );
  return rows[0] ? toNamed(rows[0]) : null;
}

const NAMED = `d.id, d.rule_id, d.external_user_id, d.subject, d.state, d.reason, d.deadline_at`;
type NamedRow = {
  id: string;
  rule_id: string;
  external_user_id: string;
  subject: string;
  state: DraftState;
  reason: string | null;
  deadline_at: Date | null;
};

function toNamed({ rule_id: ruleId, external_user_id: userId, deadline_at, ...row }: NamedRow): DraftNamed {
  return { ...row, ruleId, userId, deadlineAt: deadline_at?.getTime() ?? null };
}

/** Counts the drafts that are sent automatically because of the mode of their rule, without an edit or approval. */
export async function countAutopilot(tx: Tx, projectId: number): Promise<number> {
  const rows = await tx.query<{ drafts: number }>(
    `SELECT count(*) AS drafts FROM beckon.draft d WHERE ${OPEN} AND d.autopilot_ms IS NOT NULL AND NOT d.is_edited
       AND d.deadline_at IS NOT NULL AND d.state IN ('scheduled', 'held') AND d.resume_state IS DISTINCT FROM 'approved'`,
    [projectId],
  );
  return rows[0]?.drafts ?? 0;
}

export type DemotedRule = { id: string; name: string; why: string };

/** Returns the rules that lost autopilot after `since` and no later than `until`, and have not regained it. */
export function listDemoted(
  tx: Tx,
  { projectId, since, until }: { projectId: number; since: number; until: number },
): Promise<DemotedRule[]> {
  return tx.query(
    `SELECT id, name, demoted_reason AS why FROM beckon.rule
     WHERE project_id = $1 AND demoted_at > $2 AND demoted_at <= $3 AND mode = 'draft' ORDER BY name`,
    [projectId, new Date(since), new Date(until)],
  );
}
