import { type Kysely, sql } from 'kysely';

/**
 * Whose an entry is that concerns no project: who reads it is decided when it is written, and neither who leaves takes it along nor
 * who joins brings it. Of those that are there, as far as it is known now.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE beckon.audit ADD COLUMN organisations text[] COLLATE "C"`.execute(db);
  await sql.raw(FILL).execute(db);
}

const FILL = `
UPDATE beckon.audit a SET organisations = ARRAY(
  SELECT m.organisation_id FROM beckon.team_member m WHERE a.actor = 'team:' || m.user_id ORDER BY 1
) WHERE a.project_id = 0`;
