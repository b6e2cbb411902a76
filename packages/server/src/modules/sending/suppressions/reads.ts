import { normaliseAddress } from '../../../platform/net/address.ts';
import { type Filter, type FilterColumn, filterSql } from '../../../platform/filter/filter.ts';
import { plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  HASHED_KINDS,
  type HashedTarget,
  type StoredSuppression,
  type SuppressedKind,
  type Suppression,
  SUPPRESSION_REASONS,
  type SuppressionReason,
  ENTRY_COLUMNS,
  entrySql,
  entriesSql,
} from './suppression.ts';

export type Addressee = { projectId: number; userId: string; address: string | null };
/** `fromErased`: it was made for a user with the same address, or the same id, who has been erased since. */
export type FoundSuppression = { reason: SuppressionReason; until: number | null; fromErased?: true };
type FoundRow = { reason: SuppressionReason; until: Date | null; from_erased: boolean };

/**
 * Returns what currently suppresses the user or the address, in the order of the input, or null. If both are suppressed, the suppression
 * that lasts longer is returned. Otherwise the end of a snooze would only reveal the other one.
 */
export async function findSuppressions(
  tx: Tx,
  addressees: Addressee[],
  now: number,
): Promise<(FoundSuppression | null)[]> {
  const found = addressees.map((): FoundSuppression | null => null);
  if (addressees.length === 0) return found;
  const rows = await tx.prepared<FoundRow & { n: number }>({
    name: 'suppressions.find',
    text: `SELECT a.n::int AS n, s.reason, s.until, s.from_erased
           FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS a(project_id, person, address, n)
           CROSS JOIN LATERAL (
             SELECT reason, until, from_erased FROM beckon.suppression
             WHERE project_id = a.project_id AND kind = 'user' AND value = a.person
             UNION ALL
             SELECT reason, until, from_erased FROM beckon.suppression
             WHERE project_id = a.project_id AND kind = 'email' AND value = a.address
             OFFSET 0
           ) s WHERE s.until IS NULL OR s.until > $4 ORDER BY a.n, s.until NULLS LAST`,
    values: [...targetColumns(addressees), new Date(now)],
  });
  for (const row of rows) found[row.n - 1] = toFound(row);
  return found;
}

function toFound({ reason, until, from_erased: fromErased }: FoundRow): FoundSuppression {
  return { reason, until: until?.getTime() ?? null, ...(fromErased && { fromErased }) };
}

/** Returns all suppressions of this user and this address that are in force now. A page for the recipient lists both. */
export async function listInForce(
  tx: Tx,
  { projectId, userId, address, now }: { projectId: number; userId: string; address: string; now: number },
): Promise<FoundSuppression[]> {
  const rows = await tx.query<FoundRow>(
    `SELECT reason, until, from_erased FROM beckon.suppression
     WHERE project_id = $1 AND (kind, value) IN (('user', $2), ('email', $3)) AND (until IS NULL OR until > $4)
     ORDER BY until NULLS FIRST`,
    [projectId, userId, normaliseAddress(address), new Date(now)],
  );
  return rows.map(toFound);
}

/** Returns whether the email already has an unsubscribe outcome. Reads a table of the outcomes module. */
export async function hasUnsubscribed(
  tx: Tx,
  { projectId, emailId }: { projectId: number; emailId: string },
): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 FROM beckon.outcome WHERE project_id = $1 AND email_id = $2 AND type = 'email.unsubscribed' LIMIT 1`,
    [projectId, emailId],
  );
  return rows.length > 0;
}

/** Returns the topics that each user, or anyone with the same address, is unsubscribed from. The order is that of the input. */
export async function findTopicUnsubscribes(tx: Tx, addressees: Addressee[]): Promise<ReadonlySet<string>[]> {
  const found = addressees.map(() => new Set<string>());
  if (addressees.length === 0) return found;
  const rows = await tx.prepared<{ n: number; topic: string }>({
    name: 'suppressions.refusals',
    text: `SELECT a.n::int AS n, r.topic
           FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS a(project_id, person, address, n)
           CROSS JOIN LATERAL (
             SELECT topic FROM beckon.topic_unsubscribe
             WHERE project_id = a.project_id AND kind = 'user' AND value = a.person
             UNION ALL
             SELECT topic FROM beckon.topic_unsubscribe
             WHERE project_id = a.project_id AND kind = 'email' AND value = a.address
             OFFSET 0
           ) r`,
    values: targetColumns(addressees),
  });
  for (const { n, topic } of rows) found[n - 1]?.add(topic);
  return found;
}

function targetColumns(addressees: Addressee[]): unknown[] {
  return [
    plainList(addressees.map((addressee) => addressee.projectId)),
    addressees.map((addressee) => addressee.userId),
    addressees.map(({ address }) => (address === null ? null : normaliseAddress(address))),
  ];
}

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

export type SuppressionSearch = {
  projectId: number;
  filter: Filter;
  after: { kind: SuppressedKind; value: string } | null;
  offset: number;
  limit: number;
};

/** Lists the suppressions that match a filter, in the same order. `kind` has the values of lists: `email` or `user`. */
export async function searchSuppressions(tx: Tx, search: SuppressionSearch): Promise<StoredSuppression[]> {
  const { projectId, filter, after, offset, limit } = search;
  const values: unknown[] = [projectId, after?.kind ?? '', after?.value ?? '', offset, limit];
  const where = filterSql(filter, SEARCHED, (value) => `$${values.push(value)}`);
  if (where === null) return [];
  const rows = await tx.query<SuppressionRow>(
    `SELECT ${SUPPRESSION} FROM beckon.suppression
     WHERE project_id = $1 AND (kind, value) > ($2, $3) AND ${where} ORDER BY kind, value OFFSET $4 LIMIT $5`,
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

const SEARCHED: Record<string, FilterColumn> = {
  kind: {
    sql: `CASE WHEN kind IN ('email', 'email_hash') THEN 'email' ELSE 'user' END`,
    among: ['email', 'user'],
  },
  erased: { sql: `CASE WHEN from_erased THEN 'yes' ELSE 'no' END`, among: ['yes', 'no'] },
  email: { sql: `CASE WHEN kind = 'email' THEN value END` },
  user: { sql: `CASE WHEN kind = 'user' THEN value END` },
  reason: { sql: 'reason', among: SUPPRESSION_REASONS },
  by: { sql: 'created_by' },
};

/** Returns the projects that keep suppressions or refused topics of erased users. */
export async function listHashingProjects(tx: Tx, projectIds: number[]): Promise<Set<number>> {
  const rows = await tx.prepared<{ project_id: number }>({
    name: 'suppressions.hashing',
    text: `SELECT input.project_id FROM unnest($1::bigint[]) AS input(project_id)
           WHERE EXISTS (SELECT FROM beckon.suppression s WHERE s.project_id = input.project_id AND s.kind = ANY ($2::text[]))
              OR EXISTS (SELECT FROM beckon.topic_unsubscribe r WHERE r.project_id = input.project_id AND r.kind = ANY ($2::text[]))`,
    values: [plainList(projectIds), HASHED_KINDS],
  });
  return new Set(rows.map((row) => row.project_id));
}

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
