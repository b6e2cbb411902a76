import type { AuditEntry, Difference, ListedEntry } from './entry.ts';
import type { FILTER_KEYS } from '@beckon/contract/dashboard';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  type Filter,
  type FilterColumn,
  filterSql,
  NO_FILTER,
  WORDS,
  wordsColumn,
} from '../../../platform/filter/filter.ts';

/** Records an action before the change, in a separate commit. */
export function beginEntry(tx: Tx, entry: AuditEntry): Promise<void> {
  return insert(tx, entry, false);
}

/** Records an action in the transaction of its change. */
export function addEntry(tx: Tx, entry: AuditEntry & Difference): Promise<void> {
  return insert(tx, entry, true);
}

async function insert(tx: Tx, entry: AuditEntry & Difference, isCompleted: boolean): Promise<void> {
  const { id, at, actor, actorName, token, action } = entry;
  const [projectId, ...what] = changing(entry);
  await tx.prepared({
    name: 'audit.insert',
    text: `INSERT INTO beckon.audit (project_id, id, subject, before, after, organizations, at, actor, actor_name, token, action, completed)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    values: [projectId, id, ...what, at, actor, actorName, token, action, isCompleted],
  });
}

export async function endEntry(tx: Tx, entry: AuditEntry & Difference): Promise<void> {
  const [projectId, ...what] = changing(entry);
  await tx.prepared({
    name: 'audit.end',
    text: `UPDATE beckon.audit SET completed = true, subject = $3, before = $4, after = $5, organizations = $6
           WHERE project_id = $1 AND id = $2`,
    values: [projectId, entry.id, ...what],
  });
}

function changing({ projectId, organizationIds, ...what }: AuditEntry & Difference): unknown[] {
  const { subject = null, before = null, after = null } = what;
  const text = subject === null ? null : storable(subject);
  return [projectId, text, toJson(before), toJson(after), projectId === 0 ? organizationIds : null];
}

function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value, storableIn);
}

/** Replaces text that PostgreSQL cannot store. Typed text must never undo the audit entry of a change. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

function storableIn(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? storable(value) : value;
}

/** Assigns the earlier entries of the local shell to the first organization. */
export async function adoptEntries(tx: Tx, organizationId: string): Promise<void> {
  await tx.query(
    `UPDATE beckon.audit SET organizations = ARRAY[$2::text] WHERE project_id = $1 AND organizations = '{}'`,
    [0, organizationId],
  );
}

export async function dropEntry(
  tx: Tx,
  { projectId, id }: Pick<AuditEntry, 'projectId' | 'id'>,
): Promise<void> {
  await tx.query(`DELETE FROM beckon.audit WHERE project_id = $1 AND id = $2`, [projectId, id]);
}

/** Selects audit entries. */
export type AuditOf = {
  projectIds: number[];
  /** The organization with entries to include that concern no project. Null includes no such entry. */
  organizationId?: string | null;
  actor: string | null;
  /** A prefix of the action, such as `draft.`. */
  action: string | null;
  filter?: Filter;
};

type Page = {
  /** The last id of the previous page. */
  after: string | null;
  offset?: number;
  limit: number;
};

const WHERE = `(a.project_id = ANY ($1::bigint[]) OR a.project_id = 0 AND $2::text = ANY (a.organizations))
  AND ($3::text IS NULL OR a.actor = $3) AND ($4::text IS NULL OR starts_with(a.action, $4))`;

const FILTERED: Record<keyof typeof FILTER_KEYS.audit | typeof WORDS, FilterColumn> = {
  action: { sql: 'a.action' },
  member: { sql: 'a.actor_name' },
  object: { sql: 'a.subject' },
  token: { sql: 'a.token' },
  at: { sql: 'a.at', isTime: true },
  [WORDS]: wordsColumn(['a.action', 'a.actor_name', 'a.subject']),
};

/** Lists entries, newest first. Ids are created in time order. */
export async function listEntries(tx: Tx, query: AuditOf & Page): Promise<ListedEntry[]> {
  const { filter = NO_FILTER, after, limit, offset = 0 } = query;
  const values = [...valuesOf(query), after, limit, offset];
  const where = filterSql(filter, FILTERED, (value) => `$${values.push(value)}`);
  if (where === null) return [];
  return tx.query<ListedEntry>(
    `SELECT a.project_id AS "projectId", a.id, a.at, a.actor, a.actor_name AS "actorName", a.token, a.action,
            a.subject, a.before, a.after, a.completed AS "isCompleted"
     FROM beckon.audit a WHERE ${WHERE} AND ($5::uuid IS NULL OR a.id < $5) AND ${where}
     ORDER BY a.id DESC LIMIT $6 OFFSET $7`,
    values,
  );
}

/** Counts entries, up to `most`. */
export async function countEntries(tx: Tx, of: AuditOf, most: number): Promise<number> {
  const values = [...valuesOf(of), most];
  const where = filterSql(of.filter ?? NO_FILTER, FILTERED, (value) => `$${values.push(value)}`);
  if (where === null) return 0;
  const rows = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM beckon.audit a WHERE ${WHERE} AND ${where} LIMIT $5) AS counted`,
    values,
  );
  return rows[0]?.count ?? 0;
}

function valuesOf({ projectIds, organizationId = null, actor, action }: AuditOf): unknown[] {
  return [projectIds, organizationId, actor, action];
}
