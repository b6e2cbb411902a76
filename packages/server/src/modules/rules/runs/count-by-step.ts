import type { Tx } from '../../../platform/db/statements.ts';
import { fromRow, RUN, type RunRow } from './rows.ts';
import type { Run } from './run.ts';

/** The number of active or paused runs at a step of a version. */
export type PlaceCount = { ruleId: string; version: number; step: number; state: Run['state']; runs: number };

/** Counts for all rules of a project, or for one. */
export async function countPlaces(
  tx: Tx,
  { projectId, ruleId }: { projectId: number; ruleId: string | null },
): Promise<PlaceCount[]> {
  const rows = await tx.query<Omit<PlaceCount, 'ruleId'> & { rule_id: string }>(
    `SELECT rule_id, version, step, state, count(*) AS runs FROM beckon.run
     WHERE project_id = $1 AND ($2::uuid IS NULL OR rule_id = $2) AND state <> 'ended'
     GROUP BY rule_id, version, step, state ORDER BY rule_id, version, step, state`,
    [projectId, ruleId],
  );
  return rows.map(({ rule_id, ...row }) => ({ ...row, ruleId: rule_id }));
}

export type RunsAsked = {
  projectId: number;
  ruleId: string;
  version: number | null;
  step: number | null;
  /** The last id of the previous page. */
  after: string | null;
  limit: number;
};

/** Returns the active and paused runs of a rule, newest first. */
export async function listRunsOfRule(tx: Tx, asked: RunsAsked): Promise<Run[]> {
  const { projectId, ruleId, version, step, after, limit } = asked;
  const rows = await tx.query<RunRow>(
    `SELECT ${RUN} FROM beckon.run r WHERE r.project_id = $1 AND r.rule_id = $2 AND r.state <> 'ended'
       AND ($3::integer IS NULL OR r.version = $3) AND ($4::integer IS NULL OR r.step = $4)
       AND ($5::uuid IS NULL OR r.id < $5)
     ORDER BY r.id DESC LIMIT $6`,
    [projectId, ruleId, version, step, after, limit],
  );
  return rows.map(fromRow);
}
