import {
  type Filter,
  type FilterColumn,
  filterSql,
  WORDS,
  wordsColumn,
  isExact,
  NO_FILTER,
} from '../../../platform/filter/filter.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { ACTIVITY_KINDS, type StreamPosition } from './stream.ts';

/** The span between two positions, both excluded. Null is the end of the stream on that side. */
export type StreamRange = {
  projectId: number;
  filter: Filter;
  after: StreamPosition | null;
  before: StreamPosition | null;
};
export type Order = 'oldest_first' | 'newest_first';

export type StreamRow = {
  at: Date;
  id: string;
  type: string;
  external_user_id: string | null;
  audience_id: string | null;
  audience: string | null;
  name: string | null;
  occurred_at: Date | null;
  accepted_at: Date | null;
  suppressed: boolean | null;
  detail: Record<string, unknown>;
};

/** A table that the stream reads. Each has an index that begins with the project, the time and the id. */
type Source = {
  table: string;
  /** The table and its joins. */
  from: string;
  at: string;
  id: string;
  projectId: string;
  /** A condition for rows that belong to the stream. All rows do if it is left out. */
  only?: string;
  columns: string;
  filtered: Record<string, FilterColumn>;
};

/** Empty columns for sources that are not events, audience changes or requests. */
const NO_EVENT = `NULL::text AS name, NULL::timestamptz AS occurred_at, NULL::timestamptz AS accepted_at, NULL::boolean AS suppressed`;
const NO_AUDIENCE = `NULL::uuid AS audience_id, NULL::text AS audience`;

/** Tables of the events, audiences, rules, drafts and sending modules, which are only read here. */
const SOURCES: Source[] = [
  {
    table: 'beckon.event e',
    from: 'beckon.event e',
    at: 'e.received_at',
    id: 'e.id',
    projectId: 'e.project_id',
    columns: `'event' AS type, e.external_user_id, ${NO_AUDIENCE}, e.name, e.occurred_at, e.accepted_at, e.suppressed,
      e.properties AS detail`,
    filtered: {
      type: { sql: `'event'`, among: ['event'] },
      name: { sql: 'e.name' },
      user: { sql: 'e.external_user_id' },
    },
  },
  {
    table: 'beckon.activity c',
    from: 'beckon.activity c LEFT JOIN beckon.audience a ON a.project_id = c.project_id AND a.id = c.audience_id',
    at: 'c.at',
    id: 'c.id',
    projectId: 'c.project_id',
    columns: `c.kind AS type, c.external_user_id, c.audience_id, a.name AS audience, ${NO_EVENT}, c.detail`,
    filtered: {
      type: { sql: 'c.kind', among: ACTIVITY_KINDS },
      user: { sql: 'c.external_user_id' },
      audience: { sql: 'a.name' },
    },
  },
  {
    table: 'beckon.ingest_log l',
    from: 'beckon.ingest_log l',
    at: 'l.at',
    id: 'l.id',
    projectId: 'l.project_id',
    columns: `'request' AS type, NULL::text AS external_user_id, ${NO_AUDIENCE}, ${NO_EVENT},
      jsonb_build_object('endpoint', l.endpoint, 'status', l.status, 'code', l.code, 'requests', l.requests,
        'accepted', l.accepted, 'rejected', l.rejected, 'request_id', l.request_id, 'key_id', l.key_id, 'bytes', l.bytes,
        'slowest_ms', l.slowest_ms, 'faults', l.faults) AS detail`,
    filtered: {
      type: { sql: `'request'`, among: ['request'] },
      status: { sql: 'l.status::text' },
      endpoint: { sql: 'l.endpoint' },
      code: { sql: 'l.code' },
      key: { sql: 'l.key_id::text' },
    },
  },
  {
    table: 'beckon.draft d',
    from: 'beckon.draft d JOIN beckon.rule r ON r.project_id = d.project_id AND r.id = d.rule_id',
    at: 'd.created_at',
    id: 'd.id',
    projectId: 'd.project_id',
    columns: `'draft' AS type, d.external_user_id, ${NO_AUDIENCE}, ${NO_EVENT},
      jsonb_build_object('rule', r.name, 'state', d.state, 'reason', d.reason, 'subject', d.subject) AS detail`,
    filtered: {
      type: { sql: `'draft'`, among: ['draft'] },
      user: { sql: 'd.external_user_id' },
      rule: { sql: 'r.name' },
    },
  },
  {
    table: 'beckon.email m',
    from: 'beckon.email m JOIN beckon.rule r ON r.project_id = m.project_id AND r.id = m.rule_id',
    at: 'm.claimed_at',
    id: 'm.id',
    projectId: 'm.project_id',
    columns: `'email' AS type, m.external_user_id, ${NO_AUDIENCE}, ${NO_EVENT},
      jsonb_build_object('rule', r.name, 'state', m.state, 'reason', m.reason, 'draft_id', m.draft_id) AS detail`,
    filtered: {
      type: { sql: `'email'`, among: ['email'] },
      user: { sql: 'm.external_user_id' },
      rule: { sql: 'r.name' },
    },
  },
  {
    table: 'beckon.draft_move v',
    from: `beckon.draft_move v JOIN beckon.draft d ON d.project_id = v.project_id AND d.id = v.draft_id
      JOIN beckon.rule r ON r.project_id = d.project_id AND r.id = d.rule_id`,
    at: 'v.at',
    id: 'v.id',
    projectId: 'v.project_id',
    // The first version is the creation of the draft, which is in the stream as the draft itself.
    only: 'v.from_state IS NOT NULL',
    columns: `'draft_changed' AS type, d.external_user_id, ${NO_AUDIENCE}, ${NO_EVENT},
      jsonb_build_object('rule', r.name, 'draft_id', v.draft_id, 'action', v.action, 'from', v.from_state, 'to', v.to_state,
        'reason', v.reason, 'actor', v.actor) AS detail`,
    filtered: {
      type: { sql: `'draft_changed'`, among: ['draft_changed'] },
      name: { sql: 'v.action' },
      user: { sql: 'd.external_user_id' },
      rule: { sql: 'r.name' },
    },
  },
  {
    table: 'beckon.outcome o',
    from: 'beckon.outcome o JOIN beckon.rule r ON r.project_id = o.project_id AND r.id = o.rule_id',
    at: 'o.recorded_at',
    id: 'o.id',
    projectId: 'o.project_id',
    columns: `'outcome' AS type, o.external_user_id, ${NO_AUDIENCE}, ${NO_EVENT},
      o.detail || jsonb_build_object('outcome', o.type, 'rule', r.name, 'draft_id', o.draft_id, 'email_id', o.email_id) AS detail`,
    filtered: {
      type: { sql: `'outcome'`, among: ['outcome'] },
      name: { sql: 'o.type' },
      user: { sql: 'o.external_user_id' },
      rule: { sql: 'r.name' },
    },
  },
];

