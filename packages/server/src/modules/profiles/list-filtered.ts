import type { Filter } from '../../platform/filter/filter.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { type Listening, peopleSql } from './user-filter.ts';
import { isSuppressed } from '../users/index.ts';

/** A user in a table, without fields that may be large. Times are in milliseconds. */
export type ListedPerson = {
  userId: string;
  email: string | null;
  name: string | null;
  plan: string | null;
  company: string | null;
  role: string | null;
  firstSeenAt: number;
  lastSeenAt: number;
  isSuppressed: boolean;
};

export type Wanted = { projectId: number; filter: Filter; audiences: Listening };

type Row = {
  external_user_id: string;
  email: string | null;
  name: string | null;
  plan: string | null;
  company: string | null;
  role: string | null;
  first_seen_at: Date;
  last_seen_at: Date;
  suppressed_seq: number | null;
  live_seq: number | null;
  normal_seq: number | null;
};

/** Lists the users that pass the filter, by id after `after`. */
export async function listFiltered(
  tx: Tx,
  wanted: Wanted & { after: string | null; limit: number },
): Promise<ListedPerson[]> {
  const { projectId, after, limit } = wanted;
  const asked = bound(projectId);
  const condition = peopleSql(wanted.filter, wanted.audiences, asked.bind);
  if (condition === null) return [];
  const behind = after === null ? '' : `AND p.external_user_id > ${asked.bind(after)}::text`;
  const rows = await tx.query<Row>(
    // The page comes first, because a join for the addresses could read all of them up to here.
    `SELECT page.*, (SELECT e.email FROM beckon.person_email e
                     WHERE e.project_id = $1 AND e.external_user_id = page.external_user_id) AS email
     FROM (
       SELECT p.external_user_id, p.name, p.plan, p.company, p.role, p.first_seen_at, p.last_seen_at,
              p.suppressed_seq, p.live_seq, p.normal_seq
       FROM beckon.person p WHERE p.project_id = $1 AND ${condition} ${behind}
       ORDER BY p.external_user_id LIMIT ${limit}
     ) page ORDER BY page.external_user_id`,
    asked.values,
  );
  return rows.map(toListed);
}

/** Counts the users that pass the filter, up to a limit. */
export async function countFiltered(tx: Tx, wanted: Wanted & { upTo: number }): Promise<number> {
  const asked = bound(wanted.projectId);
  const condition = peopleSql(wanted.filter, wanted.audiences, asked.bind);
  if (condition === null) return 0;
  const [row] = await tx.query<{ people: number }>(
    `SELECT count(*) AS people FROM (
       SELECT 1 FROM beckon.person p WHERE p.project_id = $1 AND ${condition} LIMIT ${wanted.upTo}
     ) found`,
    asked.values,
  );
  return row?.people ?? 0;
}

function bound(projectId: number): { values: unknown[]; bind: (value: string | string[]) => string } {
  const values: unknown[] = [projectId];
  return { values, bind: (value) => `$${values.push(value)}` };
}

function toListed(row: Row): ListedPerson {
  const { email, name, plan, company, role } = row;
  const mark = {
    suppressedSeq: row.suppressed_seq,
    liveSeq: row.live_seq,
    normalSeq: row.normal_seq,
    triggersLiveSince: null,
  };
  return {
    userId: row.external_user_id,
    email,
    name,
    plan,
    company,
    role,
    firstSeenAt: row.first_seen_at.getTime(),
    lastSeenAt: row.last_seen_at.getTime(),
    isSuppressed: isSuppressed(mark),
  };
}
