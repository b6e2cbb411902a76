import type { Tx } from '../../io/db/index.ts';

/** What is kept for a time that people say, and since when there is any. */
export type Oldest = { events: Date | null; stream: Date | null; dead: Date | null; letters: Date | null };

/** Reads tables of four sisters: each has an index that begins with the project and the time, but for the few that died. */
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