/** Words are searched in all texts by which the source can be filtered, except its type. */
function wordsOf({ filtered }: Source): FilterColumn {
  const { type: _type, ...columns } = filtered;
  return wordsColumn(Object.values(columns).map(({ sql }) => sql));
}

type PageOptions = { order: Order; limit: number; through: StreamPosition | null };

/** Reads a page: up to one page from each table by its own key, then the page out of these. It ends at `through`. */
export async function listPage(tx: Tx, range: StreamRange, options: PageOptions): Promise<StreamRow[]> {
  const { order, through } = options;
  const conditions = streamConditions(range);
  const ordered = `${inOrder(order)} LIMIT ${conditions.bind(options.limit)}`;
  const end = bound(through, order === 'oldest_first' ? '<=' : '>=', conditions.bind);
  const fence = isExact(range.filter, 'user') ? 'OFFSET 0' : '';
  const parts = conditions.sources.map(({ source, within, passes }) => {
    const columns = `${source.at} AS at, ${source.id} AS id, ${source.columns}`;
    const where = `${within}${end(source)} AND ${passes}`;
    // For one user, fetches all rows by the best index and then sorts them. Otherwise the planner may walk the whole table along the
    // primary key in the hope of an early match.
    return `(SELECT * FROM (SELECT ${columns} FROM ${source.from} WHERE ${where} ${fence}) found ${ordered})`;
  });
  if (parts.length === 0) return [];
  return tx.query(`SELECT * FROM (${parts.join(' UNION ALL ')}) page ${ordered}`, conditions.values);
}

