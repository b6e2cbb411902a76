import { type Kysely, sql } from 'kysely';

/** Letters that failed, or of which nobody knows: few among all that ended, and asked for by every page. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(UNSETTLED).execute(db);
}

const UNSETTLED = `
CREATE INDEX draft_unsettled ON beckon.draft (project_id, ended_at) WHERE state IN ('failed', 'unknown');
`;
