import type { Tx } from '../../../platform/db/statements.ts';
import type { ListedEntry } from './entry.ts';

/** Selects audit entries. */
export type AuditOf = {
  projectIds: number[];
  /** The organization with entries to include that concern no project. Null includes no such entry. */
  organizationId?: string | null;
  actor: string | null;
  /** A prefix of the action, such as `draft.`. */
  action: string | null;
};

type Page = {
  /** The last id of the previous page. */
  after: string | null;
  offset?: number;
  limit: number;
};

const WHERE = `(a.project_id = ANY ($1::bigint[]) OR a.project_id = 0 AND $2::text = ANY (a.organizations))
  AND ($3::text IS NULL OR a.actor = $3) AND ($4::text IS NULL OR starts_with(a.action, $4))`;

/** Lists entries, newest first. Ids are created in time order. */
export async function listEntries(tx: Tx, asked: AuditOf & Page): Promise<ListedEntry[]> {
  const { after, limit, offset = 0 } = asked;
  return tx.query<ListedEntry>(
    `SELECT a.project_id AS "projectId", a.id, a.at, a.actor, a.actor_name AS "actorName", a.token, a.action,
            a.subject, a.before, a.after, a.completed AS "isDone"
     FROM beckon.audit a WHERE ${WHERE} AND ($5::uuid IS NULL OR a.id < $5)
     ORDER BY a.id DESC LIMIT $6 OFFSET $7`,
    [...valuesOf(asked), after, limit, offset],
  );
}

/** Counts entries, up to `most`. */
export async function countEntries(tx: Tx, of: AuditOf, most: number): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM beckon.audit a WHERE ${WHERE} LIMIT $5) AS counted`,
    [...valuesOf(of), most],
  );
  return rows[0]?.count ?? 0;
}

function valuesOf({ projectIds, organizationId = null, actor, action }: AuditOf): unknown[] {
  return [projectIds, organizationId, actor, action];
}
