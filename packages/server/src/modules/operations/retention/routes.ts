import { getSettings, routesFor } from '../../workspace/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';

const { route } = routesFor();

export const dataRoutes = [
  route('GET /projects/:project/data', {
    needs: 'viewer',
    async handle({ db }, { projectId }) {
      const { texts } = await getSettings(db, projectId);
      const oldest = await findOldest(db, projectId);
      const kept = (setting: keyof typeof texts, at: Date | null) => ({
        setting,
        period: texts[setting],
        oldest_at: at?.toISOString() ?? null,
      });
      const retention = [
        kept('keep_events', oldest.events),
        kept('keep_stream', oldest.stream),
        kept('keep_emails', oldest.emails),
        kept('keep_dead', oldest.dead),
      ];
      return { data: { retention, erasures_waiting: await countErasuresWaiting(db, projectId) } };
    },
  }),
];

/** The oldest stored data of each kind with a configurable retention. */
type Oldest = { events: Date | null; stream: Date | null; dead: Date | null; emails: Date | null };

/** Reads tables of three other modules. Each has an index on project and time, except for `dead_letter`, which has few rows. */
async function findOldest(tx: Tx, projectId: number): Promise<Oldest> {
  const [found] = await tx.query<Oldest>(
    `SELECT (SELECT min(received_at) FROM beckon.event WHERE project_id = $1) AS events,
            least((SELECT min(at) FROM beckon.activity WHERE project_id = $1),
                  (SELECT min(at) FROM beckon.ingest_log WHERE project_id = $1)) AS stream,
            (SELECT min(dead_lettered_at) FROM beckon.dead_letter WHERE project_id = $1) AS dead,
            (SELECT min(frozen_at) FROM beckon.email_mime WHERE project_id = $1) AS emails`,
    [projectId],
  );
  return found ?? { events: null, stream: null, dead: null, emails: null };
}

/** Counts the erasures of a project for which records to drop may still wait. Reads a table of the users module. */
async function countErasuresWaiting(tx: Tx, projectId: number): Promise<number> {
  const [counted] = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM beckon.erasure WHERE project_id = $1`,
    [projectId],
  );
  return counted?.count ?? 0;
}
