import type { Log } from '../../platform/log.ts';
import { listProjectsWithNews } from '../drafts/index.ts';
import { sendTeamDigest } from './send-team-digest.ts';
import type { TeamTransport } from '../delivery/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Job } from '../../platform/jobs/scheduler.ts';

export type TeamDigestJobOptions = {
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;
  log: Log;
  publicUrl: string;
  transport: TeamTransport;
};

const EVERY_MS = 30_000;
const PROJECTS_AT_ONCE = 500;

/** Notifies teams of waiting drafts. A digest that could not be sent is included in the next one. */
export function teamDigestJob({ db, log, publicUrl, transport }: TeamDigestJobOptions): Job {
  const submit: TeamTransport['submit'] = (projectId, email) => transport.submit(projectId, email);

  async function notifyTeam(projectId: number): Promise<void> {
    try {
      if (await sendTeamDigest(db, { projectId, publicUrl, submit }))
        log.info({ project_id: projectId }, 'team_digest.sent');
    } catch (error) {
      log.warn({ project_id: projectId, err: error }, 'team_digest.not_sent');
    }
  }

  return {
    name: 'send_team_digests',
    everyMs: EVERY_MS,
    async run(stopping) {
      for (let after: number | null = 0; after !== null && !stopping();) {
        const now = db.clock.now();
        const projects: number[] = await listProjectsWithNews(db, { now, after, limit: PROJECTS_AT_ONCE });
        for (const projectId of projects) if (!stopping()) await notifyTeam(projectId);
        after = projects.length < PROJECTS_AT_ONCE ? null : (projects.at(-1) ?? null);
      }
    },
  };
}
