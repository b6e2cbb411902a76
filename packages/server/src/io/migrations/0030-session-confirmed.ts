import { type Kysely, sql } from 'kysely';

/**
 * When the member of a session last proved who they are: by signing in, or by confirming it since. NULL for sessions of the release
 * before, which confirm before their next change to how the account is signed in to.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('ALTER TABLE beckon.team_session ADD COLUMN confirmed_at timestamptz').execute(db);
}
