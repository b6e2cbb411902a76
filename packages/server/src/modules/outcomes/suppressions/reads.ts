import type { FILTER_KEYS, SortOf } from '@beckon/contract/dashboard';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  type Suppression,
  type StoredSuppression,
  entrySql,
  entriesSql,
  ENTRY_COLUMNS,
  SUPPRESSION_REASONS,
} from './entries.ts';
import { normaliseAddress } from '../../../platform/net/address.ts';
import type { SuppressionReason, SuppressedKind, HashedTarget } from '../../sending/index.ts';
import {
  type Filter,
  filterSql,
  type FilterColumn,
  WORDS,
  wordsColumn,
} from '../../../platform/filter/filter.ts';
import { plainList } from '../../../platform/db/list.ts';

export const SUPPRESSIONS_PAGE_MAX = 1_000;

/** Returns the suppression of this place, even if it has ended. */
export async function findSuppression(
  tx: Tx,
  { projectId, kind, value }: Pick<Suppression, 'projectId' | 'kind' | 'value'>,
): Promise<StoredSuppression | undefined> {
  const rows = await tx.query<SuppressionRow>(
    `SELECT ${SUPPRESSION} FROM beckon.suppression WHERE project_id = $1 AND kind = $2 AND value = $3`,
    [projectId, kind, kind === 'email' ? normaliseAddress(value) : value],
  );
  return rows.map((row) => toSuppression(projectId, row))[0];
}

export type LiftedSuppression = {
  reason: SuppressionReason;
  suppressedAt: number;
  suppressedBy: string;
  liftedAt: number;
  liftedBy: string;
};

/** Returns the last lift of a suppression at this place, or undefined. */
export async function findLift(
  tx: Tx,
  { projectId, kind, value }: Pick<Suppression, 'projectId' | 'kind' | 'value'>,
): Promise<LiftedSuppression | undefined> {
  const rows = await tx.query<{
    reason: SuppressionReason;
    suppressed_at: Date;
    suppressed_by: string;
    lifted_at: Date;
    lifted_by: string;
  }>(
    `SELECT reason, suppressed_at, suppressed_by, lifted_at, lifted_by FROM beckon.suppression_lift
     WHERE project_id = $1 AND kind = $2 AND recipient_hash = sha256(convert_to($3, 'UTF8'))`,
    [projectId, kind, kind === 'email' ? normaliseAddress(value) : value],
  );
  return rows.map((row) => ({
    reason: row.reason,
    suppressedAt: row.suppressed_at.getTime(),
    suppressedBy: row.suppressed_by,
    liftedAt: row.lifted_at.getTime(),
    liftedBy: row.lifted_by,
  }))[0];
}

/** Lists suppressions by kind and value, including ended ones. `after` is the last one of the previous page. */
export async function listSuppressions(
  tx: Tx,
  page: { projectId: number; after?: { kind: SuppressedKind; value: string } | null; limit: number },
): Promise<StoredSuppression[]> {
  const { projectId, after = null, limit } = page;
  const rows = await tx.query<SuppressionRow>(
    `SELECT ${SUPPRESSION} FROM beckon.suppression
     WHERE project_id = $1 AND (kind, value) > ($2, $3) ORDER BY kind, value LIMIT $4`,
    [projectId, after?.kind ?? '', after?.value ?? '', Math.min(limit, SUPPRESSIONS_PAGE_MAX)],
  );
  return rows.map((row) => toSuppression(projectId, row));
}

/** Lists the same with all entries below, each following the one in force. `limit` counts places, and no place is split. */
export async function listAllEntries(
  tx: Tx,
  page: { projectId: number; after: { kind: SuppressedKind; value: string } | null; limit: number },
): Promise<StoredSuppression[]> {
  const { projectId, after, limit } = page;
  const rows = await tx.query<SuppressionRow>(
    `SELECT kind, value, from_erased, entry.* FROM (
       SELECT * FROM beckon.suppression WHERE project_id = $1 AND (kind, value) > ($2, $3) ORDER BY kind, value LIMIT $4) place
     CROSS JOIN LATERAL (
       SELECT ${entrySql('word')}, n FROM jsonb_array_elements(${entriesSql('place')}) WITH ORDINALITY AS each(word, n)
     ) entry(${ENTRY_COLUMNS}, n)
     ORDER BY kind, value, n`,
    [projectId, after?.kind ?? '', after?.value ?? '', Math.min(limit, SUPPRESSIONS_PAGE_MAX)],
  );
  return rows.map((row) => toSuppression(projectId, row));
}

type SuppressionSearch = {
  projectId: number;
  filter: Filter;
  sort?: SortOf<'suppressions'>;
  /** The last one of the previous page. */
  after: Pick<StoredSuppression, 'kind' | 'value' | 'createdAt'> | null;
  offset: number;
  limit: number;
};

