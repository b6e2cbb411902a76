import { type Kysely, sql } from 'kysely';

/**
 * As of when the team has heard what waits for it. `sent_at` is when somebody last took it upon himself to tell them; what he could
 * not hand over, whoever tells them next says again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('ALTER TABLE beckon.team_digest ADD COLUMN heard_at timestamptz').execute(db);
  await sql.raw('UPDATE beckon.team_digest SET heard_at = sent_at').execute(db);
}
