/** Finds the members of a version that is being built. Writes to `audience_member`, `audience_timer` and `audience_version`. */

import type { Predicate } from '../../platform/predicate/predicate.ts';
import { resultSql } from '../../platform/predicate/result-sql.ts';
import { sqlParams } from '../../platform/predicate/sql-values.ts';
import type { Tx } from '../../platform/db/statements.ts';

export type BuildPieceQuery = {
  projectId: number;
  versionId: number;
  predicate: Predicate;
  /** The versions that answer for the audiences it names, by audience id. */
  references: ReadonlyMap<string, number>;
  timed: boolean;
  /** The version that is served until this one is. Its members keep the time at which they joined. */
  servedId: number | null;
  /** The users after this one, in byte order. An empty text: from the first one on. */
  after: string;
  /** The last user that may be evaluated. */
  upTo: string | null;
  limit: number;
  now: Date;
};

export type BuildPieceRow = {
  people: number;
  last: string | null;
  joined: number;
  /** The earliest time at which one of these users must be evaluated again. */
  due_at: Date | null;
};

/**
 * Evaluates the next users in the order of their ids, and stores members and due times, in one statement. Reads tables of the users module.
 * The rows of a version beyond its progress do not exist yet, so a conflict happens only if a defect wrote them.
 */
export async function buildPiece(tx: Tx, query: BuildPieceQuery): Promise<BuildPieceRow> {
  const { projectId, versionId, predicate, references, timed, servedId, after, upTo, limit, now } = query;
  const params = sqlParams([projectId, versionId, now, after, upTo, limit]);
  const people = `(SELECT * FROM beckon.person
    WHERE project_id = $1 AND external_user_id > $4::text AND ($5::text IS NULL OR external_user_id <= $5)
    ORDER BY external_user_id LIMIT $6::bigint)`;
  const context = {
    params,
    projectId: '$1',
    now: '$3',
    versionId: (audienceId: string): number | null => references.get(audienceId) ?? null,
  };
  const evaluated = resultSql(predicate, context, people);
  const ofReferences = timed && references.size > 0 ? params.add([...references.values()]) : null;
  const since = servedId === null ? '$3::timestamptz' : `coalesce(${SINCE(params.add(servedId))}, $3)`;
  const [row] = await tx.query<BuildPieceRow>(
    `WITH evaluated AS MATERIALIZED (
       SELECT e.external_user_id, e.matches, ${ofReferences === null ? 'e.until' : EARLIEST(ofReferences)} AS due_at FROM (${evaluated}) e
     ), joined AS (
       INSERT INTO beckon.audience_member AS m (project_id, external_user_id, version_id, since)
       SELECT $1::bigint, e.external_user_id, $2::bigint, ${since} FROM evaluated e WHERE e.matches
       ON CONFLICT DO NOTHING RETURNING 1
     ), timers AS (
       INSERT INTO beckon.audience_timer AS t (project_id, external_user_id, version_id, at)
       SELECT $1::bigint, e.external_user_id, $2::bigint, e.due_at FROM evaluated e WHERE e.due_at IS NOT NULL
       ON CONFLICT (project_id, external_user_id, version_id) DO UPDATE SET at = least(t.at, excluded.at)
     )
     SELECT count(*) AS people, max(e.external_user_id) AS last, min(e.due_at) AS due_at, (SELECT count(*) FROM joined) AS joined
     FROM evaluated e`,
    params.values,
  );
  if (!row) throw new Error('an aggregate without a row');
  return row;
}

/** Returns since when the user is a member of the served version. */
const SINCE = (servedId: string): string =>
  `(SELECT s.since FROM beckon.audience_member s WHERE s.project_id = $1 AND s.external_user_id = e.external_user_id
     AND s.version_id = ${servedId}::bigint)`;

/** The answer to a reference is valid only until its own due time. */
const EARLIEST = (references: string): string =>
  `least(e.until, (SELECT min(t.at) FROM beckon.audience_timer t WHERE t.project_id = $1
     AND t.external_user_id = e.external_user_id AND t.version_id = ANY (${references}::bigint[])))`;

type BuildProgress = {
  projectId: number;
  versionId: number;
  builtTo: string;
  built: number;
  joined?: number;
};

/**
 * Records that all users up to `builtTo` are evaluated, `built` in total, of whom `joined` are new members. Returns false if the version is
 * no longer being built.
 */
export async function advanceBuild(tx: Tx, progress: BuildProgress): Promise<boolean> {
  const { projectId, versionId, builtTo, built, joined = 0 } = progress;
  const rows = await tx.query(
    `UPDATE beckon.audience_version SET built_to = $3, built = $4, users = greatest(users, $4), members = members + $5
     WHERE project_id = $1 AND version_id = $2 AND state = 'building' RETURNING version_id`,
    [projectId, versionId, builtTo, built, joined],
  );
  return rows.length > 0;
}
