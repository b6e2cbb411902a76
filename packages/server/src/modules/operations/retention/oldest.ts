import type { Tx } from '../../../platform/db/statements.ts';

/** The oldest stored data of each kind with a configurable retention. */
export type Oldest = { events: Date | null; stream: Date | null; dead: Date | null; letters: Date | null };

/** Reads tables of four other modules. Each has an index on project and time, except for `dead_letter`, which has few rows. */
export async function findOldest(tx: Tx, projectId: number): Promise<Oldest> {
  const [found] = await tx.query<Oldest>(
    `SELECT (SELECT min(received_at) FROM beckon.event WHERE project_id = $1) AS events,
            least((SELECT min(at) FROM beckon.change WHERE project_id = $1),
                  (SELECT min(at) FROM beckon.ingest_log WHERE project_id = $1)) AS stream,
            (SELECT min(dead_lettered_at) FROM beckon.dead_letter WHERE project_id = $1) AS dead,
            (SELECT min(frozen_at) FROM beckon.message_mime WHERE project_id = $1) AS letters`,
    [projectId],
  );
  return found ?? { events: null, stream: null, dead: null, letters: null };
}
