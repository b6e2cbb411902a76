import type { RunGroup } from './flow-figures.ts';
import type { Run } from '../runs/run.ts';
import { smallestIdAt } from '../../../platform/ids.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/** The limit for runs and for drafts, newest first. For a rule with more in this period, the figures are of the newest. */
const ROWS_MAX = 1_000_000;
/** An id is created shortly before its row, possibly with a clock that is slightly behind. */
const CLOCKS_APART_MS = 60_000;

export type RunGroupRow = RunGroup & { version: number; variant: Run['variant']; converted: number };

/**
 * Groups the runs of a rule that started since then by their position, their end and the positions of their drafts. Ids of runs start
 * with their time. Reads tables of the rules and drafts modules.
 */
export function groupRuns(
  tx: Tx,
  { projectId, ruleId, since }: { projectId: number; ruleId: string; since: number },
): Promise<RunGroupRow[]> {
  return tx.query<RunGroupRow>(
    `WITH started AS MATERIALIZED (
       SELECT id, version, variant, step, state, end_reason, converted_at FROM beckon.run
       WHERE project_id = $1 AND id >= $3::uuid AND enrolled_at >= $4 AND rule_id = $2
       ORDER BY id DESC LIMIT ${ROWS_MAX}
     ), drafted AS (
       SELECT d.run_id, array_agg(DISTINCT d.step ORDER BY d.step) AS steps FROM (
         SELECT run_id, step FROM beckon.draft
         WHERE project_id = $1 AND created_at >= $4 AND rule_id = $2 AND run_id IS NOT NULL
         ORDER BY created_at DESC, id DESC LIMIT ${ROWS_MAX}
       ) d GROUP BY d.run_id
     )
     SELECT r.version, r.variant, r.step, r.state, r.end_reason AS reason, coalesce(d.steps, '{}') AS drafted,
       count(*) AS runs, count(r.converted_at) AS converted
     FROM started r LEFT JOIN drafted d ON d.run_id = r.id GROUP BY 1, 2, 3, 4, 5, 6`,
    [projectId, ruleId, smallestIdAt(since - CLOCKS_APART_MS), new Date(since)],
  );
}
