import type { FILTER_KEYS, RuleVariant } from '@beckon/contract/dashboard';
import {
  type Filter,
  type FilterColumn,
  filterSql,
  WORDS,
  wordsColumn,
} from '../../../platform/filter/filter.ts';
import { type RunCountRow, listCounts } from './reads.ts';
import { type EndReason, fromRow, RUN, type Run, type RunRow } from './run.ts';
import type { Tx } from '../../../platform/db/statements.ts';

export type RunCounts = { active: number; paused: number; ended: Partial<Record<EndReason, number>> };

/** Counts the runs of each rule by state. Rules without runs are omitted. */
export async function countRuns(tx: Tx, projectId: number): Promise<Map<string, RunCounts>> {
  const counts = new Map<string, RunCounts>();
  for (const row of await listCounts(tx, projectId, null)) {
    const existing = counts.get(row.rule_id) ?? { active: 0, paused: 0, ended: {} };
    addCount(existing, row);
    counts.set(row.rule_id, existing);
  }
  return counts;
}

function addCount(counts: RunCounts, { state, end_reason: reason, runs }: RunCountRow): void {
  if (state !== 'ended') counts[state] += runs;
  else if (reason !== null) counts.ended[reason] = (counts.ended[reason] ?? 0) + runs;
}

type LiftCounts = Record<Run['variant'], RuleVariant>;

/** Counts the enrolled users of each variant and those who reached the goal. */
export async function countLift(
  tx: Tx,
  { projectId, ruleId }: { projectId: number; ruleId: string },
): Promise<LiftCounts> {
  const lift: LiftCounts = {
    treatment: { enrolled: 0, converted: 0 },
    holdout: { enrolled: 0, converted: 0 },
  };
  for (const { variant, runs, converted } of await listCounts(tx, projectId, ruleId)) {
    lift[variant].enrolled += runs;
    lift[variant].converted += converted;
  }
  return lift;
}

/** The number of active or paused runs at a step of a version. */
export type RunPositionCount = {
  ruleId: string;
  version: number;
  step: number;
  state: Run['state'];
  runs: number;
};

/** Counts for all rules of a project, or for one. */
export async function countRunPositions(
  tx: Tx,
  { projectId, ruleId }: { projectId: number; ruleId: string | null },
): Promise<RunPositionCount[]> {
  const rows = await tx.query<Omit<RunPositionCount, 'ruleId'> & { rule_id: string }>(
    `SELECT rule_id, version, step, state, count(*) AS runs FROM beckon.run
     WHERE project_id = $1 AND ($2::uuid IS NULL OR rule_id = $2) AND state <> 'ended'
     GROUP BY rule_id, version, step, state ORDER BY rule_id, version, step, state`,
    [projectId, ruleId],
  );
  return rows.map(({ rule_id, ...row }) => ({ ...row, ruleId: rule_id }));
}

type RunsQuery = {
  projectId: number;
  ruleId: string;
  version: number | null;
  step: number | null;
  filter: Filter;
  /** The last id of the previous page. */
  after: string | null;
  limit: number;
};

/** Returns the active and paused runs of a rule, newest first. */
export async function listRunsOfRule(tx: Tx, query: RunsQuery): Promise<Run[]> {
  const { projectId, ruleId, version, step, filter, after, limit } = query;
  const values: unknown[] = [projectId, ruleId, version, step, after, limit];
  const where = filterSql(filter, FILTERED, (value) => `$${values.push(value)}`);
  if (where === null) return [];
  const rows = await tx.query<RunRow>(
    `SELECT ${RUN} FROM beckon.run r WHERE r.project_id = $1 AND r.rule_id = $2 AND r.state <> 'ended'
       AND ($3::integer IS NULL OR r.version = $3) AND ($4::integer IS NULL OR r.step = $4)
       AND ($5::uuid IS NULL OR r.id < $5) AND ${where}
     ORDER BY r.id DESC LIMIT $6`,
    values,
  );
  return rows.map(fromRow);
}

/** Counts the active and paused runs of a rule that match, up to `most`. */
export async function countRunsOfRule(
  tx: Tx,
  { projectId, ruleId, version, step, filter, most }: Omit<RunsQuery, 'after' | 'limit'> & { most: number },
): Promise<number> {
  const values: unknown[] = [projectId, ruleId, version, step, most];
  const where = filterSql(filter, FILTERED, (value) => `$${values.push(value)}`);
  if (where === null) return 0;
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*) FROM (
       SELECT 1 FROM beckon.run r WHERE r.project_id = $1 AND r.rule_id = $2 AND r.state <> 'ended'
         AND ($3::integer IS NULL OR r.version = $3) AND ($4::integer IS NULL OR r.step = $4) AND ${where}
       LIMIT $5) counted`,
    values,
  );
  return row?.count ?? 0;
}

const FILTERED: Record<keyof typeof FILTER_KEYS.runs | typeof WORDS, FilterColumn> = {
  user: { sql: 'r.external_user_id' },
  state: { sql: 'r.state', among: ['active', 'paused'] },
  waits: { sql: 'r.waits_for' },
  version: { sql: 'r.version::text' },
  trigger: { sql: `(r.anchor ->> 'name')` },
  enrolled: { sql: 'r.enrolled_at', isTime: true },
  next: { sql: 'r.next_at', isTime: true },
  [WORDS]: wordsColumn(['r.external_user_id', `r.anchor ->> 'name'`]),
};
