import type { Tx } from '../../platform/db/statements.ts';

/** A draft that may be sent soon, with the data needed to compete for a cap slot. */
export type ContendingDraft = {
  id: string;
  userId: string;
  priority: number;
  counts: boolean;
  /** In milliseconds. */
  dueAt: number;
};

/** Reasons that end at a known time. A draft held for one of these competes for a slot as soon as it ends. */
const HELD_BY_TIME = [
  'quiet_hours',
  'suppressed',
  'frequency_cap',
  'frequency_cap_yielded',
  'domain_throttle',
  'provider_throttle',
  'warmup',
];

/** Lists drafts of these users that are due by `until` and wait only for that time. Locks no row. Reads a table of the drafts module. */
export async function listContending(
  tx: Tx,
  { projectId, users, until }: { projectId: number; users: string[]; until: number },
): Promise<ContendingDraft[]> {
  if (users.length === 0) return [];
  const rows = await tx.prepared<{
    id: string;
    external_user_id: string;
    priority: number;
    counts: boolean;
    due_ms: number;
  }>({
    name: 'drafts.contending',
    text: `SELECT d.id, d.external_user_id, d.priority, d.counts, (extract(epoch FROM d.due_at) * 1000)::float8 AS due_ms
           FROM unnest($2::text[]) AS u(id)
           JOIN beckon.draft d ON d.project_id = $1 AND d.external_user_id = u.id
           WHERE d.due_at <= $3 AND (d.state = 'approved' OR (d.state = 'scheduled' AND d.deadline_at IS NOT NULL)
             OR (d.state = 'held' AND d.reason = ANY ($4::text[])))
           LIMIT 10000`,
    values: [projectId, users, new Date(until), HELD_BY_TIME],
  });
  return rows.map((row) => ({
    id: row.id,
    userId: row.external_user_id,
    priority: row.priority,
    counts: row.counts,
    dueAt: Math.round(row.due_ms),
  }));
}
