import type { SortOf, UserListed } from '@beckon/contract/dashboard';
import { csvLine } from '@beckon/contract/files';
import { loadModels } from '../audiences/index.ts';
import { type FilterAudiences, peopleSql } from './user-filter.ts';
import { findPeople, isSuppressed, type Person } from '../users/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Bind, Filter } from '../../platform/filter/filter.ts';
import { iso } from '../../platform/time/clock.ts';
import { timestampText } from '../../platform/time/time-text.ts';

type UsersQuery = { projectId: number; filter: Filter; sort: UserSort };

/** By id, or by the time at which users were first seen. Both have an index; one on `last_seen_at` would slow every event. */
export type UserSort = SortOf<'users'>;
/** The last user of the previous page. */
export type UserPosition = { userId: string; firstSeenAt: number };

/** Returns a page of the users that match the filter, and their number up to a limit. */
export async function listUsers(
  tx: Tx,
  {
    projectId,
    filter,
    sort,
    after,
    rowsMax,
    most,
  }: UsersQuery & { after: UserPosition | null; rowsMax: number; most: number },
): Promise<{ rows: UserListed[]; total: number }> {
  const audiences = await filterAudiences(tx, projectId, filter);
  const rows = await listFiltered(tx, { projectId, filter, audiences, sort, after, limit: rowsMax });
  // If all of them fit on the first page, they are already counted.
  const isWhole = after === null && rows.length < rowsMax;
  const total = isWhole ? rows.length : await countFiltered(tx, { projectId, filter, audiences, upTo: most });
  return { rows, total };
}

/** Returns the versions that a filter may name, if it names any. */
async function filterAudiences(tx: Tx, projectId: number, { terms }: Filter): Promise<FilterAudiences> {
  if (!terms.some(({ key }) => key === 'audience')) return [];
  const model = (await loadModels(tx, [projectId])).get(projectId);
  return (model?.versions ?? [])
    .filter(({ audienceId, versionId }) => model?.versionFor(audienceId)?.versionId === versionId)
    .map(({ audienceId, name, versionId }) => ({ id: audienceId, name, versionId }));
}

const COLUMNS = ['external_user_id', 'email', 'first_seen_at', 'last_seen_at', 'traits'];
const PAGE = 500;

/**
 * Yields all users that match the filter as lines of CSV, page by page. Traits are one JSON value, because their names are not known in
 * advance.
 */
export async function* exportUsers(
  tx: Tx,
  { projectId, filter, sort, cell }: UsersQuery & { cell: (value: string) => string },
): AsyncGenerator<string, void, void> {
  const audiences = await filterAudiences(tx, projectId, filter);
  yield `${csvLine(COLUMNS)}\n`;
  let after: UserPosition | null = null;
  do {
    const page: UserListed[] = await listFiltered(tx, {
      projectId,
      filter,
      audiences,
      sort,
      after,
      limit: PAGE,
    });
    const whole = await findPeople(
      tx,
      page.map((user) => ({ projectId, userId: user.external_user_id })),
    );
    const byId = new Map(whole.map((person) => [person.userId, person]));
    const lines = page.flatMap((user) => {
      const person = byId.get(user.external_user_id);
      return person ? [csvLine(cellsOf(person).map((value) => value && cell(value)))] : [];
    });
    if (lines.length > 0) yield `${lines.join('\n')}\n`;
    const last = page.at(-1);
    after = last && page.length === PAGE ? positionOf(last) : null;
  } while (after !== null);
}

function cellsOf({ userId, email, firstSeenAt, lastSeenAt, traits }: Person): (string | null)[] {
  return [userId, email, iso(firstSeenAt), iso(lastSeenAt), JSON.stringify(Object.fromEntries(traits))];
}

type FilteredUsersQuery = { projectId: number; filter: Filter; audiences: FilterAudiences };

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

export function positionOf({ external_user_id: userId, first_seen_at: at }: UserListed): UserPosition {
  return { userId, firstSeenAt: Date.parse(at) };
}

/** Lists the users that pass the filter, after `after`. */
export async function listFiltered(
  tx: Tx,
  query: FilteredUsersQuery & { sort?: UserSort; after: UserPosition | null; limit: number },
): Promise<UserListed[]> {
  const { projectId, sort = 'user', after, limit } = query;
  const params = sqlBinder(projectId);
  const condition = peopleSql(query.filter, query.audiences, params.bind);
  if (condition === null) return [];
  const { order, behind } = orderSql(sort, after, params.bind);
  const rows = await tx.query<Row>(
    // The page comes first, because a join for the addresses could read all of them up to here.
    `SELECT page.*, (SELECT e.email FROM beckon.person_email e
                     WHERE e.project_id = $1 AND e.external_user_id = page.external_user_id) AS email
     FROM (
       SELECT p.external_user_id, p.name, p.plan, p.company, p.role, p.first_seen_at, p.last_seen_at,
              p.suppressed_seq, p.live_seq, p.normal_seq
       FROM beckon.person p WHERE p.project_id = $1 AND ${condition} ${behind}
       ORDER BY ${order('p')} LIMIT ${limit}
     ) page ORDER BY ${order('page')}`,
    params.values,
  );
  return rows.map(listedPerson);
}

type OrderSql = { order: (row: string) => string; behind: string };

function orderSql(sort: UserSort, after: UserPosition | null, bind: Bind): OrderSql {
  const [direction, than] = sort.startsWith('-') ? ['DESC', '<'] : ['ASC', '>'];
  if (sort === 'user' || sort === '-user')
    return {
      order: (row) => `${row}.external_user_id ${direction}`,
      behind: after === null ? '' : `AND p.external_user_id ${than} ${bind(after.userId)}::text`,
    };
  const position = (at: UserPosition): string =>
    `(${bind(timestampText(at.firstSeenAt))}::timestamptz, ${bind(at.userId)}::text)`;
  return {
    order: (row) => `${row}.first_seen_at ${direction}, ${row}.external_user_id ${direction}`,
    behind: after === null ? '' : `AND (p.first_seen_at, p.external_user_id) ${than} ${position(after)}`,
  };
}

/** Counts the users that pass the filter, up to a limit. */
export async function countFiltered(tx: Tx, query: FilteredUsersQuery & { upTo: number }): Promise<number> {
  const params = sqlBinder(query.projectId);
  const condition = peopleSql(query.filter, query.audiences, params.bind);
  if (condition === null) return 0;
  const [row] = await tx.query<{ people: number }>(
    `SELECT count(*) AS people FROM (
       SELECT 1 FROM beckon.person p WHERE p.project_id = $1 AND ${condition} LIMIT ${query.upTo}
     ) found`,
    params.values,
  );
  return row?.people ?? 0;
}

function sqlBinder(projectId: number): { values: unknown[]; bind: (value: string | string[]) => string } {
  const values: unknown[] = [projectId];
  return { values, bind: (value) => `$${values.push(value)}` };
}

function listedPerson(row: Row): UserListed {
  const { email, name, plan, company, role } = row;
  const mark = {
    suppressedSeq: row.suppressed_seq,
    liveSeq: row.live_seq,
    normalSeq: row.normal_seq,
    triggersLiveSince: null,
  };
  return {
    external_user_id: row.external_user_id,
    email,
    name,
    plan,
    company,
    role,
    first_seen_at: row.first_seen_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    triggers_suppressed: isSuppressed(mark),
  };
}
