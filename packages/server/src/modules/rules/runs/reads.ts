import { plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { fromRow, RUN, type Run, type RunRow } from './run.ts';
import type { RunPosition, RunPerson } from './store.ts';

/**
 * Returns the open runs of these users and locks them in the order of their ids. With `goals`, it includes ended runs that still wait for
 * their goal at that time. Each user must be named once. With `locks: false` it takes no locks.
 */
export async function findOpenRuns(
  tx: Tx,
  people: RunPerson[],
  { goals, locks = true }: { goals?: number; locks?: boolean } = {},
): Promise<Run[]> {
  if (people.length === 0) return [];
  const rows = await tx.prepared<RunRow>({
    name: locks ? 'sequences.open' : 'sequences.open_read',
    text: `SELECT ${RUN} FROM unnest($1::bigint[], $2::text[]) AS p(project_id, external_user_id)
           JOIN beckon.run r ON r.project_id = p.project_id AND r.external_user_id = p.external_user_id
           WHERE r.state <> 'ended' OR (r.goal_until > $3::timestamptz AND r.converted_at IS NULL)
           ORDER BY r.project_id, r.id ${locks ? 'FOR UPDATE OF r' : ''}`,
    values: [
      plainList(people.map((person) => person.projectId)),
      people.map((person) => person.userId),
      goals === undefined ? null : new Date(goals),
    ],
  });
  return rows.map(fromRow);
}

/**
 * Returns the positions in the list of the users who have an open run or wait for a goal. Most users have no run and the index of open runs
 * is small, so a lookup of a thousand is cheap. It takes no locks.
 */
export async function findOpenRunIndexes(tx: Tx, people: RunPerson[], now: number): Promise<Set<number>> {
  if (people.length === 0) return new Set();
  const rows = await tx.prepared<{ n: number }>({
    name: 'runs.active',
    text: `SELECT p.n::int - 1 AS n FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS p(project_id, user_id, n)
           WHERE EXISTS (SELECT FROM beckon.run r WHERE r.project_id = p.project_id AND r.external_user_id = p.user_id
             AND (r.state <> 'ended' OR (r.goal_until > $3 AND r.converted_at IS NULL)))`,
    values: [
      plainList(people.map((person) => person.projectId)),
      people.map((person) => person.userId),
      new Date(now),
    ],
  });
  return new Set(rows.map((row) => row.n));
}

/** Returns when these users last started a run of a rule, including ended runs. */
export async function findLastRuns(
  tx: Tx,
  { projectId, ruleId, users }: { projectId: number; ruleId: string; users: string[] },
): Promise<Map<string, number>> {
  if (users.length === 0) return new Map();
  const rows = await tx.query<{ user_id: string; at: Date }>(
    `SELECT external_user_id AS user_id, max(enrolled_at) AS at FROM beckon.run
     WHERE project_id = $1 AND rule_id = $2 AND external_user_id = ANY ($3::text[]) GROUP BY external_user_id`,
    [projectId, ruleId, users],
  );
  return new Map(rows.map(({ user_id: userId, at }) => [userId, at.getTime()]));
}

/** Returns these runs, open or ended, without locks. */
export async function findRunsById(tx: Tx, keys: { projectId: number; id: string }[]): Promise<Run[]> {
  if (keys.length === 0) return [];
  const rows = await tx.prepared<RunRow>({
    name: 'sequences.by_id',
    text: `SELECT ${RUN} FROM unnest($1::bigint[], $2::uuid[]) AS k(project_id, id)
           JOIN beckon.run r ON r.project_id = k.project_id AND r.id = k.id`,
    values: [plainList(keys.map((key) => key.projectId)), plainList(keys.map((key) => key.id))],
  });
  return rows.map(fromRow);
}

/** Returns the runs that are due by now, longest overdue first. */
export async function listDueRuns(
  tx: Tx,
  { projectId, now, limit }: { projectId: number; now: number; limit: number },
): Promise<Run[]> {
  const rows = await tx.prepared<RunRow>({
    name: 'sequences.due',
    text: `SELECT ${RUN} FROM beckon.run r WHERE r.project_id = $1 AND r.state = 'active' AND r.next_at <= $2
           ORDER BY r.next_at, r.id LIMIT $3`,
    values: [projectId, new Date(now), limit],
  });
  return rows.map(fromRow);
}

/** Returns when the next run is due. */
export async function nextRunAt(tx: Tx, projectId: number): Promise<number | null> {
  const rows = await tx.prepared<{ next_at: Date }>({
    name: 'sequences.next',
    text: `SELECT next_at FROM beckon.run WHERE project_id = $1 AND state = 'active' AND next_at IS NOT NULL
           ORDER BY next_at LIMIT 1`,
    values: [projectId],
  });
  return rows[0]?.next_at.getTime() ?? null;
}

export type VersionInUse = { projectId: number; ruleId: string; version: number };

/**
 * Returns the versions of rules that have open runs, runs waiting for a goal at this time, or open drafts. Reads tables of the rules and
 * drafts modules. There are few versions and each is one index lookup, while there may be a million runs.
 */
export async function listVersionsInUse(tx: Tx, projectIds: number[], now: number): Promise<VersionInUse[]> {
  const rows = await tx.prepared<{ project_id: number; rule_id: string; version: number }>({
    name: 'sequences.versions',
    text: `SELECT v.project_id, v.rule_id, v.version FROM beckon.rule_version v WHERE v.project_id = ANY ($1::bigint[]) AND (
             EXISTS (SELECT FROM beckon.run r WHERE r.project_id = v.project_id AND r.rule_id = v.rule_id
               AND r.version = v.version AND r.state <> 'ended')
             OR EXISTS (SELECT FROM beckon.run r WHERE r.project_id = v.project_id AND r.rule_id = v.rule_id
               AND r.version = v.version AND r.converted_at IS NULL AND r.goal_until > $2)
             OR EXISTS (SELECT FROM beckon.draft d WHERE d.project_id = v.project_id AND d.rule_id = v.rule_id
               AND d.version = v.version AND d.ended_at IS NULL))
           ORDER BY v.project_id, v.rule_id, v.version`,
    values: [projectIds, new Date(now)],
  });
  return rows.map((row) => ({ projectId: row.project_id, ruleId: row.rule_id, version: row.version }));
}

/** Counts the open runs by version and step, for all versions except one. */
export function listPositionCounts(
  tx: Tx,
  { projectId, ruleId, except }: { projectId: number; ruleId: string; except: number },
): Promise<(RunPosition & { runs: number })[]> {
  return tx.query(
    `SELECT version, step, count(*) AS runs FROM beckon.run
     WHERE project_id = $1 AND rule_id = $2 AND version <> $3 AND state <> 'ended'
     GROUP BY version, step ORDER BY version, step`,
    [projectId, ruleId, except],
  );
}

/** Returns the runs of a user, newest first. */
export async function listRunsOf(
  tx: Tx,
  { projectId, userId, limit }: RunPerson & { limit: number },
): Promise<Run[]> {
  const rows = await tx.query<RunRow>(
    `SELECT ${RUN} FROM beckon.run r WHERE r.project_id = $1 AND r.external_user_id = $2
     ORDER BY r.enrolled_at DESC, r.id DESC LIMIT $3`,
    [projectId, userId, limit],
  );
  return rows.map(fromRow);
}

export type RunCountRow = {
  rule_id: string;
  state: Run['state'];
  variant: Run['variant'];
  end_reason: Run['endReason'];
  runs: number;
  converted: number;
};

/** Scans all runs of a project. Use it for reports, not on the hot path. */
export function listCounts(tx: Tx, projectId: number, ruleId: string | null): Promise<RunCountRow[]> {
  return tx.query(
    `SELECT rule_id, state, variant, end_reason, count(*) AS runs, count(converted_at) AS converted FROM beckon.run
     WHERE project_id = $1 AND ($2::uuid IS NULL OR rule_id = $2) GROUP BY 1, 2, 3, 4`,
    [projectId, ruleId],
  );
}
