import type { Tx } from '../../platform/db/statements.ts';
import { EXPIRY, LEAVES } from './counts.ts';
import { LONG_HELD_MS } from './resume-drafts.ts';

/** Counts of a rule's open drafts that matter when the rule is switched or gets another mode. */
export type RuleDraftCounts = {
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

type Asked = { projectId: number; ruleId: string; offReason: string; reasons: string[]; now: number };

export async function countOfRule(tx: Tx, asked: Asked): Promise<RuleDraftCounts> {
  const { projectId, ruleId, offReason, reasons, now } = asked;
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

/** Counts the open drafts of these steps of these versions without an edit or approval. A new template version is rendered for these. */
export async function countUntouched(
  tx: Tx,
  { projectId, places }: { projectId: number; places: { ruleId: string; version: number; step: number }[] },
): Promise<number> {
  const rows = await tx.query<{ untouched: number }>(
    `SELECT count(*) AS untouched FROM unnest($2::uuid[], $3::integer[], $4::integer[]) AS p(rule_id, version, step)
     JOIN beckon.draft d ON d.project_id = $1 AND d.rule_id = p.rule_id AND d.version = p.version AND d.step = p.step
     WHERE d.ended_at IS NULL AND d.state <> 'sending' AND NOT d.is_edited
       AND 'approved' NOT IN (d.state, coalesce(d.resume_state, ''))`,
    [
      projectId,
      places.map((place) => place.ruleId),
      places.map((place) => place.version),
      places.map((place) => place.step),
    ],
  );
  return rows[0]?.untouched ?? 0;
}
