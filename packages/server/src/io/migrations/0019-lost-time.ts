import { type Kysely, sql } from 'kysely';

/**
 * Of a run of which a letter may have left in time that a restore took away: how much of that time its next letters may have
 * left in, too. Null almost always.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE beckon.run ADD COLUMN lost_ms bigint`.execute(db);
}
