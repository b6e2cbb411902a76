import type { Tx } from '../../../platform/db/statements.ts';
import { type CountRow, listCounts } from './reads.ts';
import type { EndReason, Run } from './run.ts';

export type RunCounts = { active: number; paused: number; ended: Partial<Record<EndReason, number>> };

/** Counts the runs of each rule by state. Rules without runs are omitted. */
export async function countRuns(tx: Tx, projectId: number): Promise<Map<string, RunCounts>> {
  const counts = new Map<string, RunCounts>();
  for (const row of await listCounts(tx, projectId, null)) {
    const known = counts.get(row.rule_id) ?? { active: 0, paused: 0, ended: {} };
    addCount(known, row);
    counts.set(row.rule_id, known);
  }
  return counts;
}

function addCount(counts: RunCounts, { state, end_reason: reason, runs }: CountRow): void {
  if (state !== 'ended') counts[state] += runs;
  else if (reason !== null) counts.ended[reason] = (counts.ended[reason] ?? 0) + runs;
}

export type Lift = Record<Run['arm'], { enrolled: number; converted: number }>;

/** Counts the enrolled users of each arm and those who reached the goal. */
export async function countLift(
  tx: Tx,
  { projectId, ruleId }: { projectId: number; ruleId: string },
): Promise<Lift> {
  const lift: Lift = { treatment: { enrolled: 0, converted: 0 }, holdout: { enrolled: 0, converted: 0 } };
  for (const { arm, runs, converted } of await listCounts(tx, projectId, ruleId)) {
    lift[arm].enrolled += runs;
    lift[arm].converted += converted;
  }
  return lift;
}
