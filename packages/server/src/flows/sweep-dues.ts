import { nextDueAt } from '../features/audiences/index.ts';
import { dueEarlier, holdDue } from '../features/turns/index.ts';
import type { Database, Tx } from '../io/db/index.ts';

/**
 * Whoever stores a moment at which a person must be asked again says so to the project's alarm in the same commit. Should
 * that ever be missed, by a defect or by a hand in the database, nobody would ask again until the next such moment: so
 * alarms that ring too late are looked for, and set. How many they were.
 */
export async function sweepDues(db: Pick<Database, 'query' | 'prepared' | 'transaction'>): Promise<number> {
  const late = await listLate(db);
  for (const projectId of late) {
    await db.transaction(async (tx) => {
      await holdDue(tx, projectId);
      const nextAt = await nextDueAt(tx, projectId);
      if (nextAt) await dueEarlier(tx, [{ projectId, nextAt }]);
    });
  }
  return late.length;
}

/** Reads a table of two rooms each. It hops from project to project by the primary key, and reads one moment of each. */
async function listLate(tx: Tx): Promise<number[]> {
  const rows = await tx.prepared<{ project_id: number }>({
    name: 'sweep.late',
    text: `WITH RECURSIVE place(project_id) AS (
             (SELECT project_id FROM beckon.audience_due ORDER BY project_id LIMIT 1)
             UNION ALL
             SELECT (SELECT d.project_id FROM beckon.audience_due d WHERE d.project_id > place.project_id ORDER BY d.project_id LIMIT 1)
             FROM place WHERE place.project_id IS NOT NULL
           )
           SELECT place.project_id FROM place
           JOIN beckon.tenant_due t ON t.project_id = place.project_id
           CROSS JOIN LATERAL (
             SELECT d.at FROM beckon.audience_due d WHERE d.project_id = place.project_id ORDER BY d.at LIMIT 1
           ) first
           WHERE t.next_at IS NULL OR t.next_at > first.at`,
    values: [],
  });
  return rows.map((row) => row.project_id);
}
