/** Moves the entries of one place to another: from an address to its hash, or from a hash to its address. */

import { plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { mergedSql, setSql, ENTRY_COLUMNS } from './entries.ts';
import type { SuppressedKind } from '../../sending/index.ts';

export type TargetMove = {
  projectId: number;
  from: { kind: SuppressedKind; value: string };
  to: { kind: SuppressedKind; value: string };
};

const MOVED = `unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[])
  AS moved(project_id, kind, value, to_kind, to_value)`;

function valuesOf(moves: TargetMove[]): unknown[] {
  return [
    plainList(moves.map(({ projectId }) => projectId)),
    moves.map(({ from }) => from.kind),
    moves.map(({ from }) => from.value),
    moves.map(({ to }) => to.kind),
    moves.map(({ to }) => to.value),
  ];
}

/**
 * Moves suppressions and refused topics, and merges them with existing ones. An ended suppression is dropped, because its hash would serve
 * no purpose. Two users of one batch may have the same address, so places may occur twice. Returns the number of rows removed.
 */
export async function moveTargets(tx: Tx, moves: TargetMove[], now: number): Promise<number> {
  if (moves.length === 0) return 0;
  const values = valuesOf(moves);
  const [suppressions, topics] = await Promise.all([
    tx.prepared<{ gone: number }>({
      name: 'suppressions.move',
      text: `WITH gone AS (
               DELETE FROM beckon.suppression s USING ${MOVED}
               WHERE s.project_id = moved.project_id AND s.kind = moved.kind AND s.value = moved.value
               RETURNING s.project_id, moved.to_kind, moved.to_value, s.reason, s.until, s.created_at, s.created_by, s.weaker_entries
             ), kept AS (
               INSERT INTO beckon.suppression AS existing (project_id, kind, value, ${ENTRY_COLUMNS}, weaker_entries, from_erased)
               SELECT project_id, to_kind, to_value, ${ENTRY_COLUMNS}, weaker_entries, true FROM gone WHERE until IS NULL OR until > $6
               ON CONFLICT (project_id, kind, value) DO UPDATE SET ${setSql(mergedSql('existing', 'excluded'))}, from_erased = true
             )
             SELECT count(*)::int AS gone FROM gone`,
      values: [...values, new Date(now)],
    }),
    tx.prepared<{ gone: number }>({
      name: 'suppressions.move_topics',
      text: `WITH gone AS (
               DELETE FROM beckon.topic_unsubscribe r USING ${MOVED}
               WHERE r.project_id = moved.project_id AND r.kind = moved.kind AND r.value = moved.value
               RETURNING r.project_id, moved.to_kind, moved.to_value, r.topic, r.created_at
             ), kept AS (
               INSERT INTO beckon.topic_unsubscribe (project_id, kind, value, topic, created_at)
               SELECT project_id, to_kind, to_value, topic, created_at FROM gone ON CONFLICT DO NOTHING
             )
             SELECT count(*)::int AS gone FROM gone`,
      values,
    }),
  ]);
  return (suppressions[0]?.gone ?? 0) + (topics[0]?.gone ?? 0);
}

/** Removes the records of lifted suppressions: their unkeyed hash of an address could be guessed. */
export async function deleteLifts(
  tx: Tx,
  targets: { projectId: number; kind: SuppressedKind; value: string }[],
): Promise<void> {
  await tx.query(
    `DELETE FROM beckon.suppression_lift WHERE (project_id, kind, recipient_hash) IN (
       SELECT p.project_id, p.kind, sha256(convert_to(p.value, 'UTF8'))
       FROM unnest($1::bigint[], $2::text[], $3::text[]) AS p(project_id, kind, value))`,
    [
      plainList(targets.map(({ projectId }) => projectId)),
      targets.map(({ kind }) => kind),
      targets.map(({ value }) => value),
    ],
  );
}