/** Lists the suppressions that match a filter. `kind` has the values of lists: `email` or `user`. */
export async function searchSuppressions(tx: Tx, search: SuppressionSearch): Promise<StoredSuppression[]> {
  const { projectId, filter, sort = 'value', after, offset, limit } = search;
  const values: unknown[] = [projectId, offset, limit];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const where = filterSql(filter, SEARCHED, bind);
  if (where === null) return [];
  const columns = sort.endsWith('since') ? ['created_at', 'kind', 'value'] : ['kind', 'value'];
  const [direction, than] = sort.startsWith('-') ? ['DESC', '<'] : ['ASC', '>'];
  const positions: Record<string, () => string> = {
    created_at: () => `${bind(new Date(after?.createdAt ?? 0))}::timestamptz`,
    kind: () => `${bind(after?.kind)}::text`,
    value: () => `${bind(after?.value)}::text`,
  };
  const behind =
    after === null
      ? ''
      : `AND (${columns.join(', ')}) ${than} (${columns.map((column) => positions[column]?.()).join(', ')})`;
  const rows = await tx.query<SuppressionRow>(
    `SELECT ${SUPPRESSION} FROM beckon.suppression WHERE project_id = $1 ${behind} AND ${where}
     ORDER BY ${columns.map((column) => `${column} ${direction}`).join(', ')} OFFSET $2 LIMIT $3`,
    values,
  );
  return rows.map((row) => toSuppression(projectId, row));
}

/** Counts the suppressions, up to `most`. */
export async function countSuppressions(
  tx: Tx,
  { projectId, filter, most }: Pick<SuppressionSearch, 'projectId' | 'filter'> & { most: number },
): Promise<number> {
  const values: unknown[] = [projectId, most];
  const where = filterSql(filter, SEARCHED, (value) => `$${values.push(value)}`);
  if (where === null) return 0;
  const [row] = await tx.query<{ found: number }>(
    `SELECT count(*) AS found FROM (
       SELECT 1 FROM beckon.suppression WHERE project_id = $1 AND ${where} LIMIT $2) counted`,
    values,
  );
  return row?.found ?? 0;
}

const SEARCHED: Record<keyof typeof FILTER_KEYS.suppressions | typeof WORDS, FilterColumn> = {
  kind: {
    sql: `CASE WHEN kind IN ('email', 'email_hash') THEN 'email' ELSE 'user' END`,
    among: ['email', 'user'],
  },
  erased: { sql: `CASE WHEN from_erased THEN 'yes' ELSE 'no' END`, among: ['yes', 'no'] },
  email: { sql: `CASE WHEN kind = 'email' THEN value END` },
  user: { sql: `CASE WHEN kind = 'user' THEN value END` },
  reason: { sql: 'reason', among: SUPPRESSION_REASONS },
  by: { sql: 'created_by' },
  since: { sql: 'created_at', isTime: true },
  // A hash cannot be searched as text.
  [WORDS]: wordsColumn([`CASE WHEN kind IN ('email', 'user') THEN value END`, 'created_by']),
};

/**
 * Returns the hashed places that have a suppression or a refused topic. Each is one index lookup. With 2,000 places a join of the tables
 * took twice as long.
 */
export async function findKept(tx: Tx, targets: HashedTarget[]): Promise<HashedTarget[]> {
  const rows = await tx.prepared<{ n: number }>({
    name: 'suppressions.kept',
    text: `SELECT DISTINCT a.n::int AS n
           FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS a(project_id, kind, value, n)
           CROSS JOIN LATERAL (
             SELECT 1 FROM beckon.suppression
             WHERE project_id = a.project_id AND kind = a.kind AND value = a.value
             UNION ALL
             SELECT 1 FROM beckon.topic_unsubscribe
             WHERE project_id = a.project_id AND kind = a.kind AND value = a.value
             OFFSET 0
           ) kept`,
    values: [
      plainList(targets.map(({ projectId }) => projectId)),
      targets.map(({ kind }) => kind),
      targets.map(({ value }) => value),
    ],
  });
  return rows.flatMap(({ n }) => targets[n - 1] ?? []);
}

const SUPPRESSION = 'kind, value, reason, until, created_at, created_by, from_erased';

type SuppressionRow = Pick<Suppression, 'kind' | 'value' | 'reason'> & {
  until: Date | null;
  created_at: Date;
  created_by: string;
  from_erased: boolean;
};

function toSuppression(projectId: number, row: SuppressionRow): StoredSuppression {
  const { kind, value, reason, until, created_at: createdAt, created_by: createdBy } = row;
  return {
    projectId,
    kind,
    value,
    reason,
    until: until?.getTime() ?? null,
    createdAt: createdAt.getTime(),
    createdBy,
    ...(row.from_erased && { fromErased: true }),
  };
}
