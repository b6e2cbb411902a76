import type { Tx } from './statements.ts';

/**
 * How work about several projects is grouped where the rows of two projects may be on two nodes. In any other database, nothing in this file
 * changes a statement.
 */

/**
 * Returns a time plus or minus milliseconds, each given as SQL, the milliseconds with their sign. An interval may contain months, so
 * PostgreSQL calls the sum with one only stable. A distributed database rejects such functions of a column in an update.
 */
export function shiftedSql({ isDistributed }: Tx, at: string, ms: string): string {
  if (!isDistributed) return `${at} ${ms} * interval '1 millisecond'`;
  return `to_timestamp(date_part('epoch', ${at} - '1970-01-01 00:00:00+00'::timestamptz) ${ms}::float8 / 1000)`;
}

/** Runs `work` with all rows at once or, where the database is distributed, with the rows of one project after those of another. */
export async function byProject<T, R>(
  tx: Tx,
  { rows, projectOf }: { rows: T[]; projectOf: (row: T) => number },
  work: (rows: T[]) => Promise<R[]>,
): Promise<R[]> {
  if (!tx.isDistributed) return work(rows);
  const results: R[] = [];
  for (const group of Map.groupBy(rows, projectOf).values()) results.push(...(await work(group)));
  return results;
}

/** A claim of one row of any project. */
type Claim = {
  /** Lists the projects with due rows, longest overdue first. */
  due: { text: string; values: unknown[] };
  /** Set for a hot statement, which is parsed once per connection. */
  name?: string;
  /** `of` restricts a table, by its alias or name, to the project, at the beginning of a condition. */
  text: (of: (table: string) => string) => string;
  values: unknown[];
};

const PROJECTS_TRIED_MAX = 20;

/**
 * Claims a row with one statement. Where the database is distributed, it takes two steps: it finds the projects with due rows, and then
 * locks a row within one of them.
 */
export async function claimOfAny<R extends object>(tx: Tx, { due, name, text, values }: Claim): Promise<R[]> {
  if (!tx.isDistributed) {
    const claim = text(() => '');
    return name === undefined ? tx.query<R>(claim, values) : tx.prepared<R>({ name, text: claim, values });
  }
  const projects = await tx.query<{ project_id: number }>(
    `${due.text} LIMIT ${PROJECTS_TRIED_MAX}`,
    due.values,
  );
  const claim = text((table) => `${table}.project_id = $${values.length + 1}::bigint AND `);
  for (const projectId of new Set(projects.map((row) => row.project_id))) {
    const rows = await tx.query<R>(claim, [...values, projectId]);
    if (rows.length > 0) return rows;
  }
  return [];
}
