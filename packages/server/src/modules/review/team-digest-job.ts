import type { Log } from '../../platform/log.ts';
import { listProjectsToTell } from '../drafts/index.ts';
import { tellTeam as tell } from './send-team-digest.ts';
import type { TeamTransport } from '../delivery/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Job } from '../../platform/jobs/scheduler.ts';

export type TellTeamOptions = {
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;
  log: Log;
  publicUrl: string;
  transport: TeamTransport;
};

const EVERY_MS = 30_000;
const PROJECTS_AT_ONCE = 500;

/** Notifies teams of waiting drafts. A digest that could not be sent is included in the next one. */
export function tellTeam({ db, log, publicUrl, transport }: TellTeamOptions): Job {
  const hand: TeamTransport['hand'] = (projectId, email) => transport.hand(projectId, email);

  async function tellOne(projectId: number): Promise<void> {
    try {
      if (await tell(db, { projectId, publicUrl, hand }))
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
        const projects: number[] = await listProjectsToTell(db, { now, after, limit: PROJECTS_AT_ONCE });
        for (const projectId of projects) if (!stopping()) await tellOne(projectId);
        after = projects.length < PROJECTS_AT_ONCE ? null : (projects.at(-1) ?? null);
      }
    },
  };
}
