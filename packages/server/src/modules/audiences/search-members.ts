import type { AudienceMemberListed, FILTER_KEYS } from '@beckon/contract/dashboard';
import { readAs } from '../../platform/db/read-as.ts';
import type { Tx } from '../../platform/db/statements.ts';
import {
  type Bind,
  type Filter,
  type FilterColumn,
  filterSql,
  type FilterTerm,
  WORDS,
  wordsColumn,
} from '../../platform/filter/filter.ts';
import { findAudience, unknownAudience } from './audience.ts';
import { listCurrent, visibleVersion } from './current-versions.ts';

export type MemberSearch = {
  projectId: number;
  /** The id or the name of the audience. */
  reference: string;
  filter: Filter;
  /** The last id of the previous page. */
  after: string | null;
  limit: number;
  /** Counting stops here. */
  most: number;
};

type FoundMembers = { members: AudienceMemberListed[]; total: number };

/** Returns a page of the members who match a filter, by user id, and their number up to a maximum. */
export async function searchMembers(tx: Tx, search: MemberSearch): Promise<FoundMembers> {
  const { projectId, reference, filter, after, limit, most } = search;
  const { id } = await findAudience(tx, { projectId, reference });
  const audience = (await listCurrent(tx, projectId)).find((candidate) => candidate.id === id);
  if (!audience) throw unknownAudience(reference);
  const { versionId, members: all } = visibleVersion(audience);
  const values: unknown[] = [projectId, versionId];
  const where = membersSql(filter, (value) => `$${values.push(value)}`);
  if (where === null) return { members: [], total: 0 };
  const from = `FROM beckon.audience_member m WHERE m.project_id = $1 AND m.version_id + 0 = $2 AND ${where}`;
  const counted = [...values, most];
  const members = await readAs<AudienceMemberListed>(
    tx,
    `SELECT m.external_user_id, m.since, ${NAME} AS name, ${EMAIL} AS email
     ${from} AND ($${values.push(after)}::text IS NULL OR m.external_user_id > $${values.length})
     ORDER BY m.external_user_id LIMIT $${values.push(limit)}`,
    values,
  );
  if (filter.terms.length === 0) return { members, total: all };
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*) FROM (SELECT 1 ${from} LIMIT $${counted.length}) counted`,
    counted,
  );
  return { members, total: row?.count ?? 0 };
}

/** From tables of the module `users`. */
const NAME = `(SELECT coalesce(p.name, p.traits ->> 'name') FROM beckon.person p
  WHERE p.project_id = m.project_id AND p.external_user_id = m.external_user_id)`;
const EMAIL = `(SELECT x.email FROM beckon.person_email x
  WHERE x.project_id = m.project_id AND x.external_user_id = m.external_user_id)`;

const OWN: Record<string, FilterColumn> = {
  user: { sql: 'm.external_user_id' },
  since: { sql: 'm.since', isTime: true },
} satisfies Partial<Record<keyof typeof FILTER_KEYS.audience_members, FilterColumn>>;

function membersSql(filter: Filter, bind: Bind): string | null {
  const conditions = filter.terms.map((term) =>
    Object.hasOwn(OWN, term.key) ? filterSql({ terms: [term] }, OWN, bind) : ofUsersSql(term, bind),
  );
  if (conditions.includes(null)) return null;
  return conditions.length === 0 ? 'true' : conditions.join(' AND ');
}

/**
 * A condition on the user of a member. The matching users are a subquery, so that PostgreSQL joins them to the members. Looking up the user
 * of each of 300,000 members took twenty times as long.
 */
function ofUsersSql(term: FilterTerm, bind: Bind): string {
  const isIn = (table: string, column: FilterColumn): string => {
    const positive = { ...term, negated: false };
    const found = filterSql({ terms: [positive] }, { [term.key]: column }, bind) ?? 'false';
    return `SELECT u.external_user_id FROM beckon.${table} u WHERE u.project_id = $1 AND ${found}`;
  };
  const name = `coalesce(u.name, u.traits ->> 'name')`;
  const users =
    term.key === WORDS
      ? [
          isIn('person', wordsColumn(['u.external_user_id', name])),
          isIn('person_email', wordsColumn(['u.email_lower'])),
        ]
      : [term.key === 'name' ? isIn('person', { sql: name }) : isIn('person_email', { sql: 'u.email' })];
  const exists = `EXISTS (SELECT FROM (${users.join(' UNION ALL ')}) x WHERE x.external_user_id = m.external_user_id)`;
  return term.negated ? `NOT ${exists}` : exists;
}
