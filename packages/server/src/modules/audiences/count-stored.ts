import { plainList } from '../../platform/db/list.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Total, NamedEvent } from '../users/index.ts';

/** Counts the stored events of a name that has no permanent counts. */
export async function countStored(tx: Tx, asked: NamedEvent[]): Promise<Total[]> {
  if (asked.length === 0) return [];
  const rows = await tx.prepared<{ n: number; count: number; first_ms: number; last_ms: number }>({
    name: 'events.count_stored',
    text: `SELECT q.n::int AS n, e.* FROM unnest($1::bigint[], $2::text[], $3::text[])
             WITH ORDINALITY AS q(project_id, user_id, name, n)
           CROSS JOIN LATERAL (
             SELECT count(*)::int AS count, (extract(epoch FROM min(e.occurred_at)) * 1000)::float8 AS first_ms,
               (extract(epoch FROM max(e.occurred_at)) * 1000)::float8 AS last_ms
             FROM beckon.event e
             WHERE e.project_id = q.project_id AND e.external_user_id = q.user_id AND e.name = q.name
           ) e WHERE e.count > 0`,
    values: [
      plainList(asked.map(({ projectId }) => projectId)),
      asked.map(({ userId }) => userId),
      asked.map(({ name }) => name),
    ],
  });
  return rows.flatMap(({ n, count, first_ms, last_ms }) => {
    const of = asked[n - 1];
    return of ? [{ ...of, count, firstAt: Math.round(first_ms), lastAt: Math.round(last_ms) }] : [];
  });
}