/**
 * Returns where a selective search has scanned this many rows of a table. Null if there are fewer rows, if every row passes, or if an index
 * finds the matches.
 */
export async function findScanEnd(
  tx: Tx,
  range: StreamRange,
  { order, rows }: { order: Order; rows: number },
): Promise<StreamPosition | null> {
  if (isExact(range.filter, 'user')) return null;
  const conditions = streamConditions(range);
  const searched = conditions.sources.filter(({ passes }) => passes !== 'true');
  if (searched.length === 0) return null;
  // Leaves out the filter, because it counts the scanned rows and not the matches.
  const plain = streamConditions({ ...range, filter: NO_FILTER });
  const skip = plain.bind(rows - 1);
  const parts = plain.sources
    .filter(({ source }) => searched.some((entry) => entry.source === source))
    .map(
      ({ source, within }) =>
        `(SELECT ${source.at} AS at, ${source.id} AS id FROM ${source.table} WHERE ${within}
          ${inOrder(order)} OFFSET ${skip} LIMIT 1)`,
    );
  const [end] = await tx.query<StreamPosition>(
    `SELECT * FROM (${parts.join(' UNION ALL ')}) ends ${inOrder(order)} LIMIT 1`,
    plain.values,
  );
  return end ?? null;
}

/** Counts the items, up to `most`. */
export async function countItems(tx: Tx, range: StreamRange, most: number): Promise<number> {
  const conditions = streamConditions(range);
  const end = conditions.bind(most);
  const parts = conditions.sources.map(
    ({ source, within, passes }) =>
      `(SELECT 1 FROM ${source.from} WHERE ${within} AND ${passes} LIMIT ${end})`,
  );
  if (parts.length === 0) return 0;
  const [counted] = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM (${parts.join(' UNION ALL ')}) found LIMIT ${end}) bounded`,
    conditions.values,
  );
  return counted?.count ?? 0;
}

function inOrder(order: Order): string {
  return order === 'oldest_first' ? 'ORDER BY at, id' : 'ORDER BY at DESC, id DESC';
}

/** Counts the items of each time slice that has any. */
export async function countSlices(
  tx: Tx,
  range: StreamRange,
  sliceMs: number,
): Promise<{ slice: Date; count: number }[]> {
  const conditions = streamConditions(range);
  const parts = conditions.sources.map(
    ({ source, within, passes }) =>
      `SELECT ${source.at} AS at FROM ${source.from} WHERE ${within} AND ${passes}`,
  );
  if (parts.length === 0) return [];
  return tx.query(
    `SELECT date_bin(${conditions.bind(sliceMs)}::int * interval '1 millisecond', at, 'epoch'::timestamptz) AS slice, count(*)
     FROM (${parts.join(' UNION ALL ')}) found GROUP BY slice ORDER BY slice`,
    conditions.values,
  );
}

type StreamConditions = {
  sources: { source: Source; within: string; passes: string }[];
  values: unknown[];
  bind: (value: unknown) => string;
};

/** Returns the tables in which rows can pass the filter, with their conditions. */
function streamConditions({ projectId, filter, after, before }: StreamRange): StreamConditions {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const project = bind(projectId);
  const bounds = [bound(after, '>', bind), bound(before, '<', bind)];
  const sources = SOURCES.flatMap((source) => {
    const passes = filterSql(filter, { ...source.filtered, [WORDS]: wordsOf(source) }, bind);
    if (passes === null) return [];
    const only = source.only === undefined ? '' : ` AND ${source.only}`;
    const within = `${source.projectId} = ${project}${only}${bounds.map((toSql) => toSql(source)).join('')}`;
    return [{ source, within, passes }];
  });
  return { sources, values, bind };
}

/** Compares the time separately as well, because partitions are pruned by it but not by a comparison of pairs. */
function bound(
  position: StreamPosition | null,
  operator: '<' | '<=' | '>' | '>=',
  bind: (value: unknown) => string,
): (source: Source) => string {
  if (!position) return () => '';
  const at = `${bind(position.at)}::timestamptz`;
  const id = `${bind(position.id)}::uuid`;
  const side = operator.startsWith('<') ? '<=' : '>=';
  return (source) =>
    ` AND ${source.at} ${side} ${at} AND (${source.at}, ${source.id}) ${operator} (${at}, ${id})`;
}
